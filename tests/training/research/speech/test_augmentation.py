"""Spectra are changed as another voice would change them, by a seed."""

import random

import numpy as np
import pytest

from training.research.speech import masked, other_voice, stretched

MEL = np.random.default_rng(0).normal(size=(64, 80)).astype(np.float32)
SPREAD = np.ones(80, np.float32)


def test_another_voice_moves_bins_by_at_most_its_share_and_weighs_all_frames_alike():
    ridge = np.zeros((4, 80), np.float32)
    ridge[:, 40] = 100
    peaks = set()
    for seed in range(60):
        heard = other_voice(ridge, SPREAD, 0.2, random.Random(seed))
        assert heard.dtype == np.float32
        np.testing.assert_allclose(heard, heard[:1].repeat(4, axis=0))
        peaks.add(int(heard[0].argmax()))
    assert min(peaks) >= 40 / 1.2 - 1
    assert max(peaks) <= 40 * 1.2 + 1
    assert max(peaks) - min(peaks) > 8
    levels = other_voice(np.zeros_like(MEL), 2 * SPREAD, 0.2, random.Random(3))
    again = other_voice(np.zeros_like(MEL), SPREAD, 0.2, random.Random(3))
    np.testing.assert_allclose(levels, 2 * again, rtol=1e-6)
    assert np.ptp(again[0]) > 0.1


def test_slower_and_faster_speech_says_the_same_in_order_and_fills_whole_blocks():
    rising = np.arange(64, dtype=np.float32)[:, None].repeat(80, axis=1)
    lengths = set()
    for seed in range(30):
        heard = stretched(rising, 0.5, 8, random.Random(seed))
        lengths.add(len(heard))
        assert len(heard) % 8 == 0
        assert 64 / 1.5 - 1 <= len(heard) <= 64 * 1.5 + 8
        assert (np.diff(heard[:, 0]) >= 0).all()
        assert heard[0, 0] == 0
        assert heard[-1, 0] == 63
    assert len(lengths) > 5


@pytest.mark.parametrize("n_masks", [0, 1, 3])
def test_masks_hide_stretches_of_bins_and_of_time(n_masks):
    hidden = [
        masked(MEL, np.full(80, 9, np.float32), n_masks, random.Random(seed)) == 9
        for seed in range(20)
    ]
    bins = [h.all(axis=0).sum() for h in hidden]
    frames = [h.all(axis=1).sum() for h in hidden]
    assert max(bins) <= 15 * n_masks
    assert max(frames) <= int(0.05 * 64) * n_masks
    assert (max(bins) > 0 and max(frames) > 0) == (n_masks > 0)
    for h in hidden:  # no single number: whole bins and whole frames
        np.testing.assert_array_equal(h, h.all(axis=0)[None] | h.all(axis=1)[:, None])
    assert (MEL != 9).all()
