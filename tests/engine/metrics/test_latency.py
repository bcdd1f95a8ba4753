"""Lagging against OmniSTEval, and on identities; SimulEval: ``test_simuleval_scores.py``."""

import math
import random

import pytest
from omnisteval.data import Instance
from omnisteval.scoring import ALScorer, APScorer, DALScorer, LAALScorer, YAALScorer

from engine.metrics.latency import (
    average_lagging,
    average_proportion,
    differentiable_average_lagging,
    end_offset,
    length_adaptive_average_lagging,
    start_offset,
    yet_another_average_lagging,
)


def sentences(seed, n=300):
    """Draw delays in words, the source's length and the reference's."""
    rng = random.Random(seed)
    for _ in range(n):
        length = rng.randint(1, 15)
        delays = sorted(rng.randint(1, length) for _ in range(rng.randint(1, 20)))
        yield delays, length, rng.randint(1, 20)


def test_wait_k_lags_k_words_where_both_sides_are_equally_long():
    for k in range(1, 8):
        for length in range(k, 20):
            delays = [min(k + j, length) for j in range(length)]
            assert average_lagging(delays, length, length) == pytest.approx(k)
            assert differentiable_average_lagging(delays, length) == pytest.approx(k)


def test_offline_lags_the_whole_source_by_every_measure():
    for length in range(1, 10):
        for n_words in range(1, 10):
            delays = [length] * n_words
            assert average_lagging(delays, length, 5) == length
            assert length_adaptive_average_lagging(delays, length, 5) == length
            assert differentiable_average_lagging(delays, length) == pytest.approx(length)
            assert average_proportion(delays, length, n_words) == 1
            assert (start_offset(delays), end_offset(delays, length)) == (length, 0)


def test_the_two_differ_only_where_more_is_written_than_the_reference_has():
    for delays, length, reference in sentences(0):
        al = average_lagging(delays, length, reference)
        laal = length_adaptive_average_lagging(delays, length, reference)
        assert laal >= al if len(delays) > reference else laal == al


def test_differentiable_lagging_is_no_lower_than_any_other_way_of_counting_its_words():
    for delays, length, _ in sentences(1):
        dal = differentiable_average_lagging(delays, length)
        step = length / len(delays)
        unspread = sum(delay - n * step for n, delay in enumerate(delays)) / len(delays)
        assert dal >= unspread - 1e-9
        assert dal >= delays[0] - 1e-9  # no word catches up with the first


def test_lagging_scales_with_the_unit():
    for delays, length, reference in sentences(2):
        in_ms, length_ms = [delay * 400 for delay in delays], length * 400
        for measure in (average_lagging, length_adaptive_average_lagging):
            expected = measure(delays, length, reference) * 400
            assert measure(in_ms, length_ms, reference) == pytest.approx(expected)
        assert differentiable_average_lagging(in_ms, length_ms) == pytest.approx(
            differentiable_average_lagging(delays, length) * 400
        )
        assert average_proportion(in_ms, length_ms, reference) == pytest.approx(
            average_proportion(delays, length, reference)
        )


def test_lagging_is_what_omnisteval_computes():
    for delays, length, reference in sentences(3):
        instance = Instance(
            reference=" ".join("r" * reference), source_length=length, emission_cu=delays
        )
        assert (
            average_lagging(delays, length, reference),
            length_adaptive_average_lagging(delays, length, reference),
            average_proportion(delays, length, reference),
            differentiable_average_lagging(delays, length),
        ) == pytest.approx(
            tuple(s()([instance]) for s in (ALScorer, LAALScorer, APScorer, DALScorer)), abs=1e-6
        )


def test_yaal_is_what_omnisteval_computes():
    n_without = 0
    for delays, length, reference in sentences(4):
        instance = Instance(
            reference=" ".join("r" * reference), source_length=length, emission_cu=delays
        )
        yaal = yet_another_average_lagging(delays, length, reference)
        assert yaal == pytest.approx(YAALScorer().compute(instance), abs=1e-6)
        n_without += yaal is None
    assert n_without


def test_long_yaal_is_what_omnisteval_computes():
    rng = random.Random(5)
    n_late = n_without = 0
    for _ in range(500):
        length, reference = rng.uniform(1, 10), rng.randint(1, 10)
        end = length + rng.choice((0, rng.uniform(0, 10)))
        delays = sorted(rng.uniform(-2, 1.2 * end) for _ in range(rng.randint(1, 12)))
        instance = Instance(
            reference=" ".join("r" * reference),
            source_length=length,
            emission_cu=delays,
            time_to_recording_end=end,
            longform=True,
        )
        yaal = yet_another_average_lagging(delays, length, reference, recording_end=end)
        assert yaal == pytest.approx(YAALScorer().compute(instance), abs=1e-6)
        n_late += any(length <= delay < end for delay in delays)
        n_without += yaal is None
    assert n_late
    assert n_without


def test_yaal_is_laal_where_all_is_written_before_the_source_ends():
    for delays, length, reference in sentences(6):
        yaal = yet_another_average_lagging(delays, length + 1, reference)
        laal = length_adaptive_average_lagging(delays, length + 1, reference)
        assert yaal == pytest.approx(laal)


def test_without_an_end_every_word_counts():
    assert yet_another_average_lagging([1, 9, 9], 3, 3, recording_end=math.inf) == pytest.approx(
        (1 + 8 + 7) / 3
    )


def test_offsets_are_those_of_the_first_and_the_last_word():
    assert (start_offset([2, 3, 5]), end_offset([2, 3, 5], 8)) == (2, -3)
    assert end_offset([1250, 5100], 4200) == 900


@pytest.mark.parametrize(
    "measure",
    [
        lambda delays: average_lagging(delays, 6, 6),
        lambda delays: length_adaptive_average_lagging(delays, 6, 6),
        lambda delays: yet_another_average_lagging(delays, 6, 6),
        lambda delays: average_proportion(delays, 6, 6),
        lambda delays: differentiable_average_lagging(delays, 6),
        lambda delays: end_offset(delays, 6),
        start_offset,
    ],
)
def test_nothing_written_has_no_lagging(measure):
    with pytest.raises(ValueError, match="at least one written word"):
        measure([])


@pytest.mark.parametrize(("source_length", "target_length"), [(0, 6), (6, 0), (-1, 6)])
def test_nothing_to_translate_has_no_lagging(source_length, target_length):
    for measure in (average_lagging, average_proportion, yet_another_average_lagging):
        with pytest.raises(ValueError, match="lengths above zero, got"):
            measure([1], source_length, target_length)
