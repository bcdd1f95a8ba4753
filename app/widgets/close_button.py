"""The button that closes a window that has nothing to confirm."""

from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QDialogButtonBox


def close_button() -> QDialogButtonBox:
    """Make a row of buttons that holds it; without Qt's picture, black also on dark desktops."""
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Close)
    box.button(QDialogButtonBox.StandardButton.Close).setIcon(QIcon())
    return box
