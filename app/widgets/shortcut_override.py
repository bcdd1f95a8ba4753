"""Lets the keys of actions work in a line of text that would take them for its own."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QKeyEvent, QKeySequence
from PySide6.QtWidgets import QLineEdit


class ShortcutOverride(QObject):
    """Leave these keys to the window, wherever they are pressed in the lines that are given.

    A line takes more keys for editing than people know, other ones on every system: Ctrl+E goes to
    its end on X11.
    """

    def __init__(self, lines: Sequence[QLineEdit], parent: QObject) -> None:
        super().__init__(parent)
        self._keys = frozenset[QKeySequence]()
        for line in lines:
            line.installEventFilter(self)

    def use(self, keys: Sequence[QKeySequence]) -> None:
        """Leave these keys to the window from now on."""
        self._keys = frozenset(keys)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Answer for the line whether it wants a key instead of a shortcut."""
        if event.type() != QEvent.Type.ShortcutOverride or not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        is_own = QKeySequence(event.keyCombination()) in self._keys
        if is_own:
            event.ignore()
        return is_own
