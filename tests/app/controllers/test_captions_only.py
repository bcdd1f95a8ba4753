"""Captions of what is said, without a translation and without a model."""

import pytest
from PySide6.QtCore import Qt

from app.captions.export import export
from app.config.preferences import CaptionPreferences, Preferences, PrivacyPreferences
from app.config.preferences_file import PreferencesFile
from app.main_window.transcript_model import CAPTION
from tests.support.app.listening_program import SAID
from tests.support.app.whole_program import cells


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
    shown = one.application.stage.lines
    return [line.text for line in (*shown.source, *shown.lines)]


def say(one, text):
    one.type(text)
    one.press(Qt.Key.Key_Return)


def test_it_starts_without_any_model_and_captions_what_is_typed(only, monkeypatch):
    monkeypatch.setattr("engine.hub.bundled.bundled_models", list)
    one = only().open().wait_until_ready()
    assert one.engine.models == []
    assert not one.window.banner.isVisible()
    assert one.window.status.choices.text() == "English captions"
    say(one, "Good morning.")
    one.wait_for_rows(("Good morning.", "Good morning."))
    assert one.window.transcript.isColumnHidden(CAPTION)
    assert one.overlay.accessibleDescription() == "Good morning."
    assert shown_lines(one) == ["Good morning."]


def test_words_that_are_heard_are_captioned_too(listening_program, tmp_path):
    preferences = Preferences(captions=CaptionPreferences(mode="captions only"))
    PreferencesFile(tmp_path / "settings.toml").write(preferences)
    one = listening_program().open()
    one.press(one.bar.microphone)
    one.wait(lambda: one.texts("me") == (SAID, SAID))


def test_export_and_journal_have_the_source_and_its_language(only, tmp_path):
    one = only().open().wait_until_ready()
    say(one, "Good morning.")
    one.wait(lambda: bool(one.application.keeper.cues))
    (cue,) = one.application.keeper.cues
    assert (cue.text, cue.language) == ("Good morning.", "en")
    for content in ("captions", "source", "both"):
        path = tmp_path / f"{content}.txt"
        assert export(path, [cue], "txt", content) == 1
        assert path.read_text().split("\n")[0] == "Good morning."
        assert path.read_text().count("Good morning.") == 1


def test_both_languages_stand_in_the_overlay_and_on_the_page(only):
    one = only("both").open().wait_until_ready()
    say(one, "Good tea.")
    one.wait_for_rows(("Good tea.", "GOOD TEA."))
    assert one.window.status.choices.text() == "English + German"
    assert shown_lines(one) == ["Good tea.", "GOOD TEA."]


def test_another_mode_loads_the_model_or_lets_it_go_and_keeps_what_was_said(program):
    one = program().open().wait_until_ready()
    say(one, "Good.")
    one.wait_for_rows(("Good.", "GOOD."))
    one.type("And on ")
    one.wait_for_rows(("Good.", "GOOD."), ("And on", "AND ON"))
    one.window.choices.mode.pick("captions only")
    one.wait_for_rows(("Good.", "GOOD."), ("And on", "And on"))
    assert one.stored()["captions"]["mode"] == "captions only"
    one.press(Qt.Key.Key_Return)
    say(one, "Yes.")
    rows = [("Good.", "GOOD."), ("And on", "And on"), ("Yes.", "Yes.")]
    one.wait_for_rows(*rows)
    one.wait(lambda: not one.application.bridge.utterances.open)  # else the next one captions it
    one.window.choices.mode.pick("translate")
    one.wait(lambda: len(one.engine.sessions) == 2)
    say(one, "No.")
    one.wait_for_rows(*rows, ("No.", "NO."))
    one.window.choices.mode.pick("both")
    assert len(one.engine.sessions) == 2, "the same model goes on"
    assert cells(one.window.transcript)[-1] == ("No.", "NO.")
