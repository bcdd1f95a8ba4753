import json
import os

import pytest
import torch
from torch import nn

from training.settings import Optimisation
from training.trainer import checkpoint
from training.trainer.checkpoint import Counters, load_checkpoint, save_checkpoint
from training.trainer.run import learning_rate

LATE = {"fall": "late", "warm_up_steps": 4, "decay": 0.2}
LINEAR = {"fall": "linear", "warm_up_steps": 10}
ROOT = {"fall": "root", "warm_up_steps": 4}


@pytest.mark.parametrize(
    ("moves", "rates"),
    [
        (LATE, {(0, 0.0): 0.5, (2, 0.0): 1.5, (3, 0.0): 2, (99, 0.5): 2, (99, 0.8): 2}),
        (LATE, {(99, 0.9): 1.0, (99, 1.0): 0.002}),
        (LATE | {"warm_up_steps": 0, "decay": 0}, {(0, 0.0): 2, (9, 0.5): 2, (9, 1.0): 2}),
        (LINEAR, {(0, 0.0): 0.002, (0, 0.125): 1, (0, 0.25): 2, (0, 0.625): 1, (0, 1.0): 0.002}),
        (LINEAR | {"warm_up_steps": 0}, {(0, 0.0): 2}),
        (LINEAR | {"warm_up_steps": 80}, {(0, 0.25): 1, (0, 0.5): 2, (0, 0.75): 1}),
        (ROOT, {(0, 0.5): 0.5, (3, 0.5): 2.0, (15, 0.5): 1.0}),
        (ROOT | {"warm_up_steps": 0}, {(0, 0.0): 2.0}),
    ],
)
def test_a_rate_rises_by_steps_and_falls_as_its_run_says(moves, rates):
    settings = Optimisation(rate=2.0, **moves)
    found = {at: learning_rate(settings, 40, *at) for at in rates}
    assert found == pytest.approx(rates)


def run(seed=0):
    """A tiny model with tied weights and its optimizer."""
    torch.manual_seed(seed)
    model = nn.Sequential(nn.Linear(6, 6), nn.Tanh(), nn.Linear(6, 6))
    model[2].weight = model[0].weight
    return model, torch.optim.AdamW(model.parameters(), lr=0.01)


def steps(model, optimizer, first, n_steps):
    for step in range(first, first + n_steps):
        generator = torch.Generator().manual_seed(step)
        model(torch.randn(4, 6, generator=generator)).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def test_tied_weights_stay_tied(tmp_path):
    first = run()
    steps(*first, 0, 2)
    save_checkpoint(tmp_path / "checkpoint", *first, Counters())
    model, optimizer = run(seed=1)
    load_checkpoint(tmp_path / "checkpoint", model, optimizer)
    assert model[0].weight is model[2].weight


def test_a_write_that_is_cut_leaves_the_old_checkpoint(tmp_path, monkeypatch):
    save_checkpoint(tmp_path / "checkpoint", *run(), Counters(step=1))

    def cut(_tensors, path):
        path.write_bytes(b"half of it")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint, "save_file", cut)
        with pytest.raises(KeyboardInterrupt):
            save_checkpoint(tmp_path / "checkpoint", *run(), Counters(step=2))
    assert load_checkpoint(tmp_path / "checkpoint", *run()).step == 1
    save_checkpoint(tmp_path / "checkpoint", *run(), Counters(step=3))
    assert load_checkpoint(tmp_path / "checkpoint", *run()).step == 3
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint"]


@pytest.mark.parametrize("n_renames", [0, 1])
def test_a_swap_that_is_cut_loses_nothing(tmp_path, monkeypatch, n_renames):
    save_checkpoint(tmp_path / "checkpoint", *run(), Counters(step=1))
    done = []
    replace = os.replace

    def cut(source, target):
        if len(done) == n_renames:
            raise KeyboardInterrupt
        done.append(source)
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(checkpoint.os, "replace", cut)
        with pytest.raises(KeyboardInterrupt):
            save_checkpoint(tmp_path / "checkpoint", *run(), Counters(step=2))
    assert load_checkpoint(tmp_path / "checkpoint", *run()).step in (1, 2)
    save_checkpoint(tmp_path / "checkpoint", *run(), Counters(step=3))
    assert load_checkpoint(tmp_path / "checkpoint", *run()).step == 3


def test_a_checkpoint_holds_no_pickle(tmp_path):
    model = run()
    steps(*model, 0, 1)
    save_checkpoint(tmp_path / "checkpoint", *model, Counters())
    files = sorted(path.name for path in (tmp_path / "checkpoint").iterdir())
    assert files == ["counters.json", "state.safetensors"]
    assert json.loads((tmp_path / "checkpoint" / "counters.json").read_text())["step"] == 0
