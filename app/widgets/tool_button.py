"""Makes buttons that leave the keyboard with the line that is typed in."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.icons import icon


def tool_button(
    image: str, text: str, tip: str, parent: QWidget | None = None, *, checkable: bool = False
) -> QToolButton:
    """Return a button with a text beside the icon ``image``; a click does not give it the focus."""
    button = QToolButton(parent)
    button.setIcon(icon(image))
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(checkable)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setAccessibleName(text)
    button.setAccessibleDescription(tip)
    return button
