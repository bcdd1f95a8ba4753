"""Lets shortcuts work in text fields that would use the same keys."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit


class ShortcutOverride(QObject):
    """Let the window handle the keys of its actions inside text fields.

    Text fields use many keys for editing, different ones on each system: on X11, Ctrl+E moves to
    the end.
    """

    def __init__(self, lines: Sequence[QLineEdit], parent: QObject) -> None:
        super().__init__(parent)
        self._keys = frozenset[QKeySequence]()
        for line in lines:
            line.installEventFilter(self)

    def use(self, keys: Sequence[QKeySequence]) -> None:
        """Set the keys that the window handles."""
        self._keys = frozenset(keys)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Decline the keys of the window on behalf of the text field."""
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        is_own = QKeySequence(event.keyCombination()) in self._keys
        if is_own:
            event.ignore()
        return is_own
