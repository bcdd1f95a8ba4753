"""The page of the settings that changes the keys of actions."""

from dataclasses import replace

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QKeySequenceEdit, QLineEdit

from app.config.preferences import Preferences
from app.dialogs.settings.page import SettingsPage
from app.look.widgets.dialog_text import add_row, paragraph
from app.main_window.actions import Actions

_TYPING = ("Space", "Return", "Enter", "Tab", "Backtab", "Backspace", "Del", "Ins")
_MODIFIERS = (Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta)
_COMMAND = "surtitle\u00a0\u2060-\u2060-\u2060toggle"  # no line may break in it
_USUAL = (
    *("microphone", "system", "pause", "clear", "new_session", "overlay", "lock", "larger"),
    *("smaller", "find", "export", "settings"),
)
_NAVIGATION = ("Left", "Right", "Up", "Down", "Home", "End", "PgUp", "PgDown")


class KeysField(QKeySequenceEdit):
    """Record the keys that are pressed; Backspace removes them.

    Escape and Alt with a letter keep their meaning in the window.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setMaximumSequenceLength(1)
        line = self.findChild(QLineEdit)
        if line is not None:
            line.setPlaceholderText("–")  # Qt's own text is longer than the field

    def event(self, event: QEvent) -> bool:
        is_override = event.type() == QEvent.Type.ShortcutOverride
        if is_override and isinstance(event, QKeyEvent) and _steers_window(event):
            event.ignore()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if _steers_window(event):
            event.ignore()
        elif event.key() in _MODIFIERS:
            return  # Qt would empty the field before the other key is pressed
        elif event.key() == Qt.Key.Key_Backspace and not event.modifiers():
            self.clear()
            self.editingFinished.emit()
        else:
            super().keyPressEvent(event)


class ShortcutsPage(SettingsPage):
    """A field for the keys of each action, those of the usual ones first.

    Keys of another action, and keys that type text, are refused with a sentence.
    """

    def __init__(self, actions: Actions) -> None:
        super().__init__("")
        self.title = self.tr("Shortcuts")
        self._defaults = actions.default_keys
        self._names = {
            name: action.text().replace("&", "").removesuffix("…")
            for name, action in actions.by_name.items()
        }
        self.message = paragraph()
        self.message.setAccessibleName(self.tr("Result of the last edit"))
        self.form.addRow(self.message)
        self._add_fields()
        self._show_help()

    def fill(self, preferences: Preferences) -> None:
        for name, field in self.fields.items():
            keys = preferences.shortcuts.get(name, self._defaults[name])
            if field.keySequence() != QKeySequence(keys):
                field.setKeySequence(QKeySequence(keys))

    def read(self, preferences: Preferences) -> Preferences:
        """Return the preferences with all keys that are no defaults; unknown actions stay."""
        kept = {
            name: keys for name, keys in preferences.shortcuts.items() if name not in self.fields
        }
        keys = {name: field.keySequence().toString() for name, field in self.fields.items()}
        changed = {name: text for name, text in keys.items() if text != self._defaults[name]}
        return replace(preferences, shortcuts=kept | changed)

    def defaults(self, preferences: Preferences) -> Preferences:
        self._show_help()
        return replace(preferences, shortcuts={})

    def conflict(self, name: str) -> str | None:
        """Return what is wrong with the keys in a field, or None."""
        keys = self.fields[name].keySequence()
        if keys.isEmpty():
            return None
        shown = keys.toString(QKeySequence.SequenceFormat.NativeText)
        if _types_text(keys):
            text = self.tr("{} types text; combine it with Ctrl or Alt, or use a function key")
            return text.format(shown)
        for action, field in self.fields.items():
            if action != name and field.keySequence() == keys:
                text = self.tr("{} is already used by “{}”; nothing was changed")
                return text.format(shown, self._names[action])
        return None

    def _add_fields(self) -> None:
        self.fields: dict[str, KeysField] = {}
        others = [name for name in self._names if name not in _USUAL]
        for name in (*_USUAL, *others):
            text = self._names[name]
            field = KeysField()
            field.setAccessibleName(self.tr("Keys for {}").format(text))
            field.setObjectName(name)
            field.editingFinished.connect(self._take_keys)
            self.fields[name] = field
            add_row(self.form, text, field, field)

    @Slot()
    def _take_keys(self) -> None:
        name = self.sender().objectName()
        conflict = self.conflict(name)
        if conflict is None:
            self._show_help()
            self.take_edit()
        else:
            self.message.setText(conflict)
            self.fill(self._shown)

    def _show_help(self) -> None:
        text = self.tr(
            "Go to a field and press the keys; Backspace removes them. For a shortcut that works "
            "everywhere, bind a command such as {} in your desktop's settings."
        )
        self.message.setText(text.format(_COMMAND))


def _steers_window(event: QKeyEvent) -> bool:
    """Return whether these keys close a window or open one of its buttons or menus."""
    if event.modifiers() == Qt.KeyboardModifier.AltModifier:
        return Qt.Key.Key_A <= event.key() <= Qt.Key.Key_Z
    return event.key() == Qt.Key.Key_Escape and not event.modifiers()


def _types_text(keys: QKeySequence) -> bool:
    text = keys.toString(QKeySequence.SequenceFormat.PortableText)
    if any(modifier in text for modifier in ("Ctrl+", "Alt+", "Meta+")):
        return False
    key = text.removeprefix("Shift+")
    return len(key) == 1 or key in _TYPING + _NAVIGATION
