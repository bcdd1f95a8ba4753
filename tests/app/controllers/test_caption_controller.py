from dataclasses import replace
from datetime import UTC, datetime

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit

from app.captions.cues import Cue
from app.captions.journal import PastSession, read_session
from app.captions.model import UtteranceView
from app.config.preferences import (
    CaptionPreferences,
    Preferences,
    PreferencesFile,
    PrivacyPreferences,
)
from app.main_window.transcript_model import CAPTION, SOURCE
from engine.events import FeedWords
from tests.support.app.whole_program import cells


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
    keeper = heard.application.history.writer
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
    correct(heard, 0, before[0] if text is None else text)
    assert row_of(heard, 0) == before
    lanes = {call.lane for call in heard.session.calls if isinstance(call, FeedWords)}
    assert lanes == {"me"}, "nothing is translated again"


def test_what_had_no_caption_yet_is_translated_once_its_session_is_continued(heard, tmp_path):
    languages = {"source_language": "en", "language": "de"}
    cues = (
        Cue(start_s=1, end_s=2, text="Ja.", source="Yes.", **languages),
        Cue(start_s=3, end_s=4, text="", source="So it ended.", marked=True, **languages),
        Cue(start_s=5, end_s=6, text="", source="Tak.", source_language="pl", language="de"),
    )
    started = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    session = PastSession(
        path=tmp_path / "x", started=started, cues=cues, ended_well=False, damaged_lines=0
    )
    heard.application.captions.resume(session)
    writer = heard.application.history.writer
    heard.wait(lambda: writer.cues[1].text == "SO IT ENDED.")
    assert [replace(cue, text="", made_by="") for cue in writer.cues] == [
        replace(cue, text="") for cue in cues
    ]
    assert [cue.text for cue in writer.cues] == ["Ja.", "SO IT ENDED.", ""]
    assert cells(heard.window.transcript)[1] == ("So it ended.", "SO IT ENDED.")


def test_few_corrected_words_are_offered_for_the_glossary(heard):
    words = heard.rows()[0][1].split()
    correct(heard, 0, " ".join([*words[:-1], "login."]))
    banner = heard.banner
    assert "Always write “login”?" in banner.sentence.text()
    heard.application.glossary.add_name("login")
    assert heard.application.settings.translation.glossary == (("login", "login"),)
    banner.hide()
    correct(heard, 0, "All of it is another sentence than what was heard.")
    assert not banner.isVisible() or "Always" not in banner.sentence.text()


def test_only_complete_rows_of_the_running_session_are_edited(heard):
    rows = heard.window.transcript.rows
    assert rows.is_editable(rows.index(0, SOURCE))
    assert not rows.is_editable(rows.index(0, CAPTION))
    heard.application.history.session_window.transcript.show_views(rows.views)
    read = heard.application.history.session_window.transcript.rows
    assert not read.is_editable(read.index(0, SOURCE))


def marked(cues):
    return [one.source for one in cues if one.marked]


def test_words_that_wait_or_may_still_change_are_not_marked(program):
    transcript = program().window.transcript
    tail = UtteranceView(key=-1_000_000, tail="perhaps")
    waits = UtteranceView(key=-1, source="for the model")
    transcript.show_views([waits, tail])
    assert transcript.row_to_mark is None
    transcript.show_views([UtteranceView(key=4), waits, tail])
    assert transcript.row_to_mark == 0


def test_a_second_press_takes_the_bookmark_away_and_several_stay(one, tmp_path):
    for word in ("Good", "Tea", "Bad"):
        one.say_whole(word)
        press_mark(one)
    assert one.window.transcript.rows.marked_rows == [0, 1, 2]
    one.window.transcript.go_to(1)
    press_mark(one)
    assert one.window.transcript.rows.marked_rows == [0, 2]
    one.window.menu_actions.new_session.trigger()
    one.window.banner.offer.click()
    assert one.window.transcript.rows.marked_rows == [0, 2]
    assert marked(one.cues) == ["Good", "Bad"]
    one.window.close()
    assert journal_marks(tmp_path) == ["Good", "Bad"]


def press_mark(one):
    one.press_ctrl(Qt.Key.Key_M)


def journal_marks(tmp_path):
    journal = next((tmp_path / "sessions").glob("*/session.jsonl"))
    return marked(read_session(journal).cues)


def test_a_mark_that_is_set_before_the_caption_is_finished_is_in_the_journal(one, tmp_path):
    one.type("Good tea ")
    one.wait_for_rows(("Good tea", "GOOD TEA"))
    press_mark(one)
    one.press(Qt.Key.Key_Return)
    one.say("And on")
    one.wait(lambda: len(one.cues) == 2)
    one.window.close()
    assert journal_marks(tmp_path) == ["Good tea"]


def test_a_mark_of_a_row_of_the_model_before_is_in_the_journal(one, tmp_path):
    one.say_whole("Good tea")
    one.application.model.start_over()
    one.wait(lambda: len(one.engine.sessions) == 2)
    press_mark(one)
    one.window.close()
    assert journal_marks(tmp_path) == ["Good tea"]


@pytest.fixture
def only(program, tmp_path):
    """Make the program as it starts with captions only, on a computer without any model."""

    def make(mode="captions only", **privacy):
        preferences = Preferences(
            captions=CaptionPreferences(mode=mode), privacy=PrivacyPreferences(**privacy)
        )
        assert PreferencesFile(tmp_path / "settings.toml").write(preferences) is None
        return program(model=None)

    return make


def shown_lines(one):
    shown = one.application.overlay_controller.lines
    return [line.text for line in (*shown.source, *shown.lines)]


def test_it_starts_without_any_model_and_captions_what_is_typed(only, monkeypatch):
    monkeypatch.setattr("engine.hub.catalogue.bundled_models", list)
    one = only().open().wait_until_ready()
    assert one.engine.models == []
    assert not one.window.banner.isVisible()
    assert one.window.status.choices.text() == "English captions"
    one.say("Good morning.")
    one.wait_for_rows(("Good morning.", "Good morning."))
    assert one.window.transcript.isColumnHidden(CAPTION)
    assert one.overlay.accessibleDescription() == "Good morning."
    assert shown_lines(one) == ["Good morning."]


def test_both_languages_stand_in_the_overlay_and_on_the_page(only):
    one = only("both").open().wait_until_ready()
    one.say("Good tea.")
    one.wait_for_rows(("Good tea.", "GOOD TEA."))
    assert one.window.status.choices.text() == "English + German"
    assert shown_lines(one) == ["Good tea.", "GOOD TEA."]


def test_another_mode_loads_the_model_or_lets_it_go_and_keeps_what_was_said(one):
    one.say("Good.")
    one.wait_for_rows(("Good.", "GOOD."))
    one.type("And on ")
    one.wait_for_rows(("Good.", "GOOD."), ("And on", "AND ON"))
    one.window.choices.mode.pick("captions only")
    one.wait_for_rows(("Good.", "GOOD."), ("And on", "And on"))
    assert one.stored()["captions"]["mode"] == "captions only"
    one.press(Qt.Key.Key_Return)
    one.say("Yes.")
    rows = [("Good.", "GOOD."), ("And on", "And on"), ("Yes.", "Yes.")]
    one.wait_for_rows(*rows)
    one.wait(lambda: not one.application.bridge.utterances.open)  # else the next one captions it
    one.window.choices.mode.pick("translate")
    one.wait(lambda: len(one.engine.sessions) == 2)
    one.say("No.")
    one.wait_for_rows(*rows, ("No.", "NO."))
    one.window.choices.mode.pick("both")
    assert len(one.engine.sessions) == 2, "the same model goes on"
    assert cells(one.window.transcript)[-1] == ("No.", "NO.")
