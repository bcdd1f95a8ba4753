"""Resample sound of any rate to 16 kHz by FFmpeg's resampler, through PyAV.

The training data of Whisper was resampled by it, and PyAV is needed for files anyway:
docs/decisions/0005-audio.md has the figures.
"""

import av
import numpy as np

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ


class Resampler:
    """Resample one channel piece by piece.

    Invariant: everything ``feed`` returned, followed by ``flush``, is what resampling everything
    at once gives.
    """

    def __init__(self, rate_hz: int) -> None:
        """Prepare for sound of this rate; 16 kHz passes through unchanged.

        Raises:
            ValueError: the rate is not positive.
        """
        if rate_hz < 1:
            msg = f"a sampling rate must be positive, got {rate_hz}"
            raise ValueError(msg)
        self._rate_hz = rate_hz
        self._resampler = (
            None
            if rate_hz == SAMPLE_RATE_HZ
            else av.AudioResampler(format="flt", layout="mono", rate=SAMPLE_RATE_HZ)
        )
        self._was_fed = False

    def feed(self, block: Samples) -> Samples:
        """Return the resampled sound that is certain so far."""
        if self._resampler is None or not len(block):
            return block
        frame = av.AudioFrame.from_ndarray(
            np.ascontiguousarray(block, np.float32)[None], format="flt", layout="mono"
        )
        frame.sample_rate = self._rate_hz
        self._was_fed = True
        return _joined(self._resampler.resample(frame))

    def flush(self) -> Samples:
        """Return the rest; nothing may be fed after it."""
        if self._resampler is None or not self._was_fed:
            return _joined([])
        return _joined(self._resampler.resample(None))


def _joined(frames: list[av.AudioFrame]) -> Samples:
    parts = [frame.to_ndarray()[0].astype(np.float32, copy=False) for frame in frames]
    return np.concatenate(parts) if parts else np.zeros(0, np.float32)
