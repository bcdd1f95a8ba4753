"""Makes buttons that leave the keyboard with the line that is typed in."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QToolButton, QWidget

from app.look.icons import icon


def tool_button(
    image: str, text: str, tip: str, parent: QWidget | None = None, *, checkable: bool = False
) -> QToolButton:
    """Return a button with an icon and a text, or without one the tip as its name.

    A click does not give it the focus.
    """
    button = QToolButton(parent)
    button.setIcon(icon(image, before_text=bool(text)))
    button.setText(text)
    button.setToolTip(tip)
    button.setCheckable(checkable)
    if text:
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
    button.setAccessibleName(text or tip)
    button.setAccessibleDescription(tip)
    return button
