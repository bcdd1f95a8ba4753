"""Who quits or pauses in the middle of a sentence finds it in the journal."""

import sys
import threading

import pytest
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QMessageBox

from app.captions.journal import past_sessions
from app.controllers.startup import FailedStart, NoAnswer
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.whole_program import SAID
from tests.support.programs.run import ran


def kept(tmp_path):
    return [
        (cue.speaker, cue.source, cue.text)
        for session in past_sessions(tmp_path / "sessions")
        for cue in session.cues
        if session.ended_well
    ]


def test_the_line_that_is_typed_when_the_window_closes_is_in_the_journal(one, tmp_path):
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


def test_what_was_typed_during_a_pause_is_in_the_journal(one, tmp_path):
    one.window.controls.pause.click()
    one.say("Hello.")
    one.type("And you")
    one.window.close()
    assert kept(tmp_path) == [("", "Hello.", "HELLO."), ("", "And you", "AND YOU")]


def test_a_pause_ends_the_line_that_is_typed(one):
    one.type("We want to see")
    one.window.controls.pause.click()
    one.wait(lambda: bool(one.cues))
    (cue,) = one.cues
    assert (cue.source, cue.text) == ("We want to see", "WE WANT TO SEE")
    assert one.window.typed_line.text() == ""
    one.type("Not yet")
    one.window.controls.pause.click()  # to go on leaves the line alone
    assert one.window.typed_line.text() == "Not yet"


def test_what_is_said_when_the_window_closes_is_in_the_journal(listening_program, tmp_path):
    one = listening_program().open()
    one.bar.microphone.button.click()
    one.wait(lambda: one.speech.runs)
    one.window.close()
    said = kept(tmp_path)
    assert " ".join(source for _, source, _ in said) == SAID
    assert {lane for lane, _, _ in said} == {"me"}


def test_what_is_said_when_the_person_pauses_is_translated_during_the_pause(listening_program):
    one = listening_program().open()
    one.bar.microphone.button.click()
    one.wait(lambda: one.speech.runs)
    one.window.controls.pause.click()
    one.wait_for_sentence()
    one.wait(lambda: len(one.cues) == 2)
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


START = r"""
import gc
import sys
from pathlib import Path
from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QApplication, QMessageBox
from app.controllers import startup
from tests.support.app.home import settings_in
folder = Path(sys.argv[1])

def look():
    box = QApplication.activeModalWidget()
    assert isinstance(box, QMessageBox)
    print(box.text(), box.informativeText(), sep="\n")
    box.reject()

class Broken:
    def __init__(self, settings, bridge):
        QTimer.singleShot(0, look)
        raise TypeError("'<' not supported")

startup.Application = Broken
settings = settings_in(folder, log_folder=folder / "logs")
exit_code = startup.run(settings)
assert not gc.isenabled()  # else Qt may wait for ever while it deletes the dialog
sys.exit(exit_code)
"""


def test_where_the_window_cannot_be_made_a_dialog_says_so_and_the_log_why(tmp_path):
    done = ran(sys.executable, "-c", START, tmp_path)
    log = tmp_path / "logs" / "surtitle.log"
    assert done.stdout.splitlines()[0] == "Surtitle could not open its window."
    assert "TypeError: '<' not supported" in done.stdout
    assert str(log) in done.stdout
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("surtitle: the window could not be opened (TypeError: '<' not")
    assert str(log) in sentence
    assert done.returncode == 1
    assert "Traceback" in log.read_text(encoding="utf-8")
    assert not (tmp_path / "logs" / "fault.log").exists()  # it is no crash of the interpreter


def test_its_details_are_the_traceback_and_what_a_reason_says_is_short_and_no_markup(
    qtbot, tmp_path
):
    def break_it():
        raise ValueError("<b>wrong</b>" * 1000)

    with pytest.raises(ValueError, match="wrong") as caught:
        break_it()
    box = FailedStart(caught.value, tmp_path)
    qtbot.addWidget(box)
    assert "in break_it" in box.detailedText()
    assert len(box.informativeText()) < 800
    assert box.textFormat() == Qt.TextFormat.PlainText


def test_both_reports_have_one_button_that_closes_them(qtbot, tmp_path):
    for box in (FailedStart(ValueError("wrong"), tmp_path), NoAnswer(4711)):
        qtbot.addWidget(box)
        assert box.standardButtons() == QMessageBox.StandardButton.Close
        assert box.windowTitle() == "Surtitle"
