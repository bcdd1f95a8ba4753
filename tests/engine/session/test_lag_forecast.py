import random

import pytest

from engine.session.lag_forecast import Step, forecast


def test_a_model_that_costs_nothing_lags_by_what_its_policy_waits_for():
    steps = [Step(0, 3 * ((number + 1) // 3)) for number in range(9)]  # every third word
    found = forecast(steps, word_s=1)
    assert (found.median_s, found.load, found.computing_s) == (1, 0, 0)  # lags 2, 1, 0


def test_a_word_waits_until_those_before_it_are_done():
    steps = [Step(2.5, 1), Step(0.5, 2), Step(0, 3)]
    found = forecast(steps, word_s=1)
    # the first is done at 2.5; the second begins then and is done at 3; the third came at 2
    assert found.median_s == 2  # lags 2.5, 2 and 1


def test_lags_grow_without_end_where_a_second_of_speech_costs_more_than_a_second():
    slow = [Step(0.5, number + 1) for number in range(100)]
    twice = slow + [Step(0.5, number + 101) for number in range(100)]
    assert not forecast(slow).keeps_up
    assert forecast(twice).median_s > 1.9 * forecast(slow).median_s
    assert forecast(slow).load == pytest.approx(0.5 / 0.4)


def test_words_without_a_caption_are_left_out_and_none_at_all_is_an_error():
    assert forecast([Step(1, 0), Step(1, 1), Step(1, 1)], word_s=2).n_words == 3
    with pytest.raises(ValueError, match="caption"):
        forecast([Step(1, 0)])


def test_the_median_is_never_above_the_slow_words_and_never_below_computing_alone():
    rng = random.Random(0)
    for _ in range(200):
        n_covered, steps = 0, []
        for number in range(rng.randrange(2, 60)):
            n_covered = rng.randint(n_covered, number + 1)
            steps.append(Step(rng.random() * 0.6, n_covered))
        steps.append(Step(0.1, len(steps) + 1))
        found = forecast(steps)
        assert 0 <= found.median_s <= found.p95_s
        assert found.load == pytest.approx(sum(step.seconds for step in steps) / len(steps) / 0.4)
