"""The bar that searches the transcript."""

from functools import partial

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget


class FindBar(QWidget):
    """A search field, hidden until ``open_bar``; Escape hides it again.

    Signals:
        wanted(str, int): go to the next row with this text, 1 down or -1 up.
        closed(): the bar was hidden.
    """

    wanted = Signal(str, int)
    closed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.line = QLineEdit(clearButtonEnabled=True)
        self.line.setAccessibleName(self.tr("Find in the transcript"))
        self.line.setPlaceholderText(self.tr("Find in the transcript"))
        self.up, self.down = QPushButton(self.tr("&Up")), QPushButton(self.tr("Do&wn"))
        self.answer = QLabel()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.line, 1)
        for widget in (self.answer, self.up, self.down):
            row.addWidget(widget)
        for signal, step in (
            (self.line.returnPressed, -1),
            (self.up.clicked, -1),
            (self.down.clicked, 1),
        ):
            signal.connect(partial(self._search, step))
        escape = QShortcut(QKeySequence("Escape"), self.line)
        escape.activated.connect(self.close_bar)
        self.hide()

    @Slot()
    def open_bar(self) -> None:
        """Show the bar and give it the focus."""
        self.show()
        self.answer.clear()
        self.line.setFocus()
        self.line.selectAll()

    @Slot()
    def close_bar(self) -> None:
        """Hide the bar."""
        self.hide()
        self.closed.emit()

    def show_result(self, *, found: bool) -> None:
        """Show whether a row was found."""
        self.answer.setText("" if found else self.tr("Not found"))

    def _search(self, step: int, *_signal: object) -> None:
        self.wanted.emit(self.line.text(), step)
