"""Test the paired bootstrap: against sacreBLEU's, and on systems whose difference is known."""

import random
import statistics

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
    draw_sentences,
)

SETTINGS = BootstrapSettings(n_samples=1000, seed=12345)
FEW = BootstrapSettings(n_samples=200, seed=3)


def garbled(rng, wanted, wrong):
    return [
        " ".join(rng.choice(WORDS) if rng.random() < wrong else word for word in one.split())
        for one in wanted
    ]


def two_systems(wrong, n_lines=60, seed=5):
    rng = random.Random(seed)
    wanted = references(rng, n_lines)
    return tuple(garbled(rng, wanted, part) for part in wrong), wanted


def alone(systems):
    """Systems that were run once each."""
    return [systems[0]], [systems[1]]


@pytest.mark.parametrize("metric", [BLEU(), CHRF()], ids=["bleu", "chrf"])
@pytest.mark.parametrize("second_wrong", [0.21, 0.26])
def test_difference_and_signature_are_those_of_sacrebleu(metric, second_wrong, monkeypatch):
    monkeypatch.setenv("SACREBLEU_SEED", "99")
    systems, wanted = two_systems((0.2, second_wrong))
    named = [("first", systems[0]), ("second", systems[1])]
    signatures, results = PairedTest(named, {"it": metric}, [wanted], "bs", 300)()
    (name,) = signatures
    found = compare_runs(metric, alone(systems), wanted, BootstrapSettings(n_samples=300, seed=99))
    first, second = results[name]
    assert found.difference == pytest.approx(second.score - first.score, abs=1e-9)
    assert found.signature == str(signatures[name])
    assert found.n_sentences == 60


def test_the_interval_of_quality_is_that_of_resampled_corpora():
    systems, wanted = two_systems((0.2, 0.4), n_lines=20)
    fewest = BootstrapSettings(n_samples=60, seed=3)
    found = compare_runs(BLEU(), alone(systems), wanted, fewest)

    def bleu(system, draw):
        texts, right = ([one[n] for n in draw] for one in (system, wanted))
        return BLEU().corpus_score(texts, [right]).score

    draws = draw_sentences(20, fewest)
    drawn = [bleu(systems[1], draw) - bleu(systems[0], draw) for draw in draws]
    assert (found.low, found.high) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))


@pytest.mark.parametrize("metric", [BLEU(), CHRF()], ids=["bleu", "chrf"])
def test_equal_systems_do_not_differ(metric):
    (system, _), wanted = two_systems((0.3, 0.3))
    found = compare_runs(metric, ([system], [list(system)]), wanted, FEW)
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_a_much_better_system_is_significantly_better_and_the_other_way_round():
    (worse, better), wanted = two_systems((0.5, 0.1))
    found = compare_runs(BLEU(), ([worse], [better]), wanted, FEW)
    assert 0 < found.low < found.difference < found.high
    assert found.p == 1 / 201
    back = compare_runs(BLEU(), ([better], [worse]), wanted, FEW)
    assert (back.difference, back.low, back.high, back.p) == pytest.approx(
        (-found.difference, -found.high, -found.low, found.p)
    )


def test_equal_means_do_not_differ():
    values = [1.5, None, 2.0, 3.25]
    found = compare_means(values, list(values), FEW)
    assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_a_word_more_for_every_sentence_is_a_word_more_for_sure():
    rng = random.Random(1)
    first = [rng.uniform(1, 9) for _ in range(50)]  # unlike among themselves: pairing takes it out
    found = compare_means(first, [value + 1 for value in first], FEW)
    assert (found.difference, found.low, found.high) == pytest.approx((1, 1, 1))
    assert found.p == 1 / 201


def test_a_sentence_that_either_left_empty_is_left_out_for_both():
    rng = random.Random(2)
    first = [rng.uniform(1, 9) for _ in range(40)]
    second = [rng.uniform(1, 9) for _ in range(40)]
    both = list(zip(first, second, strict=True))
    first[3] = second[7] = first[9] = second[9] = None
    found = compare_means(first, second, FEW)
    kept = [pair for place, pair in enumerate(both) if place not in (3, 7, 9)]
    assert found == compare_means([a for a, _ in kept], [b for _, b in kept], FEW)
    assert found.n_sentences == 37
    assert found.difference == pytest.approx(statistics.fmean(b - a for a, b in kept))


def test_where_no_sentence_has_both_values_there_is_nothing_to_compare():
    assert compare_means([1.0, None], [None, 1.0], FEW) is None


def test_the_seed_decides_the_draws():
    rng = random.Random(4)
    first, second = ([rng.gauss(0, 1) for _ in range(30)] for _ in range(2))
    other = BootstrapSettings(n_samples=200, seed=4)
    assert compare_means(first, second, FEW) == compare_means(first, second, FEW)
    assert compare_means(first, second, FEW) != compare_means(first, second, other)


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


@pytest.mark.parametrize(
    ("changes", "words"), [({"n_samples": 0}, "at least one sample"), ({"seed": -1}, "0 or more")]
)
def test_settings_that_cannot_be_are_refused(changes, words):
    with pytest.raises(ValueError, match=words):
        BootstrapSettings(**{"n_samples": 1, "seed": 0, **changes})


def test_unequal_numbers_of_sentences_are_refused():
    with pytest.raises(ValueError, match=r"the same sentences"):
        compare_means([1.0], [1.0, 2.0], FEW)
    with pytest.raises(ValueError, match=r"at least one"):
        compare_means([], [], FEW)
    with pytest.raises(ValueError, match=r"got \[1, 2\]"):
        compare_runs(BLEU(), ([["a"]], [["a", "b"]]), ["a", "b"], SETTINGS)
