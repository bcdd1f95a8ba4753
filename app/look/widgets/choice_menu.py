"""A menu of which one entry is chosen."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QWidget


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
