"""Lagging against OmniSTEval, and on identities; SimulEval: ``test_simuleval_scores.py``."""

import random

import pytest
from omnisteval.data import Instance
from omnisteval.scoring import YAALScorer

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
