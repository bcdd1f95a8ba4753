"""Parts of spectra are hidden, by a seed."""

import random

import numpy as np
import pytest

from training.research.speech import masked

MEL = np.random.default_rng(0).normal(size=(64, 80)).astype(np.float32)


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
