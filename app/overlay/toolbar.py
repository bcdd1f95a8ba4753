"""The bar beside the overlay: what a hand on the mouse wants of captions, and the way back.

It is a window of its own, since a locked overlay takes no clicks at all. Everything it offers is in
the menus of the main window, too, for hands on the keyboard.
"""

from collections.abc import Sequence

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, QTimer, Slot
from PySide6.QtGui import QAction, QColor, QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QWidget

from app.overlay.text_block import paint_box
from app.overlay.themes import theme
from app.overlay.window import Overlay

_LINGER_MS = 1500
_RESTING_OPACITY = 0.7  # of the way back while the overlay is locked: seen, and not in the way
_FLAGS = (
    Qt.WindowType.Tool
    | Qt.WindowType.FramelessWindowHint
    | Qt.WindowType.WindowStaysOnTopHint
    | Qt.WindowType.WindowDoesNotAcceptFocus
)


class OverlayToolbar(QWidget):
    """Buttons beside the overlay while the mouse is there; where it is locked, the way back alone.

    On Wayland, where no window may place another, it lies inside the overlay instead, and a locked
    overlay has no bar.
    """

    def __init__(
        self, overlay: Overlay, actions: Sequence[QAction], way_back: QAction, *, inside: bool
    ) -> None:
        """Serve an overlay.

        Args:
            overlay: to stand beside.
            actions: from left to right.
            way_back: the one of them that unlocks.
            inside: whether to be a part of the overlay.
        """
        super().__init__(overlay if inside else None)
        if not inside:
            # Window managers that tile would put it anywhere; nobody else heeds this flag.
            self.setWindowFlags(_FLAGS | Qt.WindowType.X11BypassWindowManagerHint)
            self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
            self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setWindowTitle(self.tr("Surtitle captions, controls"))
        self.setAccessibleName(self.tr("Controls of the overlay"))
        self._overlay, self._inside = overlay, inside
        self._preset = ""
        self._mouse_is_here = False
        self.buttons = [_button(action, self) for action in actions]
        self.way_back = next(it for it in self.buttons if it.defaultAction() is way_back)
        row = QHBoxLayout(self)
        row.setContentsMargins(6, 3, 6, 3)
        row.setSpacing(2)
        for button in self.buttons:
            row.addWidget(button)
        self._leave = QTimer(self)
        self._leave.setSingleShot(True)
        self._leave.setInterval(_LINGER_MS)
        self._leave.timeout.connect(self.settle)
        overlay.installEventFilter(self)
        self.hide()

    def show_preset(self, preset: str) -> None:
        """Take the colours of the captions, on a box that lets nothing through."""
        self._preset = preset
        colours = theme(preset)
        palette = QPalette(QColor(*colours.background))
        for role in (QPalette.ColorRole.ButtonText, QPalette.ColorRole.WindowText):
            palette.setColor(role, QColor(*colours.text))
        for button in self.buttons:
            button.setPalette(palette)
        self.update()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the overlay, and the mouse over it."""
        if watched is self._overlay:
            match event.type():
                case QEvent.Type.Enter:
                    self._welcome_mouse()
                case QEvent.Type.Leave:
                    self._see_mouse_off()
                case QEvent.Type.Move | QEvent.Type.Resize:
                    self._take_place()
                case QEvent.Type.Show | QEvent.Type.Hide:
                    self.settle()
        return super().eventFilter(watched, event)

    def event(self, event: QEvent) -> bool:
        """Stay while the mouse is on the bar."""
        if event.type() == QEvent.Type.Enter:
            self._welcome_mouse()
        elif event.type() == QEvent.Type.Leave:
            self._see_mouse_off()
        return super().event(event)

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the box behind the buttons."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_box(painter, self.rect(), theme(self._preset), opaque=True)
        painter.end()

    @Slot()
    def linger(self) -> None:
        """Be seen for a moment, as when the overlay was unlocked just now."""
        self._welcome_mouse()
        self._see_mouse_off()

    @Slot()
    def settle(self) -> None:
        """Show what belongs there: nothing, all buttons under the mouse, or the way back."""
        locked = self._overlay.is_locked
        for button in self.buttons:
            button.setVisible(not locked or button is self.way_back)
        if not self._inside:
            self.setWindowOpacity(_RESTING_OPACITY if locked and not self._mouse_is_here else 1.0)
        self.adjustSize()
        self._take_place()
        waits = self._leave.isActive()
        wanted = self._mouse_is_here or waits or (locked and not self._inside)
        self.setVisible(self._overlay.isVisible() and wanted)
        if self.isVisible():
            self.raise_()
        elif waits:
            self._leave.stop()

    def _welcome_mouse(self) -> None:
        self._mouse_is_here = True
        self._leave.stop()
        self.settle()

    def _see_mouse_off(self) -> None:
        self._mouse_is_here = False
        self._leave.start()

    def _take_place(self) -> None:
        if self._inside:
            self.move(self._overlay.width() - self.width(), 0)
        else:
            area = self._overlay.screen().availableGeometry()
            self.move(place_beside(self._overlay.geometry(), self.size(), area))


def place_beside(overlay: QRect, bar: QSize, area: QRect) -> QPoint:
    """Find a place for the bar, on the screen in any case: above the overlay's right corner.

    Where there is no room it is below; where there is none either it covers the upper edge.
    """
    left = min(overlay.right() + 1, area.right() + 1) - bar.width()
    above, below = overlay.top() - bar.height(), overlay.bottom() + 1
    if above >= area.top():
        top = above
    elif below + bar.height() <= area.bottom() + 1:
        top = below
    else:
        top = max(area.top(), overlay.top())
    return QPoint(max(area.left(), left), min(top, area.bottom() + 1 - bar.height()))


def _button(action: QAction, parent: QWidget) -> QToolButton:
    """Make a button that shows an action by its short name, and takes no keyboard."""
    button = QToolButton(parent)
    button.setDefaultAction(action)
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextOnly)
    button.setAutoRaise(True)
    button.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    button.setAccessibleName(action.text().replace("&", ""))
    return button
