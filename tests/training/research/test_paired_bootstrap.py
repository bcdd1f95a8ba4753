"""Test the paired bootstrap: against sacreBLEU's, and on systems whose difference is known."""

import random

import numpy as np
import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.significance import PairedTest

from tests.support.run_folders import WORDS, references
from training.research.compare import (
    BootstrapSettings,
    compare_means,
    compare_runs,
)


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
