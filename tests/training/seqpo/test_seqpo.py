"""The command that learns by reward, on the tiny model."""

import json

import pytest
import torch
from safetensors.torch import load_file

from engine.adapters.adapter import Status, inspect_adapter
from engine.models.fingerprint import read_fingerprint
from tests.support.fakes import save_tiny_model
from tests.support.finetune_runs import write_dev, write_pairs
from training.__main__ import main

QUICK = [
    "--rank", "4", "--sources", "2", "--group", "3", "--lanes", "6", "--policies", "read:1,read:2",
    "--rate", "1e-3", "--device", "cpu",
]  # fmt: skip


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    return save_tiny_model(tmp_path_factory.mktemp("base"))


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


def test_a_run_that_was_stopped_ends_as_an_unbroken_one_and_its_adapter_loads(tmp_path, base, data):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    assert seqpo(data, base, whole, "--steps", "4") == 0
    assert seqpo(data, base, broken, "--steps", "4", "--stop-after", "2", "--lanes", "3") == 0
    assert not (broken / "adapter").exists()
    assert seqpo(data, base, broken, "--steps", "4") == 0
    first, *_, last = lines = lines_of(whole / "steps.jsonl")
    assert without_seconds(lines_of(broken / "steps.jsonl")) == without_seconds(lines)
    assert [line["step"] for line in lines] == [1, 2, 3, 4]
    assert first["divergence"] == 0.0  # at the start, exactly
    assert last["divergence"] != 0.0
    assert all(torch.equal(factors(whole)[name], one) for name, one in factors(broken).items())
    adapter = inspect_adapter(whole / "adapter", read_fingerprint(base))
    assert adapter.status is Status.OK
    assert adapter.card.policies == ("read:1", "read:2")


def test_a_run_begins_with_an_adapter_or_trains_all_weights_and_decodes_its_dev_set(
    tmp_path, base, data
):
    first, second, whole = (tmp_path / name for name in ("first", "second", "whole"))
    dev = ["--dev", write_dev(tmp_path), "--dev-policies", "read:1", "--every", "1"]
    assert seqpo(data, base, first, "--steps", "1") == 0
    start = ["--start", str(first / "adapter")]
    # nothing is learnt at such a rate: the result is what it began with
    assert seqpo(data, base, second, "--steps", "1", *start, "--rate", "1e-30") == 0
    assert all(torch.equal(factors(second)[name], one) for name, one in factors(first).items())
    assert seqpo(data, base, whole, "--steps", "2", "--all-weights", *dev) == 0
    decoded = lines_of(whole / "dev.jsonl")
    assert [line["step"] for line in decoded][:2] == [0, 1]
    assert decoded[0]["scores"][0]["chrf"] >= 0
    best = max(decoded, key=lambda line: value_of(line["scores"][0]))
    assert (whole / "model" / "model.safetensors").exists() == (best["step"] > 0)


def value_of(score):
    return score["chrf"] - 2 * score["laal"] if score["laal"] is not None else float("-inf")
