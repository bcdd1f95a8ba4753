"""Sentences that screen readers and Braille lines say although the focus is elsewhere."""

from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent
from PySide6.QtWidgets import QWidget


def announce(widget: QWidget, sentence: str) -> None:
    """Let them say a sentence of a widget once they have said what they say now."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, sentence))
