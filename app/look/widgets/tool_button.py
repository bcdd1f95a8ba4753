"""Makes buttons that leave the keyboard with the line that is typed in."""

from PySide6.QtCore import QEvent, Qt
from PySide6.QtGui import QCursor
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QToolButton, QWidget

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


def leave_with(menu: QMenu, button: QAbstractButton) -> None:
    """Let a button look left once its menu is gone: Qt does not see the mouse leave meanwhile."""
    menu.aboutToHide.connect(lambda: _leave(button))


def _leave(button: QAbstractButton) -> None:
    if not button.rect().contains(button.mapFromGlobal(QCursor.pos())):
        QApplication.sendEvent(button, QEvent(QEvent.Type.Leave))
        button.update()
