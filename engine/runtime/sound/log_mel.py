"""The spectrum of sound as it comes: 80 log-mel bins every 10 ms.

A window of 25 ms ends where its frame ends, so a frame needs no sound after it; before the first
sample is silence.
"""

import functools

import numpy as np
from numpy.typing import NDArray

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.models.speech_card import N_BINS

HOP = 160
"""Samples of a frame."""

_WINDOW, _SIZE = 400, 512
_LOWEST_HZ, _HIGHEST_HZ = 20.0, 7600.0
_LEAST = 1e-7
"""Energy below which all is silence."""

Frames = NDArray[np.float32]


class LogMel:
    """Feed samples, get frames.

    Invariant: the frames of all calls together are those of one call with all samples.
    """

    def __init__(self) -> None:
        self._waiting = np.zeros(_WINDOW - HOP, np.float32)

    def feed(self, samples: Samples) -> Frames:
        """Return the frames that are whole now.

        Args:
            samples: shape (N,), float32 from -1 to 1, 16 kHz.

        Returns:
            float32, shape (n_frames, 80).
        """
        heard = np.concatenate([self._waiting, samples])
        n_frames = max(0, (len(heard) - _WINDOW + HOP) // HOP)
        self._waiting = heard[n_frames * HOP :].copy()
        if not n_frames:
            return np.zeros((0, N_BINS), np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(heard, _WINDOW)[::HOP][:n_frames]
        power = np.abs(np.fft.rfft(windows.astype(np.float64) * np.hanning(_WINDOW), _SIZE)) ** 2
        energy = power @ _triangles()
        return np.log(np.maximum(energy, _LEAST)).astype(np.float32)


@functools.cache
def _triangles() -> NDArray[np.float64]:
    """Return the weight of each frequency in each bin, shape (257, 80)."""
    lowest, highest = _mel(np.array([_LOWEST_HZ, _HIGHEST_HZ]))
    edges = np.linspace(lowest, highest, N_BINS + 2)
    mels = _mel(np.arange(_SIZE // 2 + 1) * SAMPLE_RATE_HZ / _SIZE)[:, None]
    rising = (mels - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - mels) / (edges[2:] - edges[1:-1])
    weights: NDArray[np.float64] = np.maximum(0.0, np.minimum(rising, falling))
    return weights


def _mel(hertz: NDArray[np.float64]) -> NDArray[np.float64]:
    return 1127.0 * np.log(1.0 + hertz / 700.0)
