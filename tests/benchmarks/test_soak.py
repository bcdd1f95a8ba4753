import pytest

from benchmarks.soak import lags_s, n_other, soak, talk
from engine.metrics.event_log import EventLog
from engine.settings import TranslationSettings
from engine.translation.factory import make_system
from tests.support.fakes import tiny_weights

CAPACITY = 600


def make():
    settings = TranslationSettings(policy="read:3")
    return make_system("slots", tiny_weights(), settings, capacity=CAPACITY, log=EventLog())


def test_a_talk_is_the_same_each_time_and_long_enough():
    words = list(talk(500))
    assert words == list(talk(500))
    assert words != list(talk(500, seed=1))
    assert 500 <= len(words) < 530
    assert words[-1].endswith((".", "?", "!"))


def test_a_word_waits_for_the_ones_before_it():
    assert lags_s([0.1, 0.1, 0.1], 1.0) == pytest.approx([0.1, 0.1, 0.1])
    assert lags_s([1.5, 0.2, 0.2, 0.2], 1.0) == pytest.approx([1.5, 0.7, 0.2, 0.2])
    assert lags_s([2.0] * 4, 1.0) == pytest.approx([2.0, 3.0, 4.0, 5.0])


def test_a_caption_that_drifted_is_counted():
    found = soak(make(), list(talk(60)), 1)
    words, caption = found.kept[0]
    assert n_other([(words, caption), (words, caption + "x")], make) == 1


@pytest.mark.slow
def test_a_long_talk_leaves_nothing_behind():
    found = soak(make(), list(talk(250)), 4)
    assert found.n_words >= 250
    assert found.n_utterances > 20
    assert len(found.kept) == found.n_utterances // 4
    assert found.most_rows < CAPACITY
    assert found.growth < 5
    assert n_other(found.kept, make) == 0
