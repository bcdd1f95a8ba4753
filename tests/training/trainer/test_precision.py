import pytest
import torch
from torch import nn

from training.trainer import precision
from training.trainer.precision import computes_bf16

CPU = torch.device("cpu")


@pytest.fixture
def clock(monkeypatch):
    """A clock that goes on only while a norm is computed, by so many seconds for each type."""

    class Clock:
        def __init__(self):
            self.now_s, self.cost_s = 0.0, {}

        def perf_counter(self):
            return self.now_s

    clock, forward = Clock(), nn.LayerNorm.forward

    def counted(norm, rows):
        clock.now_s += clock.cost_s[rows.dtype]
        return forward(norm, rows)

    monkeypatch.setattr(precision, "time", clock)
    monkeypatch.setattr(nn.LayerNorm, "forward", counted)
    return clock


@pytest.mark.parametrize(("bf16_s", "float32_s", "in_bf16"), [(1, 2, True), (2, 1, False)])
def test_auto_takes_the_type_in_which_a_whole_block_is_faster(clock, bf16_s, float32_s, in_bf16):
    """Not the one whose products alone are: a block of autocast was slower than float32."""
    clock.cost_s = {torch.bfloat16: bf16_s, torch.float32: float32_s}
    assert computes_bf16("auto", CPU) == in_bf16


def test_what_is_asked_for_is_not_timed(clock):
    assert computes_bf16("bf16", CPU)
    assert not computes_bf16("fp32", CPU)
    assert clock.now_s == 0
