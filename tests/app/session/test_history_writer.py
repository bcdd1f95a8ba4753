import os
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from PySide6.QtCore import Qt

from app.captions.cue_recorder import CueMarked
from app.captions.journal import SessionJournal, past_sessions, read_session
from app.config.preferences import PrivacyPreferences
from app.dialogs.session_window import SessionWindow
from app.dialogs.sessions_dialog import SessionsDialog
from app.main_window.transcript_model import CAPTION
from engine.events import SourceChanged, UtteranceEnded, UtteranceOpened
from engine.words import FedWord
from tests.support.app.journals import kept, say, written
from tests.support.utterances import FedKeeper

ALL = PrivacyPreferences(journal=True, live_text=True)


@pytest.fixture
def keepers(qapp, tmp_path):  # noqa: ARG001  signals need it
    made = []

    def make(choices=ALL):
        made.append(FedKeeper(tmp_path, choices))
        return made[-1]

    yield make
    for keeper in made:
        keeper.close()


def test_what_is_said_goes_to_memory_journal_and_text_file(keepers, tmp_path):
    keeper = keepers()
    say(keeper, 0, "Guten\nMorgen.")
    say(keeper, 1, "Ja.")
    keeper.close()
    assert [cue.text for cue in keeper.cues] == ["Guten\nMorgen.", "Ja."]
    (session,) = past_sessions(tmp_path / "sessions")
    assert session.ended_well
    assert list(session.cues) == keeper.cues
    assert (tmp_path / "captions.txt").read_text() == "Guten Morgen.\nJa.\n"


@pytest.mark.skipif(os.name == "nt", reason="there files have no such rights")
@pytest.mark.parametrize(("chosen", "mode"), [(False, 0o600), (True, 0o644)])
def test_our_text_file_is_for_its_owner_alone_and_one_that_was_chosen_stays_as_it_is(
    keepers, tmp_path, chosen, mode
):
    path = tmp_path / "captions.txt"
    path.touch()
    path.chmod(0o644)
    keeper = keepers(replace(ALL, live_text_file=path if chosen else None))
    say(keeper, 0, "Ja.")
    keeper.use(replace(ALL, live_text_file=tmp_path / "deep" / "mine.txt"))
    say(keeper, 1, "Ja.")
    keeper.close()
    assert path.stat().st_mode & 0o777 == mode
    assert (tmp_path / "deep").stat().st_mode & 0o777 == 0o700
    assert (tmp_path / "deep" / "mine.txt").stat().st_mode & 0o777 == 0o600


def test_who_wants_no_files_gets_none(keepers, tmp_path):
    keeper = keepers(PrivacyPreferences(journal=False))
    say(keeper, 0, "Ja.")
    keeper.close()
    assert len(keeper.cues) == 1
    assert list(tmp_path.iterdir()) == []


def test_what_is_wanted_may_change_at_any_time(keepers, tmp_path):
    keeper = keepers(PrivacyPreferences(journal=False))
    say(keeper, 0, "Ohne.")
    keeper.use(replace(ALL, live_text_file=tmp_path / "there" / "mine.txt"))
    say(keeper, 1, "Mit.")
    keeper.use(PrivacyPreferences(journal=False))
    say(keeper, 2, "Ohne.")
    keeper.close()
    (session,) = past_sessions(tmp_path / "sessions")
    assert [cue.text for cue in session.cues] == ["Mit."]
    assert (tmp_path / "there" / "mine.txt").read_text() == "Mit.\n"


def test_a_folder_that_cannot_be_written_is_told_once_and_captions_go_on(keepers, tmp_path, qtbot):
    (tmp_path / "sessions").write_text("a file where the folder should be")
    keeper = keepers(PrivacyPreferences())
    told = []
    keeper.failed.connect(told.append)
    for number in range(5):
        say(keeper, number, "Ja.")
    keeper.close()
    qtbot.waitUntil(lambda: bool(told))
    qtbot.wait(20)
    assert len(told) == 1
    assert len(keeper.cues) == 5


def crashed(tmp_path, number):
    journal = SessionJournal(tmp_path / "sessions", datetime.now(UTC))
    journal.write(kept(number))
    os.close(journal._file)


def test_a_session_that_did_not_end_well_is_offered_until_it_was_taken(keepers, tmp_path):
    crashed(tmp_path, 3)
    keeper = keepers()
    assert keeper.lost_session is not None
    lost = keeper.take_lost_session()
    assert lost.cues == (kept(3).cue,)
    assert keeper.take_lost_session() is None
    assert keepers().lost_session is None


def test_a_session_is_offered_no_more_after_a_start_that_ended_well(keepers, tmp_path):
    crashed(tmp_path, 3)
    keepers().close()
    assert keepers().lost_session is None
    assert len(past_sessions(tmp_path / "sessions")) == 1


def test_earlier_sessions_are_listed_exported_and_deleted(qtbot, tmp_path):
    dialog = SessionsDialog(tmp_path / "sessions")
    qtbot.addWidget(dialog)
    dialog.open_list()
    assert not dialog.export.isEnabled()
    assert "No earlier sessions" in dialog.message.text()
    crashed(tmp_path, 1)
    dialog.open_list()
    label, words = dialog.list.item(0).text().split("\n")
    assert "1 caption (ended unexpectedly)" in label
    assert words == " ".join(kept(1).cue.text.split())
    with qtbot.waitSignal(dialog.export_wanted) as wanted:
        dialog.export.click()
    assert wanted.args[0].cues == (kept(1).cue,)
    with qtbot.waitSignal(dialog.show_wanted):
        dialog.show_again.click()
    for answer in (dialog.question.escapeButton(), dialog.question.defaultButton()):
        dialog.delete.click()
        assert "1 caption (ended unexpectedly)" in dialog.question.informativeText()
        answer.click()
        assert len(past_sessions(tmp_path / "sessions")) == 1
    dialog.delete.click()
    dialog.delete_for_good.click()
    assert dialog.list.count() == 0
    assert past_sessions(tmp_path / "sessions") == []


def test_sessions_are_searched_and_shown_where_the_text_is(qtbot, tmp_path):
    for number in (1, 2):
        crashed(tmp_path, number)
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
    for marks, rows in (((), []), ((CueMarked(key=50), CueMarked(key=55)), [50, 55])):
        path = written(tmp_path, [*(kept(number) for number in range(60)), *marks])
        window.show_session(read_session(path))
        assert window.transcript.rows.marked_rows == rows
        assert (rows or [0])[0] in window.transcript.visible_rows()
        assert window.message.text() == "60 captions"
    with qtbot.waitSignal(window.export_wanted) as wanted:
        window.export.click()
    assert wanted.args[0].path == path


def test_of_a_very_long_session_the_end_is_shown(qtbot, tmp_path, monkeypatch):
    monkeypatch.setattr("app.dialogs.session_window.MOST_SHOWN", 2)
    window = SessionWindow()
    qtbot.addWidget(window)
    window.show_session(read_session(written(tmp_path, map(kept, range(5)))))
    assert [view.source for view in window.transcript.rows.views] == ["Good 3", "Good 4"]
    assert window.message.text() == "The last 2 of 5 captions; an export has all"


def test_a_cue_that_was_heard_has_the_time_at_which_it_was_said(keepers):
    keeper = keepers()
    keeper.follow(UtteranceOpened(utterance=0, lane="me"))
    heard_s = time.monotonic()
    word = FedWord(
        "Good", committed_at_s=heard_s + 5, spoken_at_s=heard_s + 4.5, start_s=7, end_s=8.5
    )
    keeper.follow(SourceChanged(utterance=0, words=(word,)))
    keeper.follow(UtteranceEnded(utterance=0))
    (cue,) = keeper.cues
    assert cue.end_s - cue.start_s == pytest.approx(1.5)
    assert cue.start_s == pytest.approx(3.0, abs=2.0)
