"""Who quits or pauses in the middle of a sentence finds it in the journal."""

import threading

from PySide6.QtCore import QTimer

from app.captions.journal import past_sessions
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.listening_program import SAID


def kept(tmp_path):
    return [
        (cue.speaker, cue.source, cue.text)
        for session in past_sessions(tmp_path / "sessions")
        for cue in session.cues
        if session.ended_well
    ]


def test_the_line_that_is_typed_when_the_window_closes_is_in_the_journal(program, tmp_path):
    one = program().open().wait_until_ready()
    one.type("We want to see the old house")
    one.window.close()
    assert kept(tmp_path) == [("", "We want to see the old house", "WE WANT TO SEE THE OLD HOUSE")]


def test_what_waits_for_the_model_when_the_window_closes_is_in_the_journal(program, tmp_path):
    may_load = threading.Event()
    one = program(FakeEngine(may_load=may_load)).open()
    one.say("Hello.")
    one.type("And you")
    QTimer.singleShot(20, may_load.set)
    one.window.close()
    assert kept(tmp_path) == [("", "Hello.", "HELLO."), ("", "And you", "AND YOU")]


def test_what_was_typed_during_a_pause_is_in_the_journal(program, tmp_path):
    one = program().open().wait_until_ready()
    one.window.controls.pause.click()
    one.say("Hello.")
    one.type("And you")
    one.window.close()
    assert kept(tmp_path) == [("", "Hello.", "HELLO."), ("", "And you", "AND YOU")]


def test_a_pause_ends_the_line_that_is_typed(program):
    one = program().open().wait_until_ready()
    one.type("We want to see")
    one.window.controls.pause.click()
    one.wait(lambda: bool(one.application.history.writer.cues))
    (cue,) = one.application.history.writer.cues
    assert (cue.source, cue.text) == ("We want to see", "WE WANT TO SEE")
    assert one.window.typed_line.text() == ""
    one.type("Not yet")
    one.window.controls.pause.click()  # to go on leaves the line alone
    assert one.window.typed_line.text() == "Not yet"


def test_what_is_said_when_the_window_closes_is_in_the_journal(listening_program, tmp_path):
    one = listening_program().open()
    one.press(one.bar.microphone)
    one.wait(lambda: one.speech.runs)
    one.window.close()
    said = kept(tmp_path)
    assert " ".join(source for _, source, _ in said) == SAID
    assert {lane for lane, _, _ in said} == {"me"}


def test_what_is_said_when_the_person_pauses_is_translated_during_the_pause(listening_program):
    one = listening_program().open()
    one.press(one.bar.microphone)
    one.wait(lambda: one.speech.runs)
    one.window.controls.pause.click()
    one.wait_for_sentence()
    one.wait(lambda: len(one.application.history.writer.cues) == 2)
    one.wait(lambda: one.run.sources["me"].stopped)


def test_an_end_that_takes_too_long_is_not_waited_for(program, monkeypatch, tmp_path):
    monkeypatch.setattr("app.controllers.application.PATIENCE_S", 0.05)
    may_load = threading.Event()  # never, until the session is stopped
    one = program(FakeEngine(may_load=may_load)).open()
    one.say("Hello.")
    one.window.close()
    assert kept(tmp_path) == []
    assert not one.window.isVisible()


def test_no_command_brings_a_window_back_that_is_closing(program):
    may_load = threading.Event()
    one = program(FakeEngine(may_load=may_load)).open()
    one.say("Hello.")
    seen = []

    def tell():
        one.application.obey("raise")
        seen.append(one.window.isVisible())
        may_load.set()

    QTimer.singleShot(10, tell)
    one.window.close()
    assert seen == [False]
