"""Sound on its way: chunks, and protocols of the sources, taps and sound systems that supply them.

A source has a timeline of its own: seconds since it was started, or since the beginning of a
file. Where sound is missing (a device was unplugged), the next chunk starts later than the one
before it ended.
"""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.audio.devices import SAMPLE_RATE_HZ, AudioDevice

Samples = NDArray[np.float32]
"""Sound of one channel, shape (n_samples,), float32 from -1 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AudioChunk:
    """A piece of sound; its receiver owns the samples.

    Attributes:
        samples: shape (n_samples,), 16 kHz mono, at least one.
        start_s: where the first sample stands on the source's timeline.
        heard_at_s: ``time.monotonic()`` when the last sample was there.
    """

    samples: Samples
    start_s: float
    heard_at_s: float

    @property
    def end_s(self) -> float:
        """Tell where the first sample after the chunk would stand."""
        return self.start_s + len(self.samples) / SAMPLE_RATE_HZ


class AudioSource(Protocol):
    """Where chunks come from. One thread reads; any thread may stop it."""

    def start(self) -> None:
        """Begin; the timeline starts here.

        Raises:
            AudioError: a file cannot be read. A device that is missing is told, and waited for.
        """

    def read(self, timeout_s: float) -> AudioChunk | None:
        """Return the next chunk, or None where none came in time or none comes any more.

        Raises:
            AudioError: a file cannot be read any further.
        """

    def stop(self) -> None:
        """End. What is recorded already can still be read; returns when nothing runs any more."""

    @property
    def ended(self) -> bool:
        """Tell whether ``read`` will never return a chunk again."""

    @property
    def n_dropped(self) -> int:
        """Count the 16 kHz samples that were recorded or should have been, and were lost."""


class Tap(Protocol):
    """An open device. It is closed when the block ends or its owner says so."""

    @property
    def rate_hz(self) -> int:
        """Tell the samples per second of ``read``."""

    @property
    def n_dropped(self) -> int:
        """Count the samples that had to be thrown away here."""

    @property
    def moved_to(self) -> int | None:
        """Tell the number of the device the system has moved this recording to, if it has."""

    def read(self, timeout_s: float) -> Samples:
        """Return what came, owned by the caller; nothing where nothing came in time.

        Raises:
            TapEndedError: nothing will come any more; all that came was returned before.
        """

    def close(self) -> None:
        """Stop recording; closing twice does no harm."""


class SoundSystem(Protocol):
    """What knows the devices of this computer and opens them. One thread uses it."""

    def devices(self) -> tuple[AudioDevice, ...]:
        """List what can be recorded from.

        Raises:
            NoSoundError: nothing can be, for now.
        """

    def changed(self) -> bool:
        """Tell whether ``devices`` may have another answer than the last time; costs nothing."""

    def open(self, device: AudioDevice) -> Tap:
        """Begin to record.

        Raises:
            AudioError: the device cannot be opened.
        """

    def close(self) -> None:
        """Let go of everything; the next call begins anew."""
