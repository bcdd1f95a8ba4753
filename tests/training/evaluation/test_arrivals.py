"""Test when words are said to come, and the lag in seconds that follows."""

from itertools import groupby
from statistics import median

import pytest

from engine.metrics.latency import caption_lags_s
from tests.support.run_folders import translation
from training.evaluation.runs import DRAWN, arrivals_of

LINES = [0, 1, 7, 30]


@pytest.mark.parametrize("what", DRAWN)
def test_no_word_comes_before_it_was_said_or_before_another(what):
    found = arrivals_of(what, LINES)
    assert [len(one) for one in found] == LINES
    assert found == arrivals_of(what, LINES)
    for line in found:
        said, came = [one for one, _ in line], [one for _, one in line]
        assert (said, came) == (sorted(said), sorted(came))
        assert all(first <= second for first, second in line)


def test_bursts_are_of_three_to_six_words_about_two_seconds_late_as_measured():
    (line,) = arrivals_of("whisper", [300])
    sizes = [len(list(burst)) for _, burst in groupby(came for _, came in line)]
    assert set(sizes[:-1]) == {3, 4, 5, 6}
    assert 2.0 < median(came - said for said, came in line) < 2.6


@pytest.mark.parametrize(
    ("delays", "lags"),
    [
        ((2, 2, 4, 4), [1.5, 0.5, 2.5, 1.5]),
        ((2, 4), [1.5, 0.5, 2.5, 1.5]),
        ((2, 2, 3, 3, 4, 4, 4, 4), [1.5, 2.0, 2.5, 1.5]),
        ((), [4.5, 3.5, 2.5, 1.5]),
    ],
)
def test_the_caption_of_a_word_stands_at_the_same_share_of_the_line(delays, lags):
    said, came = (1.0, 2.0, 3.0, 4.0), (1.5, 2.5, 4.0, 5.5)
    told = translation(source=tuple("abcd"), delays=delays, said_s=said, came_s=came)
    assert caption_lags_s(told) == pytest.approx(lags)
    assert caption_lags_s(translation(source=tuple("abcd"), delays=delays)) == []
