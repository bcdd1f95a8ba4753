"""The main window lays out its parts and connects them to the actions; the page before captions."""

import sys
from collections.abc import Callable, Iterable, Sequence

from PySide6.QtCore import (
    QCoreApplication,
    QEvent,
    QLocale,
    QObject,
    QPoint,
    QRect,
    QSize,
    Qt,
    QTimer,
    Signal,
    Slot,
)
from PySide6.QtGui import (
    QAction,
    QCloseEvent,
    QKeyEvent,
    QKeySequence,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
)
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QMainWindow,
    QPushButton,
    QSizePolicy,
    QSpacerItem,
    QStackedWidget,
    QStyle,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from app.look.style_sheet import make_primary
from app.look.widgets.dialog_text import paragraph
from app.look.widgets.fit_to_screen import FitDialogs
from app.main_window.actions import Actions
from app.main_window.banner import Banner, DownloadBar
from app.main_window.control_panel import ControlPanel
from app.main_window.input_line import FindBar, InputLine
from app.main_window.status_bar import CaptionChoices, StatusBar
from app.main_window.transcript_view import Transcript
from engine.hub.catalogue import SPEECH_MEGABYTES

_WIDTH, _HEIGHT = 1000, 620
_MARGIN = 8


class MainWindow(QMainWindow):
    """Controls, transcript, typed line and status line, from top to bottom.

    Banner and download stand below the transcript, or above it where it is full and follows its
    end, so that no row moves when they come; once there is room below again they stand there.

    Attributes:
        may_close: asked before it closes.
        may_hide: asked when its frame is used to close it: whether the program goes on without it.

    Signals:
        painted(): the window was painted for the first time.
        closed(): the user closed it.
    """

    painted = Signal()
    closed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.may_close: Callable[[], bool] = lambda: True
        self.may_hide: Callable[[], bool] = lambda: False
        self.setWindowTitle("Surtitle")
        self.controls = ControlPanel()
        self.choices = CaptionChoices(self)
        self.banner = Banner()
        self.fetch_bar = DownloadBar()
        self.next_bar = DownloadBar()  # of the next model
        self.empty_page = EmptyPage()
        self.transcript = Transcript()
        self.find_bar = FindBar()
        self.typed_line = InputLine()
        self.status = StatusBar(self.choices)
        self.menu_actions = Actions(self)
        self._own_keys = ShortcutOverride((self.typed_line, self.find_bar.line), self)
        self._was_painted = False
        FitDialogs(self)
        QShortcut(Qt.Key.Key_F10, self).activated.connect(self._open_menu)
        self._lay_out()
        self._connect_actions()
        self.transcript.typed.connect(self._type)
        self.transcript.verticalScrollBar().rangeChanged.connect(self._bring_down)
        for done in (
            self.banner.answered,
            self.empty_page.download.clicked,
            self.fetch_bar.cancel.clicked,
        ):
            done.connect(self.typed_line.setFocus)
        self.typed_line.setFocus()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Emit ``painted`` after the first paint."""
        super().paintEvent(event)
        if not self._was_painted:
            self._was_painted = True
            QTimer.singleShot(0, self._emit_painted)  # child widgets are painted after this

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Put the banner or the download where it moves no row."""
        if event.type() == QEvent.Type.ShowToParent and isinstance(watched, Banner | DownloadBar):
            self._put(watched, is_above=self.transcript.keeps_its_end)
        return super().eventFilter(watched, event)

    def _put(self, bar: QWidget, *, is_above: bool) -> None:
        self._column.removeWidget(bar)
        middle = self._column.indexOf(self._middle)
        self._column.insertWidget(middle if is_above else middle + 1, bar)
        self._column.activate()  # before anything is painted where it was

    @Slot()
    def _bring_down(self) -> None:
        """Put what stands above the rows below them, now that they leave room there."""
        is_empty = self._middle.currentWidget() is self.empty_page
        if self.transcript.verticalScrollBar().maximum() > 0 and not is_empty:
            return
        middle = self._column.indexOf(self._middle)
        for bar in (self.next_bar, self.fetch_bar, self.banner):
            if bar.isVisible() and self._column.indexOf(bar) < middle:
                self._put(bar, is_above=False)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Go to the next part of the window with F6, and with Shift to the one before."""
        if event.key() == Qt.Key.Key_F6:
            is_back = event.modifiers() == Qt.KeyboardModifier.ShiftModifier
            self._go_to_part(-1 if is_back else 1)
        else:
            super().keyPressEvent(event)

    def _go_to_part(self, step: int) -> None:
        items = filter(None, map(self._column.itemAt, range(self._column.count())))
        parts = filter(None, (item.widget() for item in items))
        fields = [(part, field) for part in parts if (field := _first_field(part)) is not None]
        focus = self.focusWidget()
        here = [at for at, (part, _) in enumerate(fields) if _is_within(part, focus)]
        at = here[0] if here else min(0, -step)
        fields[(at + step) % len(fields)][1].setFocus(Qt.FocusReason.TabFocusReason)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Hide, or emit ``closed``, if it may close."""
        if event.spontaneous() and self.may_hide():
            event.ignore()
            self.hide()
            return
        if not self.may_close():
            event.ignore()
            return
        super().closeEvent(event)
        self.closed.emit()

    def _lay_out(self) -> None:
        font = self.typed_line.font()
        font.setPointSize(font.pointSize() + 3)
        self.typed_line.setFont(font)
        self._middle = QStackedWidget()
        self._middle.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._middle.addWidget(self.empty_page)
        self._middle.addWidget(self.transcript)
        body = _Body()
        column = self._column = QVBoxLayout(body)
        column.setContentsMargins(_MARGIN, _MARGIN, _MARGIN, _MARGIN)
        column.setSpacing(_MARGIN)
        column.addWidget(self.controls)
        column.addWidget(self.find_bar)
        column.addWidget(self._middle)
        for bar in (self.banner, self.fetch_bar, self.next_bar):
            column.addWidget(bar)
            bar.installEventFilter(self)
        column.addWidget(self.typed_line)
        column.addWidget(self.status)
        self.setCentralWidget(body)
        self.setTabOrder(self.controls.pause, self.transcript)
        self.setTabOrder(self.transcript, self.typed_line)
        self.setTabOrder(self.typed_line, self.status.choices)

    def leave_room_for(self, other: QRect, area: QRect) -> None:
        """Move and resize the window so that another one does not cover the input line."""
        frame = _MARGIN + self.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight)
        height = min(_HEIGHT, other.top() - area.top() - 2 * frame)
        self.resize(min(_WIDTH, area.width()), max(height, self.minimumSizeHint().height()))
        left = area.left() + (area.width() - self.width()) // 2
        lowest = area.bottom() + 1 - self.height() - (frame - _MARGIN)
        self.move(left, max(area.top(), min(area.top() + _MARGIN, lowest)))

    def needed_areas(self) -> list[QRect]:
        """Return the parts of the screen with its controls, lines and the newest row.

        In the order of what matters: buttons and menu, the lines that are typed in, texts; the
        newest row comes last, since who has the overlay before it reads the same there.
        """
        page = self.empty_page
        lines = (self.typed_line, self.find_bar, self.banner, self.fetch_bar)
        parts = (self.controls, self.menuBar(), *lines, page.offer, self.status, page.hint)
        newest = self.transcript.newest_area()
        return [*_areas(parts), *([] if newest.isEmpty() else [newest])]

    def _connect_actions(self) -> None:
        actions, choices = self.menu_actions, self.choices
        devices = [source.devices for source in self.controls.sources]
        actions.fill(self.menuBar(), devices, (choices.mode, *choices.below_mode), choices.computer)
        self.addActions([actions.larger_rows, actions.smaller_rows])  # in no menu
        actions.copy_all.triggered.connect(self.transcript.copy_all)
        actions.copy_all_captions.triggered.connect(self.transcript.copy_all_captions)
        actions.find.triggered.connect(self.find_bar.open_bar)
        self.find_bar.wanted.connect(
            lambda text, step: self.find_bar.show_result(*self.transcript.find_text(text, step))
        )
        self.find_bar.closed.connect(self._end_search)
        actions.quit.triggered.connect(self.close)
        for action, button in self._buttons_by_action():
            action.toggled.connect(button.setChecked)
            button.toggled.connect(action.setChecked)
        actions.keys_changed.connect(self._name_keys)
        for change in (self.transcript.rows.rowsInserted, self.transcript.rows.rowsRemoved):
            change.connect(self._show_middle)
        for source in self.controls.sources:
            source.button.toggled.connect(self._show_hint)
        self.controls.pause.toggled.connect(self._show_hint)
        self._name_keys()

    def _buttons_by_action(self) -> list[tuple[QAction, QToolButton]]:
        actions, controls = self.menu_actions, self.controls
        return [
            (actions.pause, controls.pause),
            (actions.microphone, controls.microphone.button),
            (actions.system, controls.system.button),
            (actions.overlay, controls.overlay),
        ]

    @Slot()
    def _show_middle(self) -> None:
        has_rows = bool(self.transcript.rows.views)
        self._middle.setCurrentWidget(self.transcript if has_rows else self.empty_page)
        if not has_rows:
            self._bring_down()

    @Slot()
    def _show_hint(self) -> None:
        paused = self.controls.pause.isChecked()
        self.empty_page.show_hint(listens=bool(self.controls.on), paused=paused)

    @Slot()
    def _name_keys(self) -> None:
        every = self.menu_actions.by_name.values()
        self._own_keys.use([keys for action in every for keys in action.shortcuts()])
        for action, button in self._buttons_by_action():
            keys = action.shortcut().toString(QKeySequence.SequenceFormat.NativeText)
            tip = button.accessibleDescription()
            button.setToolTip(f"{tip} ({keys})" if keys else tip)

    @Slot(str)
    def _type(self, text: str) -> None:
        """Go on typing in the line for that, wherever the click before it was."""
        self.typed_line.setFocus()
        self.typed_line.setCursorPosition(len(self.typed_line.text()))
        self.typed_line.insert(text)

    @Slot()
    def _end_search(self) -> None:
        self.transcript.find_text("", 0)
        self.typed_line.setFocus()

    @Slot()
    def _open_menu(self) -> None:
        self.menuBar().setActiveAction(self.menuBar().actions()[0])

    @Slot()
    def _emit_painted(self) -> None:
        self.painted.emit()


class _Body(QWidget):
    """The content of the window; it asks for more height when rows wrap in a narrow window."""

    def minimumSizeHint(self) -> QSize:
        """Return the height that the rows need at the current width."""
        layout, least = self.layout(), super().minimumSizeHint()
        width = max(self.width(), least.width())
        return (
            least if layout is None else QSize(least.width(), layout.minimumHeightForWidth(width))
        )

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Ask for that height when the width changes."""
        super().resizeEvent(event)
        if event.size().width() != event.oldSize().width():
            self.updateGeometry()


def _first_field(part: QWidget) -> QWidget | None:
    fields = (
        one
        for one in (part, *part.findChildren(QWidget))
        if one.focusPolicy() & Qt.FocusPolicy.TabFocus and one.isVisible() and one.isEnabled()
    )
    return next(fields, None)


def _is_within(part: QWidget, widget: QWidget | None) -> bool:
    return widget is not None and (part is widget or part.isAncestorOf(widget))


def _areas(parts: Iterable[QWidget]) -> list[QRect]:
    return [QRect(part.mapToGlobal(QPoint()), part.size()) for part in parts if part.isVisible()]


class ShortcutOverride(QObject):
    """Let the window handle the keys of its actions inside text fields.

    Text fields use many keys for editing, different ones on each system: on X11, Ctrl+E moves to
    the end. A letter with Alt that names nothing in the window is no letter of a text.
    """

    def __init__(self, lines: Sequence[QLineEdit], parent: QObject) -> None:
        super().__init__(parent)
        self._keys = frozenset[QKeySequence]()
        for line in lines:
            line.installEventFilter(self)

    def use(self, keys: Sequence[QKeySequence]) -> None:
        self._keys = frozenset(keys)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Decline the keys of the window on behalf of the text field."""
        if not isinstance(event, QKeyEvent):
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.KeyPress:
            is_alt = event.modifiers() == Qt.KeyboardModifier.AltModifier
            return is_alt and bool(event.text()) and sys.platform != "darwin"
        if event.type() != QEvent.Type.ShortcutOverride:
            return super().eventFilter(watched, event)
        return QKeySequence(event.keyCombination()) in self._keys


_GAP = 12
_TOP = 72  # pixels above; in the middle a banner below would move all
_POINTS_LARGER = 3


class EmptyPage(QWidget):
    """A hint, and an offer to download the speech model, or another, while there is none."""

    def __init__(self) -> None:
        super().__init__()
        self.hint = _centred("")
        self.show_hint(listens=False, paused=False)
        font = self.hint.font()
        font.setPointSize(font.pointSize() + _POINTS_LARGER)
        self.hint.setFont(font)
        self.need = _centred("")
        self.download = QPushButton(self.tr("&Download"))
        make_primary(self.download)
        self.others = QPushButton(self.tr("Choose a&nother…"))
        self.offer = QWidget()
        buttons = QHBoxLayout()
        for part in (None, self.download, self.others, None):
            buttons.addStretch() if part is None else buttons.addWidget(part)
        inner = QVBoxLayout(self.offer)
        inner.setContentsMargins(0, _GAP, 0, 0)
        inner.setSpacing(_GAP)
        inner.addWidget(self.need)
        inner.addLayout(buttons)
        column = self._column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        fixed, shrinks = QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Maximum
        column.addItem(QSpacerItem(0, _TOP, fixed, shrinks))
        column.addWidget(self.hint)
        column.addWidget(self.offer)
        column.addStretch()
        self.offer.hide()

    def heightForWidth(self, width: int) -> int:
        """Return the least height: a stack of pages never makes one lower than this."""
        return self._column.minimumHeightForWidth(width)

    def show_hint(self, *, listens: bool, paused: bool) -> None:
        """Show what can be done now: while a source is on, and while the captions are paused."""
        text = self.tr("Switch on the microphone or computer sound, or type below.")
        if listens:
            text = self.tr("Captions appear here as soon as something is said.")
        if paused:
            text = self.tr("Paused. Click Resume to go on.")
        self.hint.setText(text)

    def show_missing(self, recognizer: str) -> None:
        """Offer to download a speech model; empty if there is one on this computer."""
        self.need.setText(needs_speech_model(recognizer))
        self.offer.setVisible(bool(recognizer))


def needs_speech_model(recognizer: str) -> str:
    """Return the sentence that asks for a speech model, with its size if that is known."""
    megabytes = SPEECH_MEGABYTES.get(recognizer)
    if megabytes is None:
        told = QCoreApplication.translate(
            "SpeechModel", "To caption speech, Surtitle needs the speech model {} (once)."
        )
        return told.format(recognizer)
    told = QCoreApplication.translate(
        "SpeechModel", "To caption speech, Surtitle needs a speech model ({} MB, once)."
    )
    return told.format(QLocale().toString(megabytes))


def _centred(text: str) -> QLabel:
    label = paragraph(text)
    label.setAlignment(Qt.AlignmentFlag.AlignCenter)
    return label
