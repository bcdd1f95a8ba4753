"""Makes buttons that leave the keyboard with the line that is typed in, and opens their menus."""

from PySide6.QtCore import QEvent, QObject, Qt, Slot
from PySide6.QtGui import QCursor, QKeyEvent, QMouseEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QMenu,
    QStyle,
    QStyleOptionToolButton,
    QToolButton,
    QWidget,
)

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


def open_with(menu: QMenu, button: QAbstractButton) -> None:
    """Open a menu by the keys for menus, and by an arrow beside the button's own action.

    A button of which the menu is set would be a mere menu to other programs, which could not press
    it.
    """
    _MenuKeys(menu, button)


class _MenuKeys(QObject):
    """Opens the menu of a button, and ends the look of a hovered button once it is closed."""

    def __init__(self, menu: QMenu, button: QAbstractButton) -> None:
        super().__init__(button)
        self._menu, self._button = menu, button
        button.installEventFilter(self)
        menu.aboutToHide.connect(self._leave)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if not (_is_menu_key(event) or self._is_on_arrow(event)):
            return super().eventFilter(watched, event)
        self._menu.popup(self._button.mapToGlobal(self._button.rect().bottomLeft()))
        chosen = (action for action in self._menu.actions() if action.isChecked())
        first = (action for action in self._menu.actions() if action.isEnabled())
        self._menu.setActiveAction(next(chosen, None) or next(first))
        return True

    def _is_on_arrow(self, event: QEvent) -> bool:
        """Return whether the mouse is pressed on an arrow that opens no menu of Qt's."""
        button = self._button
        presses = {QEvent.Type.MouseButtonPress, QEvent.Type.MouseButtonDblClick}
        if not isinstance(button, QToolButton) or not isinstance(event, QMouseEvent):
            return False
        if event.type() not in presses:
            return False
        option = QStyleOptionToolButton()
        button.initStyleOption(option)
        parts = QStyle.ComplexControl.CC_ToolButton, QStyle.SubControl.SC_ToolButtonMenu
        area = button.style().subControlRect(parts[0], option, parts[1], button)
        is_left = event.button() == Qt.MouseButton.LeftButton
        return is_left and button.isEnabled() and area.contains(event.position().toPoint())

    @Slot()
    def _leave(self) -> None:
        """Qt does not see the mouse leave meanwhile."""
        button = self._button
        if not button.rect().contains(button.mapFromGlobal(QCursor.pos())):
            QApplication.sendEvent(button, QEvent(QEvent.Type.Leave))
            button.update()


def _is_menu_key(event: QEvent) -> bool:
    if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
        return False
    keys = Qt.Key
    if event.key() == keys.Key_F10:
        return event.modifiers() == Qt.KeyboardModifier.ShiftModifier
    return event.key() in {keys.Key_Down, keys.Key_Menu}
