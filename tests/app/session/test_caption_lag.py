from types import SimpleNamespace

import pytest

from app.session.caption_lag import CaptionLag, LagWatch
from app.session.engine_bridge import EngineBridge
from engine.events import (
    CaptionChanged,
    FedWord,
    FeedWords,
    Ready,
    SourceChanged,
    Statistics,
    UtteranceEnded,
    UtteranceOpened,
)
from tests.support.app.fake_engine import FakeEngine
from tests.support.hand_clock import HandClock

FIGURES = {
    "tokens_fed": 7,
    "forwards": 2,
    "tokens_recomputed": 0,
    "probes": 0,
    "cached_rows": 1,
    "ms_per_word": 12,
}


def after(lag, now_s, *, held_up=None, uncaptioned=None):
    lag.update(held_up_since_s=held_up, uncaptioned_since_s=uncaptioned, now_s=now_s)
    return lag


def test_the_lag_is_the_age_of_the_oldest_that_waits_and_grows_while_no_caption_comes():
    lag = CaptionLag()
    assert after(lag, 100.0).seconds is None
    assert after(lag, 100.0, held_up=98.9).seconds is None  # the newest sound, which may be silence
    assert after(lag, 100.0, held_up=97.0, uncaptioned=98.0).seconds == 3.0
    assert after(lag, 101.0, uncaptioned=98.0).seconds == 3.0
    assert after(lag, 174.0, held_up=100.0).seconds == 74.0


def test_it_catches_up_from_four_seconds_on_until_less_than_two_wait():
    lag = CaptionLag()
    ages = (1.0, 3.9, 4.1, 3.0, 2.1, 1.9, 3.0, None)
    told = [
        after(lag, 50.0, held_up=None if age is None else 50.0 - age).catches_up for age in ages
    ]
    assert told == [False, False, True, True, True, False, False, False]
    assert not after(lag, 50.0, uncaptioned=30.0).catches_up  # its policy waits for later words


def test_what_was_painted_tells_its_lag_for_some_seconds_and_not_in_silence():
    lag = CaptionLag()
    for late_s in (6.0, 2.0, 3.0):
        lag.paint(late_s, 10.0)
    assert after(lag, 11.0).seconds == 3.0
    assert after(lag, 14.9).seconds == 3.0
    assert after(lag, 15.1).seconds is None


def test_the_lag_of_a_call_does_not_stand_beside_the_first_captions_of_the_next():
    lag = CaptionLag()
    for _ in range(40):
        lag.paint(73.0, 10.0)
    lag.paint(2.0, 30.0)
    assert after(lag, 30.5).seconds == 2.0
    lag.forget()
    assert after(lag, 31.0).seconds is None


@pytest.fixture
def hearing(qtbot):  # noqa: ARG001  there must be an application
    """A bridge whose session is ready, with a watch and a clock set by hand."""

    class Hearing:
        def __init__(self):
            self.clock, self.sound_s = HandClock(), None
            self.clock.now_s = 100.0
            self.bridge = EngineBridge(FakeEngine().make, clock=self.clock)
            self.watch = LagWatch(self.bridge, lambda: self.sound_s, clock=self.clock)

        def feed(self, *said_s, lane="them", first=1):
            words = tuple(
                FedWord(f"w{number}", number=number, spoken_at_s=at_s, committed_at_s=at_s + 1)
                for number, at_s in enumerate(said_s, first)
            )
            self.bridge.send(FeedWords(words, lane))
            return words

        def begin(self):
            """Let a session take what waits."""
            self.bridge._session = SimpleNamespace(send=lambda _command: None)
            self.bridge._send_waiting()

        def open(self, number, words, lane="them"):
            self.bridge.take(UtteranceOpened(utterance=number, lane=lane))
            self.bridge.take(SourceChanged(utterance=number, words=words))

        def lag(self):
            self.watch.measure()
            return self.watch.lag

    one = Hearing()
    yield one
    one.watch.close()


def test_words_that_no_session_took_are_held_up_and_those_of_the_newest_sentence_are_not(hearing):
    words = hearing.feed(90.0, 91.0)
    assert hearing.lag().seconds == 10.0
    assert hearing.lag().catches_up
    hearing.begin()
    hearing.open(1, words)
    assert hearing.bridge.uncaptioned_since_s == (90.0, None)
    assert not hearing.lag().catches_up
    hearing.bridge.take(CaptionChanged(utterance=1, kept=0, text="Wort", n_read=1))
    assert hearing.bridge.uncaptioned_since_s == (91.0, None)
    later = hearing.feed(96.0, first=3)
    hearing.open(2, later)
    assert hearing.bridge.uncaptioned_since_s == (91.0, 91.0)
    hearing.bridge.take(UtteranceEnded(utterance=1))
    assert hearing.bridge.uncaptioned_since_s == (96.0, None)


def test_sound_that_waits_is_as_old_as_it_is(hearing):
    hearing.sound_s = 58.0
    assert hearing.lag().seconds == 42.0
    assert hearing.lag().catches_up
    hearing.sound_s = None
    assert hearing.lag().seconds is None


def test_seconds_of_a_timing_are_those_of_fifty_words_under_one_model(hearing):
    ready = Ready(model="echo", languages={}, load_s=0.25)
    hearing.bridge.take(ready)
    watch = hearing.watch
    assert (watch.step_s, watch.heard_s) == (0.0, None)
    hearing.open(2, hearing.feed(*range(10, 60), lane="me"), lane="me")
    hearing.bridge.take(CaptionChanged(utterance=2, kept=0, text="Wort", n_read=50))  # not painted
    hearing.open(1, hearing.feed(*range(40, 90)))
    for n_read, heard_s in ((49, None), (50, 35.0)):
        hearing.bridge.take(CaptionChanged(utterance=1, kept=0, text="Wort", n_read=n_read))
        watch.take_painted(hearing.bridge.utterances[1])
        assert watch.heard_s == heard_s
        hearing.clock.now_s += 1
    for ms in (30_000, 40, 200):  # of a long text that was pasted, a word, a few
        hearing.bridge.take(Statistics(**FIGURES | {"ms_per_word": ms}))
    assert watch.step_s == 0.04
    hearing.bridge.take(ready)
    assert (watch.step_s, watch.heard_s) == (0.0, None)


def test_diagnostics_have_the_model_the_counters_and_the_lag_of_each_stage(hearing):
    hearing.bridge.take(Ready(model="echo", languages={}, load_s=0.25))
    hearing.bridge.take(Statistics(**FIGURES))
    words = hearing.feed(98.0)
    hearing.open(1, words)
    hearing.bridge.take(CaptionChanged(utterance=1, kept=0, text="Wort", n_read=1))
    hearing.clock.now_s = 101.0
    hearing.watch.take_painted(hearing.bridge.utterances[1])
    facts = hearing.watch.facts
    assert (facts["model"], facts["loaded in s"], facts["tokens_fed"]) == ("echo", 0.2, 7)
    assert (facts["lag, recognised"], facts["lag, whole"]) == ("1.00 s", "3.00 s")
    assert facts["sound lost"] == "0.00 s"
    assert hearing.lag().seconds == 3.0
    hearing.watch.begin_listening()
    assert "lag, whole" not in hearing.watch.facts
