"""Tabs with enough height for all letters: Qt's own cut the dots off a capital Ü."""

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QTabBar, QTabWidget, QWidget

_ROOM = 6


class WideTabs(QTabWidget):
    """Tabs without scroll buttons: the window is wide enough for all of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabBar(_Bar())
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)


class _Bar(QTabBar):
    def tabSizeHint(self, index: int) -> QSize:
        """Add room above and below the text."""
        return super().tabSizeHint(index) + QSize(0, _ROOM)

    def minimumTabSizeHint(self, index: int) -> QSize:
        """Return the full size."""
        return self.tabSizeHint(index)
