from dataclasses import replace

import pytest
from PySide6.QtWidgets import QLabel, QWidget

from app.config.preferences import CaptionPreferences, Preferences
from app.dialogs.settings.dialog import SettingsDialog
from app.main_window.actions import Actions
from app.widgets.policy_names import policy_names
from tests.support.app.preferences import CHOSEN


@pytest.fixture
def dialog(qtbot):
    widget = SettingsDialog(policy_names(), Actions())
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def edits(dialog):
    told = []
    dialog.edited.connect(told.append)
    return told


@pytest.mark.parametrize("preferences", [Preferences(), CHOSEN])
def test_showing_preferences_changes_none_of_them(dialog, edits, preferences):
    dialog.show_preferences(preferences)
    assert edits == []
    for page in dialog.pages:
        assert page.read(preferences) == preferences


def test_a_change_is_told_at_once_and_keeps_the_rest(dialog, edits):
    dialog.show_preferences(CHOSEN)
    dialog.captions.letters.setValue(50)
    assert edits[-1] == replace(CHOSEN, captions=replace(CHOSEN.captions, point_size=50))
    dialog.overlay.lines.setValue(1)
    assert edits[-1].captions == replace(CHOSEN.captions, point_size=50, lines=1)
    dialog.privacy.page.setChecked(False)
    assert not edits[-1].privacy.page
    assert edits[-1].captions.lines == 1


def test_a_page_is_reset_and_the_others_stay(dialog, edits):
    dialog.show_preferences(CHOSEN)
    dialog.reset.click()
    own = CaptionPreferences()
    names = ("preset", "point_size", "outline", "shows", "smooth")
    kept = replace(CHOSEN.captions, **{name: getattr(own, name) for name in names})
    assert edits == [replace(CHOSEN, captions=kept)]
    for number in range(1, len(dialog.pages)):
        dialog.tabs.setCurrentIndex(number)
        dialog.reset.click()
    everything = replace(
        Preferences(),
        captions=replace(kept, lines=own.lines, characters=own.characters),
        model=CHOSEN.model,
        translation=replace(CHOSEN.translation, policy="read:3"),
        overlay=replace(
            Preferences().overlay,
            visible=CHOSEN.overlay.visible,
            hide_after_s=CHOSEN.overlay.hide_after_s,
        ),
        listening=replace(CHOSEN.listening, recognizer=Preferences().listening.recognizer),
    )
    assert edits[-1] == everything


def test_settings_are_exported_and_imported(dialog, edits, tmp_path):
    dialog.show_preferences(CHOSEN)
    dialog.export_to(tmp_path / "mine.toml")
    assert "were written" in dialog.notice.text()
    dialog.show_preferences(Preferences())
    dialog.import_from(tmp_path / "mine.toml")
    assert edits == [CHOSEN]
    edited = dialog.captions.read(Preferences()).captions
    assert (edited.preset, edited.point_size) == (CHOSEN.captions.preset, 40)


def test_a_file_that_is_none_of_ours_changes_nothing(dialog, edits, tmp_path):
    (tmp_path / "strange.toml").write_text("[[[")
    dialog.import_from(tmp_path / "strange.toml")
    assert edits == []
    assert "nothing was changed" in dialog.notice.text()
    assert not dialog.notice.isHidden()
    dialog.tabs.setCurrentIndex(1)
    assert dialog.notice.isHidden()  # of a page that is not seen any more


def test_every_field_has_a_name_for_screen_readers(dialog):
    for page in dialog.pages:
        for field in vars(page).values():
            if isinstance(field, QWidget) and not isinstance(field, QLabel):
                assert field.accessibleName() or getattr(field, "text", str)()


def test_a_policy_without_a_name_is_shown_as_it_is_written(dialog):
    odd = replace(CHOSEN, translation=replace(CHOSEN.translation, policy="read:7"))
    dialog.show_preferences(odd)
    assert dialog.translation.policy.currentText() == "read:7"
    assert dialog.translation.read(odd) == odd
