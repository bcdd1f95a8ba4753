"""The bar that searches the transcript. It decides nothing."""

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QKeySequence, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QPushButton, QWidget


class FindBar(QWidget):
    """A line for what is searched, hidden until it is wanted; Escape hides it again.

    Signals:
        wanted(str, int): go to the next row with this text, 1 down or -1 up.
        closed(): it was hidden; the keyboard may go elsewhere.
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
        self.line.returnPressed.connect(self._go_up)
        self.up.clicked.connect(self._go_up)
        self.down.clicked.connect(self._go_down)
        escape = QShortcut(QKeySequence("Escape"), self.line)
        escape.activated.connect(self.close_bar)
        self.hide()

    @Slot()
    def open_bar(self) -> None:
        """Be there, with the keyboard."""
        self.show()
        self.answer.clear()
        self.line.setFocus()
        self.line.selectAll()

    @Slot()
    def close_bar(self) -> None:
        """Be gone."""
        self.hide()
        self.closed.emit()

    def tell(self, *, found: bool) -> None:
        """Say whether anything was found."""
        self.answer.setText("" if found else self.tr("Not found"))

    @Slot()
    def _go_up(self) -> None:
        self.wanted.emit(self.line.text(), -1)

    @Slot()
    def _go_down(self) -> None:
        self.wanted.emit(self.line.text(), 1)
