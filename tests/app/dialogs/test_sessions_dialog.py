from datetime import datetime

import pytest

from app.captions.cue_recorder import CueKept
from app.captions.cues import Cue, FurtherText
from app.captions.journal import SessionJournal
from app.dialogs import sessions_dialog as module
from app.dialogs.sessions_dialog import SessionsDialog


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


def test_where_nothing_is_found_nothing_can_be_done_and_it_is_said(dialog):
    dialog.search.setText("umbrella")
    assert dialog.message.text() == "No session contains this text."
    assert not any(one.isEnabled() for one in (dialog.show_again, dialog.export, dialog.delete))
    dialog.search.clear()
    assert dialog.message.text() == ""
    assert all(one.isEnabled() for one in (dialog.show_again, dialog.export, dialog.delete))


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


def test_without_a_selection_nothing_can_be_done(dialog):
    dialog.list.setCurrentRow(-1)
    assert not any(one.isEnabled() for one in (dialog.show_again, dialog.export, dialog.delete))
    dialog.list.setCurrentRow(1)
    assert all(one.isEnabled() for one in (dialog.show_again, dialog.export, dialog.delete))


def test_all_that_it_tells_and_asks_is_in_the_window(dialog, keeps_parts):
    keeps_parts(dialog)
