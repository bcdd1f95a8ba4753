import itertools

import pytest

from engine.speech.speed import matrix_gflops


def test_the_fastest_product_counts():
    seconds = itertools.chain([0.0], *([at, at + took] for at, took in ((0, 0.02), (1, 0.2))))
    assert matrix_gflops(lambda: next(seconds)) == pytest.approx(2 * 0.512**3 / 0.02)
    steady = itertools.count(0, 0.01)
    assert matrix_gflops(lambda: next(steady)) == pytest.approx(2 * 0.512**3 / 0.01)
