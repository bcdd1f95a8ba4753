"""A learnt M2M-100 goes the whole way: conversion, captions, scores, SimulEval."""

import io
import json
import os
import shutil
import sys

import pytest

from app.__main__ import main as surtitle
from benchmarks.interop.simuleval_agreement import (
    PROGRAMS,
    as_the_agent_writes,
    finish_simuleval,
    start_simuleval,
)
from engine.runtime.ctranslate2.encoder_decoder_loader import load_encoder_decoder
from engine.settings import ModelSettings
from tests.engine.runtime.ctranslate2 import learnt_m2m100
from tests.support.run_folders import work_here
from training.__main__ import main
from training.evaluation.runs import read_run

POLICIES = ("stable:2", "wait:3", "offline")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A copy of a small M2M-100 that knows the beginnings of one text."""
    return shutil.copytree(learnt_m2m100.FOLDER, tmp_path_factory.mktemp("m2m100") / "model")


@pytest.fixture(scope="module")
def files(folder):
    (text,) = learnt_m2m100.TEXTS["en", "de"]
    texts = learnt_m2m100.beginnings(text)[2:]
    source, reference = folder.parent / "test.en", folder.parent / "test.de"
    source.write_text("".join(f"{text}\n" for text in texts))
    reference.write_text("".join(f"{learnt_m2m100.translated(text)}\n" for text in texts))
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
def test_weights_are_whole_where_that_is_asked_for(tmp_path):
    folder = shutil.copytree(learnt_m2m100.FOLDER, tmp_path / "model")
    found = {
        asked: load_encoder_decoder(ModelSettings(directory=folder, device="cpu", quantise=asked))
        for asked in ("auto", "none")
    }
    kinds = {asked: weights.translator.compute_type for asked, weights in found.items()}
    assert kinds == {"auto": "int8_float32", "none": "float32"}
    assert [weights.report.quantise for weights in found.values()] == ["int8", "none"]


@pytest.mark.slow
def test_its_captions_come_live_in_the_terminal(folder, monkeypatch, capsysbinary):
    (text,) = learnt_m2m100.TEXTS["en", "de"]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    log = folder.parent / "log.jsonl"
    asked = ["translate", "--model", str(folder), "--policy", "stable:2", "--live"]
    assert surtitle([*asked, "--log", str(log)]) == 0
    out, _ = capsysbinary.readouterr()
    assert out.decode().split() == learnt_m2m100.translated(text).split()
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
    assert rows["offline"]["chrf"] > 90
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
