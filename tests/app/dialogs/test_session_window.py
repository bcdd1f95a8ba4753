"""Earlier sessions: listed, searched, shown again and exported."""

from dataclasses import replace
from datetime import timedelta

from PySide6.QtCore import Qt

from app.captions.cue_recorder import CueMarked
from app.captions.journal import past_sessions, read_session
from app.dialogs.session_window import SessionWindow
from app.dialogs.sessions_dialog import SessionsDialog
from app.main_window.transcript_model import CAPTION
from tests.support.app.journals import kept, written


def test_earlier_sessions_are_listed_exported_and_deleted(qtbot, tmp_path):
    dialog = SessionsDialog(tmp_path / "sessions")
    qtbot.addWidget(dialog)
    dialog.open_list()
    assert not dialog.export.isEnabled()
    assert "No earlier sessions" in dialog.message.text()
    written(tmp_path / "sessions", [kept(1)], close=False)
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


def test_a_session_is_shown_again_from_its_mark_or_its_beginning(qtbot, tmp_path, keeps_parts):
    window = SessionWindow()
    qtbot.addWidget(window)
    keeps_parts(window)
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
