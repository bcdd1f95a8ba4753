"""Test what a run becomes in the formats of others; ``test_simuleval`` lets SimulEval read it."""

import json
import random

import pytest

from engine.metrics.latency import WORD_MS
from tests.support.run_folders import references, silent, translations, write_run
from training.evaluation.runs import read_run
from training.research.__main__ import main


@pytest.fixture
def folder(tmp_path):
    rng = random.Random(5)
    wanted = references(rng, 6)
    made = translations(rng, wanted, wrong=0.3, late=2)
    made[3] = silent(made[3])
    return write_run(tmp_path / "run", {"read:3": made, "wait:1": made}, wanted)


def convert(folder, out, policy="read:3"):
    arguments = ["--run", str(folder), "--policy", policy, "--out", str(out)]
    return main(["convert", *arguments])


def test_simuleval_gets_a_row_for_each_line(folder, tmp_path):
    assert convert(folder, tmp_path / "out") == 0
    assert {path.name for path in (tmp_path / "out").iterdir()} == {"instances.log", "config.yaml"}
    rows = [
        json.loads(row) for row in (tmp_path / "out" / "instances.log").read_text().splitlines()
    ]
    sentences = read_run(folder).policies["read:3"].sentences
    for row, sentence in zip(rows, sentences, strict=True):
        translation = sentence.translation
        assert row["index"] == translation.index
        assert row["prediction"].split() == translation.hypothesis.split()
        assert row["delays"] == list(translation.delays)
        assert row["prediction_length"] == len(row["delays"]) == len(row["elapsed"])
        assert row["source"].split() == list(translation.source)
        assert row["source_length"] == len(translation.source)
        assert row["reference"] == sentence.reference
    # a word is computed for 2 ms, its unit written after 1.5: see tests.support.run_folders
    first = rows[0]
    assert first["elapsed"] == pytest.approx(
        [n + (2 * (n - 1) + 1.5) / WORD_MS for n in first["delays"]], abs=1e-6
    )
    assert rows[3]["prediction"] == ""
