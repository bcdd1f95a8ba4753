"""Who quits or pauses in the middle of a sentence finds it in the journal."""

import threading
import time

import pytest
from PySide6.QtCore import Qt, QTimer

from app.captions.journal import past_sessions
from app.config.preferences import PrivacyPreferences
from app.config.system.event_wait import wait_until
from engine.events import (
    CaptionChanged,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.words import untimed
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.journals import opened
from tests.support.app.listening_program import SAID
from tests.support.utterances import FedKeeper, FedRecord


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
    one.type("Hello.")
    one.press(Qt.Key.Key_Return)
    one.type("And you")
    QTimer.singleShot(20, may_load.set)
    one.window.close()
    assert kept(tmp_path) == [("", "Hello.", "HELLO."), ("", "And you", "AND YOU")]


def test_what_was_typed_during_a_pause_is_in_the_journal(program, tmp_path):
    one = program().open().wait_until_ready()
    one.window.controls.pause.click()
    one.type("Hello.")
    one.press(Qt.Key.Key_Return)
    one.type("And you")
    one.window.close()
    assert kept(tmp_path) == [("", "Hello.", "HELLO."), ("", "And you", "AND YOU")]


def test_a_pause_ends_the_line_that_is_typed(program):
    one = program().open().wait_until_ready()
    one.type("We want to see")
    one.window.controls.pause.click()
    one.wait(lambda: bool(one.application.keeper.cues))
    (cue,) = one.application.keeper.cues
    assert (cue.source, cue.text) == ("We want to see", "WE WANT TO SEE")
    assert one.window.typed_line.text() == ""
    one.type("Not yet")
    one.window.controls.pause.click()  # to go on leaves the line alone
    assert one.window.typed_line.text() == "Not yet"


def test_an_empty_line_ends_nothing(program):
    one = program().open().wait_until_ready()
    one.type("  ")
    one.window.controls.pause.click()
    assert one.engine.sessions[0].calls == []


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
    one.wait(lambda: len(one.application.keeper.cues) == 2)
    one.wait(lambda: one.run.sources["me"].stopped)


def test_an_end_that_takes_too_long_is_not_waited_for(program, monkeypatch, tmp_path):
    monkeypatch.setattr("app.controllers.application.PATIENCE_S", 0.05)
    may_load = threading.Event()  # never, until the session is stopped
    one = program(FakeEngine(may_load=may_load)).open()
    one.type("Hello.")
    one.press(Qt.Key.Key_Return)
    one.window.close()
    assert kept(tmp_path) == []
    assert not one.window.isVisible()


def test_no_command_brings_a_window_back_that_is_closing(program):
    may_load = threading.Event()
    one = program(FakeEngine(may_load=may_load)).open()
    one.type("Hello.")
    one.press(Qt.Key.Key_Return)
    seen = []

    def tell():
        one.application.obey("raise")
        seen.append(one.window.isVisible())
        may_load.set()

    QTimer.singleShot(10, tell)
    one.window.close()
    assert seen == [False]


def test_what_is_not_translated_to_its_end_is_kept_as_it_is():
    record = FedRecord()
    opened(record, 0, "Good", "Gut", 1.0)
    record.follow(UtteranceEnded(utterance=0), 2.0)
    opened(record, 1, "Bad", "Schl", 3.0)
    opened(record, 2, "Gone", "Weg", 3.0)
    record.follow(UtteranceDropped(utterance=2), 3.5)
    (entry,) = record.flush(4.0)
    assert (entry.key, entry.cue.text, entry.cue.end_s) == (1, "Schl", 3.0)
    assert [cue.text for cue in record.cues] == ["Gut", "Schl"]
    assert record.flush(5.0) == []
    record.follow(CaptionChanged(utterance=0, kept=1, text="enau", n_read=1), 6.0)
    assert [entry.cue.text for entry in record.flush(7.0)] == ["Genau"]


def test_an_end_without_patience_keeps_the_sentence_as_far_as_it_came(qapp, tmp_path):  # noqa: ARG001
    keeper = FedKeeper(tmp_path, PrivacyPreferences())
    for event in (
        UtteranceOpened(utterance=0),
        SourceChanged(utterance=0, words=untimed(("Good", "morn"))),
        CaptionChanged(utterance=0, kept=0, text="Guten", n_read=1),
    ):
        keeper.follow(event)
    keeper.close()
    assert kept(tmp_path) == [("", "Good morn", "Guten")]


@pytest.mark.parametrize("comes", [True, False])
def test_waiting_serves_the_event_loop_and_ends(qapp, comes):  # noqa: ARG001  it has the loop
    came = []
    if comes:
        QTimer.singleShot(1, lambda: came.append(True))
    began_s = time.monotonic()
    assert wait_until(lambda: bool(came), 60.0 if comes else 0.0) == comes
    assert time.monotonic() - began_s < 60.0
