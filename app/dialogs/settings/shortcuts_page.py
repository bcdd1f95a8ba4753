"""The page of the settings that gives actions other keys."""

from dataclasses import replace

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QFormLayout, QKeySequenceEdit, QLabel, QLineEdit, QScrollArea, QWidget

from app.config.preferences import Preferences
from app.dialogs.settings.pages import SettingsPage
from app.main_window.actions import Actions

_TYPING = ("Space", "Return", "Enter", "Tab", "Backtab", "Backspace", "Del", "Ins")
_MODIFIERS = (Qt.Key.Key_Control, Qt.Key.Key_Shift, Qt.Key.Key_Alt, Qt.Key.Key_Meta)
_GOING = ("Left", "Right", "Up", "Down", "Home", "End", "PgUp", "PgDown")


class KeysField(QKeySequenceEdit):
    """Take the keys that are pressed; Backspace takes them away.

    Escape and Alt with a letter do in the window what they do elsewhere.
    """

    def __init__(self) -> None:
        super().__init__()
        self.setMaximumSequenceLength(1)
        line = self.findChild(QLineEdit)
        if line is not None:
            line.setPlaceholderText("–")  # Qt's own text is longer than the field

    def event(self, event: QEvent) -> bool:
        """Leave the window its keys; all others are this field's."""
        is_asked = event.type() == QEvent.Type.ShortcutOverride
        if is_asked and isinstance(event, QKeyEvent) and _steers_window(event):
            event.ignore()
            return True
        return super().event(event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Record keys, but let Backspace alone mean none."""
        if _steers_window(event):
            event.ignore()
        elif event.key() in _MODIFIERS:
            return  # Qt would empty the field before it knows what comes with them
        elif event.key() == Qt.Key.Key_Backspace and not event.modifiers():
            self.clear()
            self.editingFinished.emit()
        else:
            super().keyPressEvent(event)


class ShortcutsPage(SettingsPage):
    """A field for the keys of each action.

    Two actions never have the same keys, and no keys are those that type text: such an edit is
    taken back, and a sentence says why.
    """

    def __init__(self, actions: Actions) -> None:
        super().__init__("")
        self.title = self.tr("Shortcuts")
        self._defaults = actions.default_keys()
        self._names = {
            name: action.text().replace("&", "").removesuffix("…")
            for name, action in actions.by_name.items()
        }
        self.told = QLabel(wordWrap=True)
        self.told.setTextFormat(Qt.TextFormat.PlainText)
        self.told.setAccessibleName(self.tr("What came of the last edit"))
        self.form.addRow(self.told)
        self.form.addRow(self._area())
        self._say_how()

    def fill(self, preferences: Preferences) -> None:
        """Show the keys of all actions."""
        for name, field in self.fields.items():
            keys = preferences.shortcuts.get(name, self._defaults[name])
            if field.keySequence() != QKeySequence(keys):
                field.setKeySequence(QKeySequence(keys))

    def read(self, preferences: Preferences) -> Preferences:
        """Read what differs from the keys that actions came with; keys of others' actions stay."""
        kept = {
            name: keys for name, keys in preferences.shortcuts.items() if name not in self.fields
        }
        keys = {name: field.keySequence().toString() for name, field in self.fields.items()}
        changed = {name: one for name, one in keys.items() if one != self._defaults[name]}
        return replace(preferences, shortcuts=kept | changed)

    def defaults(self, preferences: Preferences) -> Preferences:
        """Reset all keys."""
        self._say_how()
        return replace(preferences, shortcuts={})

    def conflict(self, name: str) -> str | None:
        """Say what is wrong with the keys that stand in a field; None where all is well."""
        keys = self.fields[name].keySequence()
        if keys.isEmpty():
            return None
        shown = keys.toString(QKeySequence.SequenceFormat.NativeText)
        if _types_text(keys):
            return self.tr("{} types text; take it with Ctrl or Alt, or a function key").format(
                shown
            )
        for other, field in self.fields.items():
            if other != name and field.keySequence() == keys:
                told = self.tr("{} already stands for “{}”; nothing was changed")
                return told.format(shown, self._names[other])
        return None

    def _area(self) -> QScrollArea:
        """Make the fields; they scroll, since a small screen has no room for all of them."""
        self.fields: dict[str, KeysField] = {}
        inner = QWidget()
        form = QFormLayout(inner)
        for name, text in self._names.items():
            field = KeysField()
            field.setAccessibleName(self.tr("Keys for {}").format(text))
            field.setObjectName(name)
            field.editingFinished.connect(self._take_keys)
            self.fields[name] = field
            form.addRow(text, field)
        area = QScrollArea(widgetResizable=True)
        area.setWidget(inner)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        return area

    @Slot()
    def _take_keys(self) -> None:
        """Take the edit of the field that tells it, or take it back."""
        name = self.sender().objectName()
        told = self.conflict(name)
        if told is None:
            self._say_how()
            self.take_edit()
        else:
            self.told.setText(told)
            self.fill(self._shown)

    def _say_how(self) -> None:
        self.told.setText(
            self.tr(
                "Go to a field and press the keys; Backspace takes them away. Keys that work in "
                "other programs, too, are given by the desktop: to surtitle --toggle and its like."
            )
        )


def _steers_window(event: QKeyEvent) -> bool:
    """Tell whether these keys close a window, or go to one of its buttons or menus."""
    if event.modifiers() == Qt.KeyboardModifier.AltModifier:
        return Qt.Key.Key_A <= event.key() <= Qt.Key.Key_Z
    return event.key() == Qt.Key.Key_Escape and not event.modifiers()


def _types_text(keys: QKeySequence) -> bool:
    """Tell whether these keys would be wanted for typing, or for going about the window."""
    text = keys.toString(QKeySequence.SequenceFormat.PortableText)
    if any(modifier in text for modifier in ("Ctrl+", "Alt+", "Meta+")):
        return False
    key = text.removeprefix("Shift+")
    return len(key) == 1 or key in _TYPING + _GOING
