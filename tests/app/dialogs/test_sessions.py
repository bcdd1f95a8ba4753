from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from PySide6.QtCore import Qt

from app.captions.cue_recorder import CueKept
from app.captions.cues import Cue, FurtherText
from app.captions.journal import SessionJournal, read_session
from app.dialogs import sessions as module
from app.dialogs.sessions import SessionsDialog, SessionWindow
from app.main_window.transcript_model import CAPTION
from tests.support.app.journals import kept, written


def test_sessions_are_searched_and_shown_where_the_text_is(qtbot, tmp_path):
    for number in (1, 2):
        written(tmp_path / "sessions", [kept(number)], close=False)
    dialog, window = SessionsDialog(tmp_path / "sessions"), SessionWindow()
    for one in (dialog, window):
        qtbot.addWidget(one)
    dialog.open_list()
    dialog.show_wanted.connect(window.show_session)
    assert dialog.list.count() == 2
    dialog.search.setText("gOOD 2 ")
    assert dialog.list.count() == 1
    dialog.show_again.click()
    assert (window.find_bar.line.text(), window.find_bar.answer.text()) == ("gOOD 2", "1 of 1")
    assert window.find_bar.isVisible()
    assert window.transcript.currentIndex().row() == 0
    qtbot.keyClick(window.find_bar.line, Qt.Key.Key_Escape)
    assert not window.find_bar.isVisible()
    assert window.isVisible()
    window.search.click()
    assert window.find_bar.isVisible()
    dialog.search.setText("nowhere")
    assert dialog.list.count() == 0
    assert not dialog.delete.isEnabled()
    assert dialog.message.text() == "No session contains this text."
    dialog.search.clear()
    assert dialog.list.count() == 2
    dialog.show_again.click()
    assert not window.find_bar.isVisible()


def test_a_session_names_its_languages_and_hides_what_repeats_the_source(qtbot, tmp_path):
    window = SessionWindow()
    qtbot.addWidget(window)
    entry = kept(0)
    for cue, titles, is_hidden in (
        (replace(entry.cue, language="fr", source_language=""), ("English", "French"), False),
        (replace(entry.cue, language="fr", source_language="pl"), ("Polish", "French"), False),
        (
            replace(entry.cue, text=entry.cue.source, source_language="pl"),
            ("Polish", "Polish"),
            True,
        ),
    ):
        window.show_session(read_session(written(tmp_path, [replace(entry, cue=cue)])))
        rows = window.transcript.rows
        assert tuple(rows.headerData(one, Qt.Orientation.Horizontal) for one in (0, 1)) == titles
        assert window.transcript.isColumnHidden(CAPTION) == is_hidden
        begun = window._session.started + timedelta(seconds=cue.start_s)
        assert rows.views[0].begun_s == begun.timestamp()


def test_a_session_is_shown_again_from_its_mark_or_its_beginning(qtbot, tmp_path):
    window = SessionWindow()
    qtbot.addWidget(window)
    for rows in ([], [50, 55]):
        path = written(tmp_path, [kept(number, marked=number in rows) for number in range(60)])
        window.show_session(read_session(path))
        assert window.transcript.rows.marked_rows == rows
        assert (rows or [0])[0] in window.transcript.visible_rows()
        assert window.message.text() == "60 captions"
    with qtbot.waitSignal(window.export_wanted) as wanted:
        window.export.click()
    assert wanted.args[0].path == path


def test_of_a_very_long_session_the_end_is_shown(qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("app.dialogs.sessions.MOST_SHOWN", 2)
    window = SessionWindow()
    qtbot.addWidget(window)
    window.show_session(read_session(written(tmp_path, map(kept, range(5)))))
    assert [view.source for view in window.transcript.rows.views] == ["Good 3", "Good 4"]
    assert window.message.text() == "The last 2 of 5 captions; an export has all"


def write(folder, day, *cues, ended_well=True):
    journal = SessionJournal(folder, datetime(2026, 11, day, 9, 30).astimezone())
    for number, cue in enumerate(cues):
        journal.write(CueKept(key=number, cue=cue))
    if ended_well:
        journal.close()
    return journal


def cue(source, text, **more):
    return Cue(start_s=1, end_s=2, source=source, text=text, language="de", **more)


@pytest.fixture
def dialog(qtbot, tmp_path):
    french = (FurtherText(language="fr", text="le jardin"),)
    write(
        tmp_path, 18, cue("The garden", "Der Garten", further=french), cue("It rains", "Es regnet")
    )
    write(tmp_path, 19, cue("Good morning", "Guten Morgen"), ended_well=False).close()
    one = SessionsDialog(tmp_path)
    qtbot.addWidget(one)
    one.shown, one.exported = [], []
    one.show_wanted.connect(lambda session, text: one.shown.append((session, text)))
    one.export_wanted.connect(one.exported.append)
    one.read()
    return one


def listed(one):
    return [one.list.item(row).text().splitlines() for row in range(one.list.count())]


def test_the_newest_session_is_first_and_its_first_words_tell_it_from_others(dialog):
    assert listed(dialog) == [
        ["2026-11-19 09:30, 1 caption", "Guten Morgen"],
        ["2026-11-18 09:30, 2 captions", "Der Garten Es regnet"],
    ]
    assert dialog.list.currentRow() == 0
    assert dialog.message.text() == ""


@pytest.mark.parametrize("text", ["GARDEN", "garten ", "le jardin"])
def test_a_search_finds_words_of_either_language_and_of_a_second_one(dialog, text):
    dialog.search.setText(text)
    assert [lines[1] for lines in listed(dialog)] == ["Der Garten Es regnet"]
    dialog.show_again.click()
    ((session, told),) = dialog.shown
    assert session.begun.day == 18
    assert told == text.strip()


def test_the_selected_session_is_exported(dialog):
    dialog.list.setCurrentRow(1)
    dialog.export.click()
    assert [one.begun.day for one in dialog.exported] == [18]


def test_a_session_is_deleted_once_that_was_answered_and_no_other_with_it(dialog):
    dialog.list.setCurrentRow(1)
    dialog.delete.click()
    assert dialog.question.informativeText() == "2026-11-18 09:30, 2 captions"
    dialog.question.defaultButton().click()
    assert len(listed(dialog)) == 2
    dialog.delete.click()
    dialog.delete_for_good.click()
    assert [lines[1] for lines in listed(dialog)] == ["Guten Morgen"]


def test_a_session_that_is_gone_already_is_deleted_without_a_word(dialog):
    dialog._chosen().path.unlink()
    dialog.delete.click()
    dialog.delete_for_good.click()
    assert dialog.message.text() == ""
    assert len(listed(dialog)) == 1


def test_a_session_that_cannot_be_deleted_stays_and_it_is_said(dialog, monkeypatch):
    def refuse(_session):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(module, "delete_session", refuse)
    dialog.delete.click()
    dialog.delete_for_good.click()
    assert dialog.message.text().startswith("The session cannot be deleted: ")
    assert len(listed(dialog)) == 2


def test_a_session_that_crashed_says_so_and_one_without_captions_is_not_listed(tmp_path, qtbot):
    crashed = write(tmp_path, 20, cue("Good night", "Gute Nacht"), ended_well=False)
    empty = write(tmp_path, 21, ended_well=False)
    one = SessionsDialog(tmp_path)
    qtbot.addWidget(one)
    one.read()
    assert listed(one) == [["2026-11-20 09:30, 1 caption (ended unexpectedly)", "Gute Nacht"]]
    crashed.close()
    empty.close()


def test_long_captions_are_cut_and_no_session_at_all_is_said(tmp_path, qtbot):
    one = SessionsDialog(tmp_path / "none")
    qtbot.addWidget(one)
    one.read()
    assert one.message.text() == "No earlier sessions."
    words = " ".join(f"Wort{number:02}" for number in range(20))
    write(tmp_path, 20, *[cue("word", words)] * 2)
    one = SessionsDialog(tmp_path)
    qtbot.addWidget(one)
    one.read()
    (lines,) = listed(one)
    assert lines[1] == f"{words[:69]}…"
    assert words[69] == " "
