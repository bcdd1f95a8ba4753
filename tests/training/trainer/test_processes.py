"""Two processes on CPUs do what one does."""

import sys

import pytest
import torch
from torch import nn

from tests.support.fakes import save_tiny_model
from tests.support.training_runs import QUICK, finetune, losses, write_dev, write_pairs
from tests.training.trainer.two_processes import launch
from training.trainer import processes
from training.trainer.checkpoint import read_counters
from training.trainer.processes import computes_bf16

KINDS = {"copies": ["--multi_gpu"], "shards": ["--use_fsdp", "--fsdp_version", "2"]}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A command as words, without the folder it writes to; and that folder's parent."""
    folder = tmp_path_factory.mktemp("runs")
    data, base = write_pairs(folder / "data.tsv"), save_tiny_model(folder / "base")
    rest = ["--pass-tokens", "40", "--dev", write_dev(folder), "--every", "2"]
    return folder, data, base, [*rest, "--dev-policies", "read:2"]


@pytest.fixture(scope="module")
def one(run):
    """The folder of a run of one process."""
    folder, data, base, rest = run
    assert finetune(data, base, folder / "one", *rest) == 0
    return folder / "one"


@pytest.fixture(scope="module")
def two(run):
    """The folders of runs of two processes, each stopped at its second step."""
    folder, data, base, rest = run
    command = ["finetune", "--data", f"de={data}", "--base", str(base), *QUICK, *rest]
    command += ["--stop-after", "2", "--out"]
    done = launch([(options, [*command, str(folder / kind)]) for kind, options in KINDS.items()])
    assert done.returncode == 0, done.stderr
    return {kind: folder / kind for kind in KINDS}


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="copies processes")
@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_have_the_losses_of_one(kind, run, one, two):
    """Each step in several passes, a dev set decoded, a stop; then one process goes on."""
    _, data, base, rest = run
    out = two[kind]
    assert read_counters(out / "checkpoint").step == 2
    assert finetune(data, base, out, *rest) == 0
    assert losses(out) == pytest.approx(losses(one), rel=1e-5)
    assert (out / "dev.jsonl").read_text() == (one / "dev.jsonl").read_text()


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

    monkeypatch.setattr(processes, "time", clock)
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
