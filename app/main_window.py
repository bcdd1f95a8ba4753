"""The main window: lays its parts out and gives them the keyboard. What they mean is decided elsewhere."""

from PySide6.QtCore import Qt, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeySequence, QPaintEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLabel, QMainWindow, QPushButton, QVBoxLayout, QWidget

from app.banner import Banner
from app.control_panel import ControlPanel
from app.status_strip import StatusStrip
from app.transcript import Transcript
from app.typed_line import TypedLine

_WIDTH, _HEIGHT = 980, 560  # leaves room for the overlay on a screen of 1280 x 720
_MARGIN = 12


class MainWindow(QMainWindow):
    """Controls, banner, transcript, typed line and status strip, from top to bottom.

    Signals:
        painted(): the window stands on the screen for the first time.
        closed(): the person closed it.
    """

    painted = Signal()
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setWindowTitle("Surtitle")
        self.controls = ControlPanel()
        self.banner = Banner()
        self.transcript = Transcript()
        self.typed_line = TypedLine()
        self.status = StatusStrip()
        self._was_painted = False
        self._lay_out()
        for keys, button in (
            ("Ctrl+P", self.controls.pause),
            ("Ctrl+L", self.controls.clear),
            ("Ctrl+O", self.controls.overlay),
        ):
            self._add_shortcut(keys, button)
        self.resize(_WIDTH, _HEIGHT)
        self.typed_line.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell when the first picture is complete."""
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            QTimer.singleShot(0, self._tell_painted)  # the parts are painted after this

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell that the window closes."""
        super().closeEvent(event)
        self.closed.emit()

    def _lay_out(self) -> None:
        font = self.typed_line.font()
        font.setPointSize(font.pointSize() + 3)
        self.typed_line.setFont(font)
        prompt = QLabel("T&ype")
        prompt.setBuddy(self.typed_line)
        typing = QHBoxLayout()
        typing.addWidget(prompt)
        typing.addWidget(self.typed_line, 1)
        body = QWidget()
        column = QVBoxLayout(body)
        column.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        column.setSpacing(_MARGIN)
        column.addWidget(self.controls)
        column.addWidget(self.banner)
        column.addWidget(self.transcript, 1)
        column.addLayout(typing)
        column.addWidget(self.status)
        self.setCentralWidget(body)
        self.setTabOrder(self.controls.overlay, self.transcript)
        self.setTabOrder(self.transcript, self.typed_line)

    def _add_shortcut(self, keys: str, button: QPushButton) -> None:
        shortcut = QShortcut(QKeySequence(keys), self)
        shortcut.setContext(Qt.ShortcutContext.WindowShortcut)
        shortcut.activated.connect(button.click)

    @Slot()
    def _tell_painted(self) -> None:
        self.painted.emit()
