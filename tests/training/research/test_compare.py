"""Test the command that holds runs against each other, on folders made without a model."""

import json

import pytest

from tests.support.run_folders import two_runs
from training.evaluation.runs import read_run
from training.research.__main__ import main


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return two_runs(tmp_path)


def report(folder):
    return json.loads((folder / "compare.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_the_table_and_the_file_tell_the_same(runs, tmp_path, capsys):
    assert main(["compare", "good", "bad", "--samples", "50", "--seed", "1"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == [
        "policy", "run", "bleu", "chrf", "laal", "tokens_fed", "tokens_recomputed",
        "gflops_per_sentence", "ms_per_word_p50", "n_empty",
    ]  # fmt: skip
    good, bad = map(read_run, runs)
    table = [line.split() for line in printed]
    for run in (good, bad):
        for policy, one in run.policies.items():
            numbers = f"{one.scores.bleu:.2f} {one.scores.chrf:.2f} {one.scores.laal:.2f}".split()
            assert [policy, run.name, *numbers] in [line[:5] for line in table]
    found = report(tmp_path / "compare")
    assert found["settings"] == {"n_samples": 50, "seed": 1}
    assert [run["name"] for run in found["runs"]] == ["good", "bad"]
    assert [run["system"] for run in found["runs"]] == ["slots", "retranslate"]
    assert len(found["scores"]) == 11
    differences = found["differences"]
    assert [one["policy"] for one in differences] == [
        *("wait:1", "wait:3", "wait:5", "read:3", "offline")
    ]
    for one in differences:
        expected = (
            bad.policies[one["policy"]].scores.bleu - good.policies[one["policy"]].scores.bleu
        )
        assert one["bleu"]["difference"] == pytest.approx(expected)
        assert one["bleu"]["low"] <= one["bleu"]["difference"] <= one["bleu"]["high"]
        assert "bs:50|seed:1|" in one["bleu"]["signature"]
        shown = f"{one['bleu']['difference']:+.2f} [{one['bleu']['low']:+.2f}, "
        assert any(shown in " ".join(line) for line in table)
    first = differences[0]
    assert first["laal"]["difference"] == first["laal"]["low"] == pytest.approx(1)
    assert (first["laal"]["p"], first["laal"]["n_sentences"]) == (1 / 51, 40)
