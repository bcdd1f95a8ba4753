import random
from types import SimpleNamespace

import pytest

from benchmarks.when_to_write import Comparison, nested_boundaries

REFERENCES = ["the cat sat on the mat today", "a dog ran over the green hill"] * 20


def test_boundaries_far_apart_are_among_the_nearer_ones():
    rng = random.Random(0)
    for _ in range(100):
        n_source = rng.randint(1, 30)
        needs = sorted(rng.randint(1, n_source) for _ in range(rng.randint(1, 30)))
        levels = {apart: nested_boundaries(needs, apart) for apart in (1, 2, 4, 8)}
        assert levels[1] == tuple(sorted(set(needs)))
        for apart, kept in levels.items():
            steps = [b - a for a, b in zip((0, *kept), kept, strict=False)]
            assert all(step >= apart for step in steps)
            assert set(kept) <= set(levels[max(1, apart // 2)])
    assert nested_boundaries((1, 2, 3, 5, 6, 9), 2) == (2, 5, 9)


def result(laal, hypotheses):
    return SimpleNamespace(
        laal=laal, translations=[SimpleNamespace(hypothesis=one) for one in hypotheses]
    )


def damaged(n_lines):
    """The references, some of them without their words: BLEU falls with every one."""
    return ["nothing"] * n_lines + REFERENCES[n_lines:]


def test_bleu_is_compared_with_the_line_between_the_neighbouring_points():
    fixed = [result(1.0, damaged(20)), result(2.0, damaged(10)), result(4.0, damaged(0))]
    compared = Comparison(fixed, REFERENCES, "en")
    points = [drawn[0] for drawn in compared._points]
    assert points[0] < points[1] < points[2] == pytest.approx(100)
    for laal, line in (
        (1.0, points[0]),
        (2.0, points[1]),
        (1.5, (points[0] + points[1]) / 2),
        (2.5, (3 * points[1] + points[2]) / 4),
    ):
        gain, _ = compared.gain(result(laal, REFERENCES))
        assert float(gain) == pytest.approx(points[2] - line, abs=0.006)
    assert compared.gain(result(0.9, REFERENCES)) == ("", "")
    assert compared.gain(result(4.1, REFERENCES)) == ("", "")
    assert compared.gain(result(float("nan"), REFERENCES)) == ("", "")


def test_a_difference_of_few_sentences_is_not_significant_and_one_of_many_is():
    compared = Comparison([result(1.0, damaged(20)), result(2.0, damaged(20))], REFERENCES, "en")
    assert compared.gain(result(1.5, damaged(20))) == ("+0.00", "1.000")
    assert float(compared.gain(result(1.5, damaged(0)))[1]) < 0.05
    assert float(compared.gain(result(1.5, damaged(19)))[1]) > 0.05
