"""Rewards by hand."""

from dataclasses import replace

import pytest

from training.research.seqpo import (
    SeqpoSettings,
    StringQuality,
    advantages,
    lagging,
    rewards,
    standardised,
)

USUAL = SeqpoSettings()
Q, LAG = [0.2, 0.4, 0.6], [1.0, 2.0, 6.0]


def test_quality_and_lagging_are_standardised_and_fused():
    # quality: mean 0.4, sample std 0.2; lagging: mean 3, std sqrt((4 + 1 + 9) / 2) = sqrt(7)
    root = 7**0.5
    expected = [2 * -1 + 2 / root, 2 * 0 + 1 / root, 2 * 1 - 3 / root]
    assert rewards(Q, LAG, USUAL) == pytest.approx(expected)
    assert sum(expected) == pytest.approx(0)
    assert advantages([1.0, 2.0, 6.0]) == [-2.0, -1.0, 3.0]


def test_a_group_of_equals_has_no_advantage_and_near_equals_do_not_shout():
    assert advantages(rewards([0.5] * 4, [2.0] * 4, USUAL)) == pytest.approx([0.0] * 4)
    near = rewards([0.5, 0.501], [2.0, 2.01], USUAL)
    assert max(map(abs, near)) < 0.15
    assert standardised([1.0, 1.001], 0.01) == pytest.approx([-0.05, 0.05])


def test_the_weight_of_lagging_may_be_nothing():
    assert rewards(Q, LAG, replace(USUAL, lag_weight=0.0)) == pytest.approx([-2.0, 0.0, 2.0])


def test_the_hinge_credits_low_lagging_only_where_the_quality_is_the_median_or_more():
    hinge = replace(USUAL, reward="hinge")
    # credits: 0 (too bad, though it lags least), 6 - 2 = 4, 0: mean 4/3, std sqrt(16/3)
    root = (16 / 3) ** 0.5
    expected = [-1 - 0.5 * 4 / 3 / root, 0.5 * 8 / 3 / root, 1 - 0.5 * 4 / 3 / root]
    assert rewards(Q, LAG, hinge) == pytest.approx(expected)


SOURCE, RIGHT = "one two three four", "eins zwei drei vier"


def test_an_empty_translation_is_the_worst_of_its_group():
    quality = StringQuality("de")
    qualities = [quality(one, RIGHT) for one in ("", RIGHT, RIGHT)]
    lags = [lagging(d, SOURCE, RIGHT, "de") for d in ((), (1, 2, 3, 4), (2, 3, 4, 4))]
    assert qualities == pytest.approx([0.0, 1.0, 1.0])
    assert lags == [4.0, 1.0, 2.0]
    # quality: mean 2/3, variance 1/3; lagging: mean 7/3, variance 7/3
    quality_std, lag_std = (1 / 3) ** 0.5, (7 / 3) ** 0.5
    expected = [
        2 * -2 / 3 / quality_std - 5 / 3 / lag_std,
        2 * 1 / 3 / quality_std + 4 / 3 / lag_std,
        2 * 1 / 3 / quality_std + 1 / 3 / lag_std,
    ]
    assert rewards(qualities, lags, USUAL) == pytest.approx(expected)


def test_lagging_is_that_of_the_metrics():
    assert lagging((4, 4), SOURCE, RIGHT, "de") == 4.0
    assert lagging((1, 2, 3, 4), SOURCE, RIGHT, "de") == 1.0
    assert lagging((1, 2), SOURCE, RIGHT, "de") == 1.0  # the ideal has the reference's length
    # eight words, one source word for two: ideal delays grow by 1/2
    doubled = (1, 1, 2, 2, 3, 3, 4, 4)
    assert lagging(doubled, SOURCE, RIGHT, "de") == pytest.approx((4 * 1 + 3 * 0.5) / 7)
