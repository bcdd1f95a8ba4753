import random
from types import SimpleNamespace

import pytest

from engine.session.lag_forecast import Step, forecast, measure_steps
from engine.translation.captioned import Change


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


class TwoByTwo:
    """Reads words in twos, each in half a second of its own clock."""

    now = 0.0

    def open(self):
        return SimpleNamespace(words=(), ended=False, n_read=0)

    def set_source(self, one, words, *, ended, **_):
        one.words, one.ended = words, ended

    def advance(self, one):
        n_new = min(2, len(one.words) - one.n_read)
        if n_new < (1 if one.ended else 2):
            return None
        one.n_read += n_new
        self.now += n_new / 2
        return Change(0, "", one.n_read)


def test_every_word_of_some_sentences_is_timed_until_the_time_is_up():
    def timed(limit_s):
        system = TwoByTwo()
        return measure_steps(system, ["a b c", "d e f."], limit_s, lambda: system.now)

    steps = [Step(0, 0), Step(1, 2), Step(0.5, 3), Step(0, 3), Step(1, 5), Step(0.5, 6)]
    assert [timed(limit_s) for limit_s in (99, 1.5, 1)] == [steps, steps[:3], steps[:2]]
