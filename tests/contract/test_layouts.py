"""For every layout and architecture, one masked training pass equals decoding step by step.

Guards planners, masks, cache and the training builder of all methods; and shows that faults which
published code has (``docs/decisions``) are absent here.
"""

import random

import pytest
import torch

from engine.layout.rows import IGNORE
from engine.runtime.torch.torch_store import slot_model
from engine.settings import LayoutSettings
from tests.support.networks import ALIBI, ARCHITECTURES, ROUNDED, masked_pass, tiny_network
from tests.support.rows import sample
from training.research.methods import LAYOUTS

CASES = 3


def combinations():
    for architecture in ARCHITECTURES:
        for layout in ("slots", *LAYOUTS):
            if layout != "simulmask" or architecture in ALIBI:
                yield architecture, layout


@pytest.mark.parametrize(("architecture", "layout"), list(combinations()))
def test_one_masked_pass_equals_feeding_pass_by_pass(architecture, layout):
    network = tiny_network(architecture)
    tolerance = 1e-5 if architecture in ROUNDED else 1e-8
    for seed in range(CASES):
        rows = sample(layout, random.Random(seed))
        expected = masked_pass(network, rows, ranked=layout == "simulmask")
        model = slot_model(network, len(rows))
        model.use(LayoutSettings(name=layout))
        n_asked = 0
        for time in sorted({row.time for row in rows}):
            fed = [row for row in rows if row.time == time]
            logits = model.feed(fed)
            index = model.n_rows - 1
            assert rows[index] is fed[-1]
            n_asked += rows[index].label != IGNORE
            torch.testing.assert_close(logits, expected[index], rtol=0, atol=tolerance)
        assert n_asked == sum(row.label != IGNORE for row in rows)
