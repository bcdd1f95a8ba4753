"""Buttons that leave the keyboard with the line that is typed in, and menus of one choice."""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, Qt, Signal, Slot
from PySide6.QtGui import QAction, QActionGroup, QCursor, QKeyEvent, QMouseEvent
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


class ChoiceMenu(QMenu):
    """Entries with a text, a value and a tool tip; the chosen one has a mark.

    Signals:
        value_chosen(str): the user chose the entry of this value.
        other_chosen(str): the user chose one of the entries below the line.
    """

    value_chosen = Signal(str)
    other_chosen = Signal(str)

    def __init__(self, title: str = "", parent: QWidget | None = None) -> None:
        super().__init__(title, parent)
        self.setToolTipsVisible(True)
        self._below: list[QAction] = []  # the line, and what is below it
        self._others: list[tuple[str, str, str]] = []
        self._group = QActionGroup(self)
        self._group.triggered.connect(lambda action: self.value_chosen.emit(action.data()))

    @property
    def entries(self) -> list[tuple[str, str]]:
        return [(action.text(), action.data()) for action in self._group.actions()]

    @property
    def value(self) -> str:
        """The value of the chosen entry; empty without one."""
        action = self._checked()
        return "" if action is None else str(action.data())

    @property
    def text(self) -> str:
        action = self._checked()
        return "" if action is None else action.text()

    def show_entries(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """Offer entries: text, value, tool tip. The chosen value stays, even if it is gone.

        The same ones stay, with what the tool tips say now: the menu may be open, and would lose
        its place.
        """
        if self.entries == [(text, value) for text, value, _ in entries]:
            for action, (_, _, tip) in zip(self._group.actions(), entries, strict=True):
                action.setToolTip(tip)
            return
        chosen, value, text = self._checked(), self.value, self.text
        for action in self._group.actions():
            self._group.removeAction(action)
            self.removeAction(action)
            action.deleteLater()
        for entry in entries:
            self._add(*entry)
        if chosen is not None:
            self.choose(value, text)

    def show_others(self, entries: Sequence[tuple[str, str, str]]) -> None:
        """Offer entries below a line: text, value, tool tip; they lead elsewhere."""
        if list(entries) == self._others:
            return
        self._others = list(entries)
        for action in self._below:
            self.removeAction(action)
            action.deleteLater()
        self._below = [self.addSeparator()] if entries else []
        for text, value, tip in entries:
            action = self.addAction(text)
            action.setToolTip(tip)
            action.triggered.connect(lambda _on, value=value: self.other_chosen.emit(value))
            self._below.append(action)

    @property
    def others(self) -> list[QAction]:
        return self._below[1:]

    def choose(self, value: str, text: str = "") -> None:
        """Mark the entry of a value without emitting; an unknown value is added with ``text``."""
        self._find(value, text or value).setChecked(True)

    def pick(self, value: str) -> None:
        """Choose the entry of a value as a click would."""
        self._find(value, value).trigger()

    def _checked(self) -> QAction | None:
        return self._group.checkedAction()

    def _find(self, value: str, text: str) -> QAction:
        found = (action for action in self._group.actions() if action.data() == value)
        return next(found, None) or self._add(text, value, "")

    def _add(self, text: str, value: str, tip: str) -> QAction:
        action = QAction(text, self)
        action.setData(value)
        action.setCheckable(True)
        action.setToolTip(tip)
        self._group.addAction(action)
        if self._below:
            self.insertAction(self._below[0], action)
        else:
            self.addAction(action)
        return action


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
