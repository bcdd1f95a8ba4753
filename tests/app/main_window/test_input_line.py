"""The line for typed words in the main window."""

import sys

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.captions.model import UtteranceView


def test_undoing_after_enter_brings_no_sentence_back_that_is_a_caption_already(qtbot, window):
    line, said = window.typed_line, []
    line.words_changed.connect(said.append)
    qtbot.keyClicks(line, "Good morning")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    line.undo()
    line.finish()
    assert line.text() == ""
    assert said[-1:] == [("Good", "morning")]
    assert len(said) == 2  # with the first blank, and with Enter


def test_a_correction_is_told_once_when_the_cursor_leaves_the_word(qtbot, window, monkeypatch):
    monkeypatch.setattr("app.main_window.input_line._now_ms", lambda: 5_000)
    line, said = window.typed_line, []
    qtbot.keyClicks(line, "I like tea, ")
    line.words_changed.connect(said.append)
    line.setCursorPosition(3)
    qtbot.keyClicks(line, "ov")
    assert said == []
    line.setCursorPosition(0)
    assert said == [("I", "lovike", "tea,")]


def test_after_a_sentence_mark_the_last_word_is_told_0_7_seconds_later(qtbot, window, monkeypatch):
    now_ms, line, said = [5_000], window.typed_line, []
    monkeypatch.setattr("app.main_window.input_line._now_ms", lambda: now_ms[0])
    line.words_changed.connect(said.append)
    qtbot.keyClicks(line, "Done.")
    assert (said, line._timer.interval()) == ([], 700)
    now_ms[0] += 700
    line._timer.timeout.emit()
    assert said == [("Done.",)]
    assert not line._timer.isActive()


def test_lines_that_are_pasted_are_sent_at_once(qtbot, window):
    line, parts, whole = window.typed_line, [], []
    qtbot.keyClicks(line, "So ")
    line.words_changed.connect(parts.append)
    line.lines_pasted.connect(whole.append)
    QGuiApplication.clipboard().setText("first one\n\nthe second\n" * 10 + "re")
    line.paste()
    assert parts == []
    lines = [("first", "one"), ("the", "second")] * 10
    assert whole == [(("So", "first", "one"), *lines[1:])]
    qtbot.keyClicks(line, "st ")
    assert parts == [("rest",)]


def test_what_is_typed_after_a_click_on_a_row_stands_in_the_line(qtbot, window):
    table = window.transcript
    table.show_views((UtteranceView(key=1, lane="", source="One.", caption="Eins."),))
    table.setFocus()
    qtbot.keyClick(table, "H")
    qtbot.keyClicks(window.focusWidget(), "ello there")
    assert window.typed_line.text().lower() == "hello there"
    assert window.focusWidget() is window.typed_line


def test_keys_of_shortcuts_are_no_letters(qtbot, window):
    window.transcript.setFocus()
    qtbot.keyClick(window.transcript, "b", Qt.KeyboardModifier.AltModifier)
    qtbot.keyClick(window.transcript, Qt.Key.Key_Down)
    assert window.typed_line.text() == ""


@pytest.mark.skipif(sys.platform == "darwin", reason="there Alt makes letters")
def test_a_letter_with_alt_that_names_nothing_is_not_typed(qtbot, window):
    window.find_bar.open_bar()
    for line in (window.typed_line, window.find_bar.line):
        qtbot.keyClick(line, "k", Qt.KeyboardModifier.AltModifier)
        assert line.text() == ""
        qtbot.keyClicks(line, "kK")
        assert line.text() == "kK"


def test_f10_opens_the_first_menu(qtbot, window):
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    qtbot.keyClick(window.typed_line, Qt.Key.Key_F10)
    menu = window.menuBar().actions()[0].menu()
    qtbot.waitUntil(menu.isVisible)
    menu.close()


def test_words_that_wait_can_be_skipped_while_they_are_many(window):
    status = window.status
    status.show_ready()
    assert not status.skip.isVisible()
    status.show_backlog(300)
    assert status.skip.isVisible()
    status.show_backlog(0)
    assert not status.skip.isVisible()


def test_tab_leads_on_to_the_choices_of_captions_also_past_an_open_search(qtbot, window):
    window.find_bar.show()
    qtbot.keyClick(window.typed_line, Qt.Key.Key_Tab)
    assert window.focusWidget() is window.status.choices
