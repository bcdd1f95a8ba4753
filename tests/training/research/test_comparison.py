"""Test how runs are held against each other, on folders made without a model."""

import json
import random
from dataclasses import replace

import pytest

from tests.support.run_folders import references, translations, two_runs, write_run
from training.evaluation.runs import read_run
from training.research.compare import BootstrapSettings, compare, read_contenders, rows

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
