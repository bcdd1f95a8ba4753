"""Lagging on the vectors that SimulEval's own scorers gave (design: evaluation.md, section 6)."""

import random

import pytest

from engine.latency import average_lagging, length_adaptive_average_lagging

VECTORS = {
    "even": ([3, 4, 5, 6, 6, 6], 6, 6, 3, 3),
    "over-generation": ([3, 4, 5, 6, 6, 6, 6, 6, 6], 6, 6, 3, 3.5),
    "under-generation": ([3, 5, 6], 6, 6, 11 / 3, 11 / 3),
    "first word after the source": ([7, 7], 6, 5, 7, 7),
}


@pytest.mark.parametrize(
    ("delays", "source_length", "target_length", "al", "laal"), VECTORS.values(), ids=VECTORS
)
def test_lagging_is_what_simuleval_computes(delays, source_length, target_length, al, laal):
    lagging = (
        average_lagging(delays, source_length, target_length),
        length_adaptive_average_lagging(delays, source_length, target_length),
    )
    assert lagging == pytest.approx((al, laal), abs=1e-6)


def test_wait_k_lags_k_words_where_both_sides_are_equally_long():
    for k in range(1, 8):
        for length in range(k, 20):
            delays = [min(k + j, length) for j in range(length)]
            assert average_lagging(delays, length, length) == pytest.approx(k)


def test_the_two_differ_only_where_more_is_written_than_the_reference_has():
    rng = random.Random(0)
    for _ in range(200):
        length, n_words = rng.randint(1, 12), rng.randint(1, 12)
        delays = sorted(rng.randint(1, length) for _ in range(n_words))
        reference = rng.randint(1, 15)
        al = average_lagging(delays, length, reference)
        laal = length_adaptive_average_lagging(delays, length, reference)
        assert laal >= al if n_words > reference else laal == al


def test_nothing_written_has_no_lagging():
    with pytest.raises(ValueError, match="at least one written word"):
        average_lagging([], 6, 6)
