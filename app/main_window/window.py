"""The main window: lays its parts out and gives them the keyboard, and decides nothing."""

from PySide6.QtCore import QChildEvent, QRect, QSize, QTimer, Signal, Slot
from PySide6.QtGui import QCloseEvent, QKeySequence, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QMainWindow,
    QStyle,
    QVBoxLayout,
    QWidget,
)

from app.main_window.actions import Actions
from app.main_window.banner import Banner
from app.main_window.control_panel import ControlPanel
from app.main_window.download_bar import DownloadBar
from app.main_window.find_bar import FindBar
from app.main_window.input_line import InputLine
from app.main_window.source_bar import SourceBar
from app.main_window.status_bar import StatusBar
from app.main_window.transcript_view import Transcript
from app.widgets.fit_to_screen import FitToScreen
from app.widgets.shortcut_override import ShortcutOverride

_WIDTH, _HEIGHT = 1000, 620
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
        self.sources = SourceBar()
        self.banner = Banner()
        self.fetch_bar = DownloadBar()
        self.transcript = Transcript()
        self.find_bar = FindBar()
        self.typed_line = InputLine()
        self.status = StatusBar()
        self.menu_actions = Actions(self)
        self._own_keys = ShortcutOverride((self.typed_line, self.find_bar.line), self)
        self._was_painted = False
        self._lay_out()
        self._connect_actions()
        self.typed_line.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Tell when the first picture is complete."""
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            QTimer.singleShot(0, self._tell_painted)  # the parts are painted after this

    def childEvent(self, event: QChildEvent) -> None:
        """Keep every dialog of this window inside its screen, from before it is first shown."""
        super().childEvent(event)
        child = event.child()
        if event.polished() and isinstance(child, QDialog):
            FitToScreen(child)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell that the window closes."""
        super().closeEvent(event)
        self.closed.emit()

    def _lay_out(self) -> None:
        font = self.typed_line.font()
        font.setPointSize(font.pointSize() + 3)
        self.typed_line.setFont(font)
        prompt = QLabel(self.tr("Typ&e"))
        prompt.setBuddy(self.typed_line)
        typing = QHBoxLayout()
        typing.addWidget(prompt)
        typing.addWidget(self.typed_line, 1)
        body = _Body()
        column = QVBoxLayout(body)
        column.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        column.setSpacing(_MARGIN)
        column.addWidget(self.controls)
        column.addWidget(self.sources)
        column.addWidget(self.banner)
        column.addWidget(self.fetch_bar)
        column.addWidget(self.find_bar)
        column.addWidget(self.transcript, 1)
        column.addLayout(typing)
        column.addWidget(self.status)
        self.setCentralWidget(body)
        self.setTabOrder(self.controls.lock, self.transcript)
        self.setTabOrder(self.transcript, self.typed_line)

    def leave_room_for(self, other: QRect, area: QRect) -> None:
        """Take a place on the screen where another window does not cover the typed line."""
        frame = _MARGIN + self.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
        height = min(_HEIGHT, other.top() - area.top() - 2 * frame)
        self.resize(min(_WIDTH, area.width()), max(height, self.minimumSizeHint().height()))
        self.move(area.left() + (area.width() - self.width()) // 2, area.top() + _MARGIN)

    def _connect_actions(self) -> None:
        """Let menu and buttons do the same, and show the same."""
        actions, controls = self.menu_actions, self.controls
        actions.fill(self.menuBar())
        actions.find.triggered.connect(self.find_bar.open_bar)
        self.find_bar.wanted.connect(self._find)
        self.find_bar.closed.connect(self.typed_line.setFocus)
        actions.clear.triggered.connect(controls.clear.click)
        actions.quit.triggered.connect(self.close)
        for action, button in (
            (actions.pause, controls.pause),
            (actions.microphone, self.sources.microphone.button),
            (actions.system, self.sources.system.button),
            (actions.overlay, controls.overlay),
            (actions.lock, controls.lock),
        ):
            action.toggled.connect(button.setChecked)
            button.toggled.connect(action.setChecked)
        actions.keys_changed.connect(self._name_keys)

    @Slot()
    def _name_keys(self) -> None:
        """Tell of each button which keys do the same, and let them work where somebody types."""
        actions, controls = self.menu_actions, self.controls
        every = actions.by_name.values()
        self._own_keys.use([keys for action in every for keys in action.shortcuts()])
        for action, button in (
            (actions.pause, controls.pause),
            (actions.microphone, self.sources.microphone.button),
            (actions.system, self.sources.system.button),
            (actions.clear, controls.clear),
            (actions.overlay, controls.overlay),
            (actions.lock, controls.lock),
            (actions.adapters, controls.adapter),
        ):
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            tip = button.accessibleDescription()
            button.setToolTip(f"{tip} ({keys})" if keys else tip)

    @Slot(str, int)
    def _find(self, text: str, step: int) -> None:
        self.find_bar.tell(found=self.transcript.find_text(text, step))

    @Slot()
    def _tell_painted(self) -> None:
        self.painted.emit()


class _Body(QWidget):
    """What is in the window; the narrower it is, the more lines its rows need, and are given."""

    def minimumSizeHint(self) -> QSize:
        """Need the height that the rows have at the width of now."""
        layout, least = self.layout(), super().minimumSizeHint()
        width = max(self.width(), least.width())
        return (
            least if layout is None else QSize(least.width(), layout.minimumHeightForWidth(width))
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for that height as soon as the width is another one."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()
