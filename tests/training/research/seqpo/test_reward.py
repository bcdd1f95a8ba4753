"""Rewards by hand."""

import sys
from dataclasses import replace

import pytest

from training.errors import UsageError
from training.research.seqpo import (
    CometQuality,
    Sampled,
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


def test_without_standardising_and_with_one_part_only():
    plain = replace(USUAL, normalised=False, lag_bound=0.0)
    assert rewards(Q, LAG, plain) == pytest.approx(
        [2 * q - lag for q, lag in zip(Q, LAG, strict=True)]
    )
    assert rewards(Q, LAG, replace(USUAL, lag_weight=0.0)) == pytest.approx([-2.0, 0.0, 2.0])


def test_the_hinge_credits_low_lagging_only_where_the_quality_is_the_median_or_more():
    hinge = replace(USUAL, reward="hinge")
    # credits: 0 (too bad, though it lags least), 6 - 2 = 4, 0: mean 4/3, std sqrt(16/3)
    root = (16 / 3) ** 0.5
    expected = [-1 - 0.5 * 4 / 3 / root, 0.5 * 8 / 3 / root, 1 - 0.5 * 4 / 3 / root]
    assert rewards(Q, LAG, hinge) == pytest.approx(expected)


def sampled(hypothesis, delays, reference="eins zwei drei vier", source="one two three four"):
    return Sampled(source=source, hypothesis=hypothesis, reference=reference, delays=delays)


def test_an_empty_translation_is_the_worst_of_its_group():
    group = [
        sampled("", ()),
        sampled("eins zwei drei vier", (1, 2, 3, 4)),
        sampled("eins zwei drei vier", (2, 3, 4, 4)),
    ]
    qualities, lags = StringQuality("de")(group), [lagging(one, "de") for one in group]
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


def test_a_right_translation_has_quality_one_and_a_doubled_one_pays_for_its_length():
    quality = StringQuality("de")
    right = sampled("eins zwei drei vier", (1, 2, 3, 4))
    doubled = sampled("eins eins zwei zwei drei drei vier vier", (1, 1, 2, 2, 3, 3, 4, 4))
    a_bit_long = sampled("eins zwei drei vier vier", (1, 2, 3, 4, 4))
    best, worst, near = quality([right, doubled, a_bit_long])
    assert best == pytest.approx(1.0)
    unpaid = worst + 0.5 * (0.6931472 - 0.25)  # log 2, and what is free
    assert worst < near < best
    assert 0.2 < unpaid < 0.7


def test_lagging_is_that_of_the_metrics():
    late = sampled("eins zwei", (4, 4))
    assert lagging(late, "de") == 4.0
    steady = sampled("eins zwei drei vier", (1, 2, 3, 4))
    assert lagging(steady, "de") == 1.0
    short = sampled("eins zwei", (1, 2))  # AL and LAAL take the reference's length
    assert lagging(short, "de") == lagging(short, "de", adaptive=False) == 1.0
    # eight words, one source word for two: ideal delays grow by 1 (AL) or by 1/2 (LAAL)
    doubled = sampled("a b c d e f g h", (1, 1, 2, 2, 3, 3, 4, 4))
    assert lagging(doubled, "de", adaptive=False) == pytest.approx((1 + 0 + 0 - 1 - 1 - 2 - 2) / 7)
    assert lagging(doubled, "de") == pytest.approx((4 * 1 + 3 * 0.5) / 7)


STAND_IN = f"""#!{sys.executable}
import json, pathlib, sys
request = json.loads(pathlib.Path(sys.argv[3]).read_text())
scores = [len(one["src"]) + 2 * len(one["mt"]) + 3 * len(one["ref"]) for one in request["samples"]]
pathlib.Path(sys.argv[4]).write_text(json.dumps(dict(scores=scores)))
"""


def test_comet_scores_a_whole_sample_in_its_own_environment(tmp_path):
    python = tmp_path / "python"
    with pytest.raises(UsageError, match=r"COMET is not installed .* or set quality to string"):
        CometQuality.installed(python, "cpu")
    python.write_text(STAND_IN)
    python.chmod(0o755)
    quality = CometQuality.installed(python, "cpu")
    group = [sampled("ab", (1, 1), "eins", "one"), sampled("", (), "zwei", "two words")]
    assert quality(group) == [3 + 4 + 12, 9 + 0 + 12]
