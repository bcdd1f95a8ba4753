"""Tabs with room for all letters: the usual ones cut the dots off a capital Ü, the foot off a g."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QTabBar, QTabWidget, QWidget

_ROOM = 6


class WideTabs(QTabWidget):
    """Tabs that are all there, whatever the language: the window is as wide as they need."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabBar(_Bar())
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)


class _Bar(QTabBar):
    def tabSizeHint(self, index: int) -> QSize:
        """Leave room above and below the text."""
        return super().tabSizeHint(index) + QSize(0, _ROOM)

    def minimumTabSizeHint(self, index: int) -> QSize:
        """Need all of it."""
        return self.tabSizeHint(index)
