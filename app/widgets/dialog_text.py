"""Text and buttons that dialogs share: paragraphs, sentences, and the button that closes."""

import re

from PySide6.QtCore import Qt
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialogButtonBox, QLabel

_ENDS = (".", "!", "?", "…")
_WORD = re.compile(r"[^\W\d_]+(?:[’']\w+)?[,:;]?(?=\s|$)")


def as_sentence(message: str) -> str:
    """Begin with a capital letter and end with a full stop.

    What begins with a name of a file, a model or an adapter keeps it as it is spelt.
    """
    starts_with_word = _WORD.match(message) is not None
    text = message[:1].upper() + message[1:] if starts_with_word else message
    return text if not text or text.endswith(_ENDS) else f"{text}."


def paragraph(text: str = "") -> QLabel:
    """Make a text that wraps, and that a screen reader reads as it stands."""
    label = QLabel(text, wordWrap=True)
    label.setTextFormat(Qt.TextFormat.PlainText)
    return label


def close_button() -> QDialogButtonBox:
    """Make a row that holds the button; without Qt's picture, black also on dark desktops."""
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    box.button(QDialogButtonBox.StandardButton.Close).setIcon(QIcon())
    return box
