from dataclasses import replace

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QKeySequence

from app.config.preferences import Preferences
from app.dialogs.settings.shortcuts_page import ShortcutsPage
from app.main_window.actions import Actions

Key, Modifier = Qt.Key, Qt.KeyboardModifier


class Desk:
    """A page, its actions, and what it told."""

    def __init__(self, qtbot):
        self.qtbot = qtbot
        self.actions = Actions()
        self.page = ShortcutsPage(self.actions)
        qtbot.addWidget(self.page)
        self.page.show_preferences(Preferences())
        self.edits = []
        self.page.edited.connect(self.edits.append)

    def press(self, name, key, modifier=Modifier.NoModifier):
        """Press keys in a field and leave it."""
        field = self.page.fields[name]
        with self.qtbot.waitSignal(field.editingFinished):
            self.qtbot.keyClick(field, key, modifier)

    def keys(self, name):
        return self.page.fields[name].keySequence().toString()


@pytest.fixture
def desk(qtbot):
    return Desk(qtbot)


def test_every_action_has_a_field_with_its_keys(desk):
    assert set(desk.page.fields) == set(desk.actions.by_name)
    for name, action in desk.actions.by_name.items():
        assert desk.page.fields[name].keySequence() == action.shortcut()
        assert desk.page.fields[name].accessibleName()


def test_no_two_actions_come_with_the_same_keys(desk):
    keys = [one for one in desk.actions.default_keys.values() if one]
    assert len(set(keys)) == len(keys)
    assert all(desk.page.conflict(name) is None for name in desk.page.fields)


def test_keys_are_told_and_only_those_that_are_others(desk):
    desk.press("pause", Key.Key_F9)
    assert desk.edits[-1].shortcuts == {"pause": "F9"}
    desk.press("pause", Key.Key_P, Modifier.ControlModifier)
    assert desk.edits[-1].shortcuts == {}


def test_keys_that_another_action_has_are_taken_back_and_it_is_named(desk):
    desk.press("pause", Key.Key_L, Modifier.ControlModifier)
    assert desk.edits == []
    assert desk.keys("pause") == "Ctrl+P"
    assert "Ctrl+L" in desk.page.message.text()
    assert "Clear" in desk.page.message.text()


@pytest.mark.parametrize("key", [Key.Key_A, Key.Key_Space, Key.Key_Return, Key.Key_Left])
def test_keys_that_type_text_are_taken_back(desk, key):
    desk.press("pause", key)
    assert desk.edits == []
    assert desk.keys("pause") == "Ctrl+P"
    assert "types text" in desk.page.message.text()


def test_escape_and_alt_with_a_letter_are_the_windows_own(program, qtbot):
    one = program().open()
    dialog = one.application.settings_dialog
    one.window.menu_actions.settings.trigger()
    dialog.open_page(dialog.shortcuts)
    field = dialog.shortcuts.fields["pause"]
    field.setFocus()
    qtbot.keyClick(field, Key.Key_R, Modifier.AltModifier)
    assert field.keySequence().toString() == "Ctrl+P"
    qtbot.keyClick(field, Key.Key_Escape)
    assert field.keySequence().toString() == "Ctrl+P"
    assert not dialog.isVisible()


def test_a_field_is_cleared_for_an_action_without_keys(desk):
    desk.qtbot.keyClick(desk.page.fields["clear"], Key.Key_Backspace)
    assert desk.edits[-1].shortcuts == {"clear": ""}
    desk.press("pause", Key.Key_L, Modifier.ControlModifier)  # free now
    assert desk.edits[-1].shortcuts == {"clear": "", "pause": "Ctrl+L"}


def test_the_page_is_reset_to_the_keys_that_actions_came_with(desk):
    changed = replace(Preferences(), shortcuts={"pause": "F9", "of the future": "F8"})
    desk.page.show_preferences(changed)
    assert desk.keys("pause") == "F9"
    assert desk.page.defaults(changed) == Preferences()


def test_keys_of_actions_that_this_version_does_not_know_are_kept(desk):
    desk.page.show_preferences(replace(Preferences(), shortcuts={"of the future": "F8"}))
    desk.press("pause", Key.Key_F9)
    assert desk.edits[-1].shortcuts == {"of the future": "F8", "pause": "F9"}


def test_keys_that_nobody_understands_are_none(desk):
    desk.actions.use_shortcuts({"pause": "Hyper+Nonsense+?"})
    assert desk.actions.pause.shortcut().isEmpty()
    desk.actions.use_shortcuts({})
    assert desk.actions.pause.shortcut() == QKeySequence("Ctrl+P")
    assert len(desk.actions.larger.shortcuts()) == 2


def test_other_keys_work_at_once_are_stored_and_named_on_the_button(one):
    chosen = one.application.settings
    chosen.choose(replace(chosen.preferences, shortcuts={"pause": "F9", "lock": ""}))
    one.press(Key.Key_P, Modifier.ControlModifier)
    assert not one.window.controls.pause.isChecked()
    one.press(Key.Key_F9)
    assert one.window.controls.pause.isChecked()
    assert "F9" in one.window.controls.pause.toolTip()
    assert "(Ctrl+O)" in one.window.controls.overlay.toolTip()
    assert one.window.menu_actions.lock.shortcut().isEmpty()
    assert one.stored()["shortcuts"] == {"pause": "F9", "lock": ""}
