import pytest

from engine.hub.catalogue import SPEECH_CHOICES, STREAMING_MODELS
from engine.speech.speed import SpeechPace

TINY, BASE, SMALL = SPEECH_CHOICES
(AT_ONCE,) = STREAMING_MODELS


@pytest.fixture(autouse=True)
def along(monkeypatch):
    """No model comes along; called, it makes one come."""
    came = []
    monkeypatch.setattr("engine.hub.catalogue.bundled_speech_model", lambda: bool(came))
    return lambda: came.append("one")


def test_what_comes_along_is_recommended_whatever_is_measured(along):
    along()
    pace = SpeechPace()
    assert pace.recommended == "moonshine.en"
    pace.take_speed(9e9, again=False)
    pace.note_behind("base.en")
    assert pace.recommended == "moonshine.en"


def test_nothing_is_recommended_before_it_is_certain():
    pace = SpeechPace()
    assert pace.recommended == ""
    pace.take_speed(BASE.pass_gflop, again=True)  # perhaps too slow, perhaps only busy
    assert pace.recommended == ""
    assert pace.load_of(BASE) is None
    assert pace.load_of(TINY) == pytest.approx(TINY.pass_gflop / BASE.pass_gflop)
    pace.take_speed(BASE.pass_gflop, again=False)
    assert pace.recommended == "tiny.en"
    assert pace.load_of(BASE) == 1.0


def test_what_is_fast_enough_by_one_measure_is_so_for_certain_and_stays():
    pace = SpeechPace()
    pace.take_speed(1.2 * BASE.pass_gflop, again=True)
    assert pace.recommended == "base.en"
    assert pace.load_of(SMALL) is None
    pace.take_speed(0.5 * BASE.pass_gflop, again=False)
    assert pace.recommended == "base.en"
    assert pace.load_of(BASE) < 1.0


@pytest.mark.parametrize(
    ("speed", "best"),
    [(0.0, "base.en"), (9e9, "base.en"), (1.2 * TINY.pass_gflop, "tiny.en"), (1.0, AT_ONCE)],
)
def test_the_best_that_keeps_up_is_recommended(speed, best):
    pace = SpeechPace()
    pace.take_speed(speed, again=False)
    assert pace.recommended == best


def test_what_fell_behind_is_not_recommended_whatever_was_foretold():
    pace = SpeechPace()
    pace.take_speed(9e9, again=False)
    pace.note_behind("base.en")
    assert pace.recommended == "tiny.en"
    assert [pace.fell_behind(one.name) for one in SPEECH_CHOICES] == [False, True, True]
    pace.note_behind("tiny.en")
    assert pace.recommended == AT_ONCE
    pace.note_behind(AT_ONCE)
    assert pace.recommended == AT_ONCE, "nothing is quicker"
    later = SpeechPace()
    later.note_behind("/models/my-own")
    later.note_behind("tiny.en")
    later.take_speed(9e9, again=False)
    assert later.recommended == AT_ONCE
