"""A row is corrected in its place, and its caption made again."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from app.captions.journal import read_session
from app.main_window.transcript_model import CAPTION, SOURCE


@pytest.fixture
def heard(listening_program):
    one = listening_program().open()
    one.hear()
    return one


def correct(one, row, text):
    """Edit the source of a row in the transcript, as by a double click and Enter."""
    table = one.window.transcript
    table.doubleClicked.emit(table.rows.index(row, CAPTION))
    editor = table.findChild(QLineEdit)
    assert editor is not None
    assert editor.text() == table.rows.views[row].source
    editor.setText(text)
    one.qtbot.keyClick(editor, Qt.Key.Key_Return)
    one.wait(lambda: table.findChild(QLineEdit) is None)


def row_of(one, row):
    view = one.window.transcript.rows.views[row]
    return view.source, view.caption


def test_a_misheard_row_is_edited_in_its_place_and_translated_again_everywhere(heard):
    n_rows = len(heard.rows())
    first = heard.rows()[0][1]
    correct(heard, 0, f"{first} Indeed it did.")
    text = f"{first} Indeed it did."
    heard.wait(lambda: row_of(heard, 0) == (text, text.upper()))
    assert len(heard.rows()) == n_rows, "it is no row of its own"
    keeper = heard.application.keeper
    heard.wait(lambda: keeper.cues[0].text == text.upper())
    assert keeper.cues[0].source == text
    heard.wait(lambda: read_session(keeper.running_journal).cues[0].text == text.upper())
    overlay = [view.caption for view in heard.application.captions._captions.readable]
    assert overlay[0] == text.upper(), "overlay, phones and pages show these"


def test_what_was_corrected_stays_so_whatever_the_session_still_reports(heard):
    correct(heard, 0, "Something else.")
    heard.wait(lambda: row_of(heard, 0) == ("Something else.", "SOMETHING ELSE."))
    key = heard.window.transcript.rows.views[0].key
    utterance = heard.application.bridge.utterances.with_key(key)
    heard.application.bridge.utterance_changed.emit(object(), utterance)
    assert row_of(heard, 0) == ("Something else.", "SOMETHING ELSE.")
    correct(heard, 0, "Once more.")
    heard.wait(lambda: row_of(heard, 0) == ("Once more.", "ONCE MORE."))


@pytest.mark.parametrize("text", ["", "  ", None])
def test_nothing_and_the_same_again_change_nothing(heard, text):
    before = row_of(heard, 0)
    n_calls = len(heard.engine.sessions[-1].calls)
    correct(heard, 0, before[0] if text is None else text)
    assert row_of(heard, 0) == before
    assert len(heard.engine.sessions[-1].calls) == n_calls


def test_few_corrected_words_are_offered_for_the_glossary(heard):
    words = heard.rows()[0][1].split()
    correct(heard, 0, " ".join([*words[:-1], "login."]))
    banner = heard.banner
    assert "Always write “login”?" in banner.sentence.text()
    heard.application.side_windows.glossary.add_name("login")
    assert heard.application.settings.translation.glossary == (("login", "login"),)
    banner.hide()
    correct(heard, 0, "All of it is another sentence than what was heard.")
    assert not banner.isVisible() or "Always" not in banner.sentence.text()


def test_only_complete_rows_of_the_running_session_are_edited(heard):
    rows = heard.window.transcript.rows
    assert rows.is_editable(rows.index(0, SOURCE))
    assert not rows.is_editable(rows.index(0, CAPTION))
    heard.application.archive.session_window.transcript.show_views(rows.views)
    read = heard.application.archive.session_window.transcript.rows
    assert not read.is_editable(read.index(0, SOURCE))
