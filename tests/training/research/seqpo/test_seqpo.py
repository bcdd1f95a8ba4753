"""The command that learns by reward, on the tiny model."""

import json
import random

import pytest
import torch
from safetensors.torch import load_file

from engine.models.adapters.adapter import Status, inspect_adapter
from engine.models.fingerprint import read_fingerprint
from engine.runtime.loader import load_by_torch
from engine.settings import ModelSettings
from tests.support.fakes import play
from tests.support.training_runs import write_pairs
from tests.support.twins import both, twin
from training.research.__main__ import main
from training.trainer.run import Run

QUICK = [
    "--rank", "4", "--sources", "2", "--group", "3", "--lanes", "6", "--policies", "read:1,read:2",
    "--rate", "1e-3", "--device", "cpu",
]  # fmt: skip


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("data") / "pairs.tsv", 5, aligned=False)


def seqpo(data, base, out, *arguments):
    given = ["seqpo", "--data", f"de={data}", "--base", str(base), "--out", str(out), *QUICK]
    return main([*given, *arguments])


def lines_of(path):
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def without_seconds(lines):
    return [{name: value for name, value in line.items() if name != "sample_s"} for line in lines]


def factors(out):
    return load_file(out / "adapter" / "adapter_model.safetensors")


def test_a_run_that_was_stopped_ends_as_an_unbroken_one(tmp_path, plain_model, data):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert seqpo(data, plain_model, whole, "--steps", "4") == 0
    assert (
        seqpo(data, plain_model, broken, "--steps", "4", "--stop-after", "2", "--lanes", "3") == 0
    )
    assert not (broken / "adapter").exists()
    assert seqpo(data, plain_model, broken, "--steps", "4") == 0
    first, *_, last = lines = lines_of(whole / "steps.jsonl")
    assert without_seconds(lines_of(broken / "steps.jsonl")) == without_seconds(lines)
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    assert first["divergence"] == 0.0  # at the start, exactly
    assert last["divergence"] != 0.0
    assert all(torch.equal(factors(whole)[name], one) for name, one in factors(broken).items())


def test_the_adapter_is_sound_and_loads_on_torch_and_onnx_runtime_as_it_was_trained(
    tmp_path, plain_model, data, monkeypatch
):
    runs = []
    train = Run.train
    monkeypatch.setattr(Run, "train", lambda self: (train(self), runs.append(self))[0])
    assert seqpo(data, plain_model, tmp_path / "learnt", "--steps", "4", "--rate", "1e-2") == 0
    folder = tmp_path / "learnt" / "adapter"
    adapter = inspect_adapter(folder, read_fingerprint(plain_model))
    assert (adapter.status, adapter.reason) == (Status.OK, None)
    assert adapter.card.policies == ("read:1", "read:2")
    assert (adapter.card.name, adapter.card.layout) == ("learnt", "slots")
    assert [(one.name, one.pairs) for one in adapter.card.data] == [("letters", 5)]
    light, heavy = both(plain_model, adapter=folder)  # as the window loads it, and by torch
    translator = twin((light, heavy), policy="read:2")
    play(translator, random.Random(0), 5)
    assert translator.model.compared > 20  # every logit of one is that of the other
    ids = torch.tensor([[3, 40, 80, 300, 7, 21]])
    bare = load_by_torch(ModelSettings(directory=plain_model, device="cpu")).network
    with torch.inference_mode():
        trained, used, before = (one(ids).logits for one in (runs[0].network, heavy.network, bare))
    torch.testing.assert_close(used, trained, rtol=0, atol=1e-4)
    assert (used - before).abs().max() > 0.1
