"""What strangers can send, in thousands of forms: no traceback, no wait, no file elsewhere."""

import sys

import pytest

from tests.fuzz.nursery import Nursery
from tests.fuzz.run import AREAS, fuzz

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="needs timers and limits of Linux"),
]
MEMORY_BYTES = 1_500_000_000


@pytest.fixture(scope="module")
def nursery():
    with Nursery(AREAS) as nursery:
        yield nursery


@pytest.mark.parametrize("area", AREAS)
def test_whatever_comes_is_refused_in_a_sentence_or_used(area, nursery):
    n_cases, seconds = AREAS[area]
    report = fuzz({area: (0, n_cases, seconds)}, nursery=nursery)[area]
    told = [f"{area} --case {number}: {words}" for number, words in report.failures.items()]
    assert not told, "\n".join(told)
    assert report.n_cases > 0
    assert report.peak_bytes < MEMORY_BYTES
