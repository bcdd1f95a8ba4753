"""Sentences that screen readers and Braille lines say although the focus is elsewhere."""

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, sentence: str) -> None:
    """Let screen readers say a sentence once they have finished the one before."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, sentence))
