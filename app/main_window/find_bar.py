"""The bar that searches the transcript."""

from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget

from app.look.widgets.buttons import tool_button


class FindBar(QWidget):
    """A search field, hidden until ``open_bar``; Escape hides it again.

    Signals:
        wanted(str, int): go to a row with this text: 1 the next, -1 the one before, 0 the nearest.
        closed(): the bar was hidden; nothing is searched any more.
    """

    wanted = Signal(str, int)
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.line = QLineEdit(clearButtonEnabled=True)
        self.line.setAccessibleName(self.tr("Find in the transcript"))
        self.line.setPlaceholderText(self.tr("Find in the transcript"))
        self.up, self.down = QPushButton(self.tr("&Up")), QPushButton(self.tr("Do&wn"))
        self.close_button = tool_button("x", "", self.tr("Close the search"))
        self.answer = QLabel()
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.line, 1)
        for widget in (self.answer, self.up, self.down, self.close_button):
            row.addWidget(widget)
        for signal, step in (
            (self.line.textChanged, 0),
            (self.line.returnPressed, -1),
            (self.up.clicked, -1),
            (self.down.clicked, 1),
        ):
            signal.connect(partial(self._search, step))
        self.close_button.clicked.connect(self.close_bar)
        self.hide()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Hide the bar on Escape, and not the window around it."""
        if event.key() == Qt.Key.Key_Escape:
            self.close_bar()
        else:
            super().keyPressEvent(event)

    @Slot()
    def open_bar(self) -> None:
        """Show the bar, give it the focus, and search for the text before."""
        self.show()
        self.line.setFocus()
        self.line.selectAll()
        if self.line.text():
            self._search(0)

    @Slot()
    def close_bar(self) -> None:
        self.hide()
        self.closed.emit()

    def show_result(self, at: int, count: int) -> None:
        """Show which of the found rows is selected, and how many there are."""
        found = self.tr("{} of {}").format(at, self.locale().toString(count))
        nothing = self.tr("Not found") if self.line.text() else ""
        self.answer.setText(found if count else nothing)

    def _search(self, step: int, *_signal: object) -> None:
        self.wanted.emit(self.line.text(), step)
