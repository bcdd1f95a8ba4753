"""A Marian that is trained here goes the whole way: conversion, captions, scores, SimulEval."""

import io
import json
import os
import random
import sys

import pytest

from app.__main__ import main as surtitle
from benchmarks.interop.simuleval_agreement import (
    PROGRAMS,
    as_the_agent_writes,
    finish_simuleval,
    start_simuleval,
)
from benchmarks.training.marian import main as train_marian
from tests.support.run_folders import work_here
from training.__main__ import main
from training.evaluation.runs import read_run

WORDS = {"red": "rot", "green": "grün", "old": "alt", "house": "Haus", "book": "Buch", "is": "ist"}
POLICIES = ("stable:2", "wait:3", "offline")


def sentence(rng):
    return " ".join(rng.choices([*WORDS], k=rng.randint(2, 7))) + "."


def translated(text):
    return " ".join(WORDS[word] for word in text.rstrip(".").split()) + "."


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A small Marian, trained in two calls, the second of which goes on where the first ended."""
    home = tmp_path_factory.mktemp("marian")
    rng = random.Random(0)
    texts = [sentence(rng) for _ in range(300)]
    rows = [f"{text}\t{translated(text)}\tours\n" for text in texts]
    (home / "pairs.tsv").write_text("".join(rows) + "a secret\tein Geheimnis\tother\n")
    sizes = ("--pieces", 60, "--width", 32, "--layers", 1, "--batch", 16, "--rate", 0.03)
    for steps in (200, 60):
        arguments = ("--pairs", home / "pairs.tsv", "--out", home / "model", "--steps", steps)
        train_marian([*map(str, (*arguments, "--without", "other", *sizes, "--minutes", 60))])
    return home / "model"


@pytest.fixture(scope="module")
def files(folder):
    rng = random.Random(1)
    texts = [sentence(rng) for _ in range(12)]
    source, reference = folder.parent / "test.en", folder.parent / "test.de"
    source.write_text("".join(f"{text}\n" for text in texts))
    reference.write_text("".join(f"{translated(text)}\n" for text in texts))
    return source, reference


def evaluate(folder, files):
    source, reference = map(str, files)
    arguments = ["--source", source, "--reference", reference, "--to", "de", "--workers", "1"]
    arguments += ["--policies", ",".join(POLICIES), "--system", "encoder-decoder"]
    out = folder.parent / "run"
    with pytest.MonkeyPatch.context() as patch:
        work_here(patch)
        return main(["evaluate", *arguments, "--model", str(folder), "--out", str(out)])


@pytest.fixture(scope="module")
def run(folder, files):
    """The run folder of an evaluation, and its summary by policy."""
    assert evaluate(folder, files) == 0
    out = folder.parent / "run"
    rows = json.loads((out / "summary.json").read_text())
    return read_run(out), {row["policy"]: row for row in rows}


@pytest.mark.slow
def test_a_second_call_goes_on_with_the_training(folder):
    assert json.loads((folder / "training" / "progress.json").read_text()) == {"step": 260}
    assert [path.name for path in (folder / "training").glob("*.safetensors")] == [
        "260.safetensors"
    ]
    assert "secret" not in " ".join(json.loads((folder / "vocab.json").read_text()))


@pytest.mark.slow
def test_its_captions_come_live_in_the_terminal(folder, monkeypatch, capsysbinary):
    text = "the old house is green and red."
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    log = folder.parent / "log.jsonl"
    asked = ["translate", "--model", str(folder), "--policy", "stable:2", "--live"]
    assert surtitle([*asked, "--log", str(log)]) == 0
    out, _ = capsysbinary.readouterr()
    assert {"Haus", "rot", "grün", "alt", "ist"} & set(out.decode().replace(".", "").split())
    events = [json.loads(row) for row in log.read_text().splitlines()]
    assert "".join(row["text"] for row in events if row["event"] == "committed").strip() in (
        out.decode()
    )


@pytest.mark.slow
def test_it_is_scored_as_the_other_systems_are_and_takes_nothing_back(run):
    folder, rows = run
    assert rows.keys() == set(POLICIES)
    assert {row["system"] for row in rows.values()} == {"encoder-decoder"}
    assert {row["normalised_erasure"] for row in rows.values()} == {0}
    assert rows["offline"]["chrf"] > 20  # it has learnt words: 12 before, 36 after
    assert rows["stable:2"]["laal"] < rows["offline"]["laal"]
    assert all(row["ms_per_word_mean"] > 0 for row in rows.values())
    assert rows["stable:2"]["tokens_recomputed"] > rows["offline"]["tokens_recomputed"] == 0
    assert len(folder.policies["offline"].sentences) == 12


@pytest.mark.slow
def test_a_run_is_the_same_after_the_original_was_deleted(folder, files, run):
    before = (run[0].folder / "summary.json").read_text()
    (folder / "model.safetensors").unlink()
    assert evaluate(folder, files) == 0
    assert (run[0].folder / "summary.json").read_text() == before


@pytest.mark.slow
@pytest.mark.skipif(
    not (PROGRAMS / "simuleval").exists() and os.environ.get("CI") != "true",
    reason="SimulEval is not installed: scripts/simuleval-environment",
)
def test_simuleval_sees_the_same_captions_at_the_same_times(folder, files, run):
    out = folder.parent / "simuleval.json"
    asked = ["--model", str(folder), "--translator", "encoder-decoder"]
    found = finish_simuleval(start_simuleval(out, *files, "stable:2", asked), out)
    ours = list(as_the_agent_writes(run[0], "stable:2"))
    seen = [(one["prediction"], one["delays"]) for one in found["instances"]]
    assert seen == [(one.hypothesis, list(one.delays)) for one in ours]
