"""Runs held against each other, on folders made without a model; the bootstrap is sacreBLEU's."""

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from tests.support.run_folders import WORDS, references, translations, two_runs, write_run
from training.evaluation.runs import read_run
from training.research.__main__ import main
from training.research.compare import (
    BootstrapSettings,
    compare,
    compare_means,
    compare_runs,
    read_contenders,
    rows,
)


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


SETTINGS = BootstrapSettings(n_samples=50, seed=1)


def test_each_measure_is_compared_by_itself(tmp_path):
    rng = random.Random(0)
    wanted = references(rng, 20)
    short = translations(rng, wanted, wrong=0.2, late=1)
    long = [
        replace(
            one,
            hypothesis=f"{one.hypothesis} und und",
            delays=(*one.delays, *one.delays[-1:] * 2),
            emitted_ms=(*one.emitted_ms, *one.ms[-1:] * 2),
            ms=tuple(300 * ms for ms in one.ms),
        )
        for one in translations(rng, wanted, wrong=0.3, late=2)
    ]
    folders = [
        write_run(tmp_path / name, {"read:3": made}, wanted)
        for name, made in (("a", short), ("b", long))
    ]
    before, after = (json.loads((one / "summary.json").read_text())[0] for one in folders)
    found = compare(*(read_run(one).policies["read:3"] for one in folders), "de", SETTINGS)
    names = ("bleu", "chrf", "al", "laal", "laal_ca")
    differences = [found[name].difference for name in names]
    assert differences == pytest.approx([after[name] - before[name] for name in names])
    assert len({round(difference, 3) for difference in differences}) == len(names)
    assert after["laal_ca"] < after["laal_ca_simuleval"] - 1


def test_runs_are_grouped_by_policy_and_complete_groups_come_first(tmp_path):
    good, bad = two_runs(tmp_path)
    contenders = read_contenders([str(bad), str(good)])
    assert [one.name for one in contenders] == ["bad", "good"]
    both = ["wait:1", "wait:3", "wait:5", "read:3", "offline"]
    grouped = [[one and one.scores.policy for one in row] for row in rows(contenders)]
    assert grouped == [*([name, name] for name in both), ["read:5", None]]


def garbled(rng, wanted, wrong):
    return [
        " ".join(rng.choice(WORDS) if rng.random() < wrong else word for word in one.split())
        for one in wanted
    ]


def two_systems(wrong, n_lines=60, seed=5):
    rng = random.Random(seed)
    wanted = references(rng, n_lines)
    return tuple(garbled(rng, wanted, part) for part in wrong), wanted


@pytest.mark.parametrize("metric", [BLEU(), CHRF()], ids=["bleu", "chrf"])
@pytest.mark.parametrize("second_wrong", [0.21, 0.26])
def test_difference_and_signature_are_those_of_sacrebleu(metric, second_wrong, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "99")
    systems, wanted = two_systems((0.2, second_wrong))
    named = [("first", systems[0]), ("second", systems[1])]
    signatures, results = PairedTest(named, {"it": metric}, [wanted], "bs", 300)()
    (name,) = signatures
    found = compare_runs(metric, systems, wanted, BootstrapSettings(n_samples=300, seed=99))
    first, second = results[name]
    assert found.difference == pytest.approx(second.score - first.score, abs=1e-9)
    assert found.signature == str(signatures[name])
    assert found.n_sentences == 60


@pytest.mark.parametrize("truth", [0.0, 0.3])
def test_the_interval_holds_the_truth_and_p_errs_about_as_often_as_they_say(truth):
    rng = np.random.default_rng(0)
    held = mistaken = 0
    for seed in range(400):
        first = rng.normal(5, 2, 80)
        second = first + rng.normal(truth, 1, 80)
        settings = BootstrapSettings(n_samples=200, seed=seed)
        found = compare_means(first.tolist(), second.tolist(), settings)
        held += found.low <= truth <= found.high
        mistaken += found.p < 0.05
    assert 0.90 < held / 400 < 0.98
    if truth == 0:
        assert 0.02 < mistaken / 400 < 0.09  # sacreBLEU's p errs twice as often
    else:
        assert mistaken / 400 > 0.6  # a difference that is there is mostly seen
