"""Spectra as other voices, speeds and microphones would give them, for a corpus of few voices."""

import random

import numpy as np

from engine.runtime.sound.log_mel import Frames

_MASKED_BINS, _MASKED_SHARE = 15, 0.05


def other_voice(mel: Frames, spread: Frames, most: float, rng: random.Random) -> Frames:
    """Move bins, as a shorter or longer throat does, and weigh them, as microphones do.

    Args:
        mel: shape (T, bins).
        spread: standard deviation of each bin.
        most: share by which a bin moves at most (Jaitly and Hinton 2013: VTLP); the weights are
            four waves over the bins, of random height and phase.
        rng: draws.
    """
    n_bins = mel.shape[1]
    moved = np.arange(n_bins) * _factor(most, rng)
    below = np.clip(moved.astype(int), 0, n_bins - 2)
    share = np.clip(moved - below, 0, 1).astype(np.float32)
    place = np.linspace(0, np.pi, n_bins)
    weights = sum(
        rng.gauss(0, 3 * most) * np.cos(n_waves * place + rng.uniform(0, np.pi))
        for n_waves in (0, 0.5, 1, 2)
    )
    loudness: Frames = (weights * spread).astype(np.float32)
    heard: Frames = mel[:, below] * (1 - share) + mel[:, below + 1] * share + loudness
    return heard


def stretched(mel: Frames, most: float, block: int, rng: random.Random) -> Frames:
    """Let a speech be said slower or faster, filled up to whole blocks of so many frames."""
    length = max(1, round(len(mel) * _factor(most, rng)))
    place = np.linspace(0, len(mel) - 1, length)
    below = place.astype(int)
    share = (place - below).astype(np.float32)[:, None]
    said = mel[below] * (1 - share) + mel[np.minimum(below + 1, len(mel) - 1)] * share
    return np.pad(said, ((0, -length % block), (0, 0)), mode="edge")


def _factor(most: float, rng: random.Random) -> float:
    """Draw a factor around 1 by which something grows or shrinks."""
    return float((1 + most) ** rng.uniform(-1, 1))


def masked(mel: Frames, mean: Frames, n_masks: int, rng: random.Random) -> Frames:
    """Hide so many stretches of bins, and as many of time (SpecAugment, Park et al. 2019)."""
    if n_masks:
        mel = mel.copy()
    for _ in range(n_masks):
        n_bins = rng.randint(0, _MASKED_BINS)
        first = rng.randint(0, mel.shape[1] - n_bins)
        mel[:, first : first + n_bins] = mean[first : first + n_bins]
        n_frames = rng.randint(0, int(_MASKED_SHARE * len(mel)))
        start = rng.randint(0, len(mel) - n_frames)
        mel[start : start + n_frames] = mean
    return mel
