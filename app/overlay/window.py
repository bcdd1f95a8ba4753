"""The overlay: a frameless window above all others that shows the last lines. It owns no text."""

import time
from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QContextMenuEvent,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QHideEvent,
    QMouseEvent,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
)
from PySide6.QtWidgets import QMenu, QWidget

from app.captions.line_breaking import Line
from app.config.preferences import CaptionPreferences
from app.overlay.resize_edges import NO_EDGE, Drag, cursor_at, edges_at, with_edges_of
from app.overlay.text_block import Block, paint_box
from app.overlay.themes import theme

PADDING = 18
_SMALLER = 0.72  # of the captions' letters, the source's beside them
_GAP = 6
_DISTANCE_FROM_EDGE = 48
_SETTLED_MS = 300
_QUICK_S = 0.03  # a picture that takes longer makes four steps of a glide at most


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayView:
    """What the overlay paints.

    Attributes:
        lines: from top to bottom, as wide as ``Overlay.line_width`` at most.
        source: lines above them, in the smaller letters of ``Overlay.measure_source``.
        is_hint: the lines are no caption but tell where captions will come.
    """

    lines: tuple[Line, ...] = ()
    source: tuple[Line, ...] = ()
    is_hint: bool = False


class Overlay(QWidget):
    """Paint the last view; be dragged anywhere, and to another size by its edges; take no focus.

    The size never follows the text, so the window does not jump. Whatever its size, the middle of
    its bottom edge is where the person put it, or as near as leaves all of it on the screen.

    Signals:
        moved(): the person dragged it, and let it go.
        size_wanted(int, int): the person dragged an edge: to so many characters, so many lines.
        painted(): the last view stands on the screen.
        closed(): it was closed, as by the window manager's list of windows or its keys.
    """

    moved = Signal()
    size_wanted = Signal(int, int)
    painted = Signal()
    closed = Signal()

    def __init__(self, choices: CaptionPreferences | None = None) -> None:
        super().__init__(
            None,
            Qt.WindowType.Tool
            | Qt.WindowType.FramelessWindowHint
            | Qt.WindowType.WindowStaysOnTopHint
            | Qt.WindowType.WindowDoesNotAcceptFocus,
        )
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setMouseTracking(True)
        self.setWindowTitle(self.tr("Surtitle captions"))
        self.setAccessibleName(self.tr("Caption overlay"))
        self._captions, self._source = Block(self), Block(self)
        for block in (self._captions, self._source):
            block.moved.connect(self._repaint)
        self._view = OverlayView()
        self._drag: Drag | None = None
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(_SETTLED_MS)
        self._settled.timeout.connect(self._tell_size)
        self._was_moved = False
        self._last_paint_s = 0.0
        area = self._screen_area()
        self._anchor = QPoint(area.center().x(), area.bottom() - _DISTANCE_FROM_EDGE)
        self._stands = QRect()  # as it was last placed here; else the person placed it
        self.show_theme(choices or CaptionPreferences())

    @property
    def is_locked(self) -> bool:
        """Whether clicks go through to what lies below."""
        return bool(self.windowFlags() & Qt.WindowType.WindowTransparentForInput)

    def show_theme(self, choices: CaptionPreferences) -> None:
        """Take other letters, colours and another size."""
        self._choices = choices
        self._theme = theme(choices.preset)
        font, small = QFont(self.font()), QFont(self.font())
        font.setPointSizeF(choices.point_size)
        small.setPointSizeF(choices.point_size * _SMALLER)
        self._metrics, self._small = QFontMetricsF(font), QFontMetricsF(small)
        self._fonts = font, small
        area = self._screen_area()
        wanted = self._metrics.averageCharWidth() * choices.characters
        self.line_width = min(wanted, area.width() - 2.0 * PADDING)
        room = area.height() - 2 * PADDING
        self.n_lines = max(1, min(choices.lines, int(room // self._line_pair_height())))
        self._take_size()
        self._captions.forget()
        self._source.forget()
        self.update()

    def set_locked(self, *, locked: bool) -> None:
        """Let clicks through to what lies below, or take them again."""
        if locked == self.is_locked:
            return
        place, was_visible = self.geometry(), self.isVisible()
        is_x11 = QGuiApplication.platformName() == "xcb"
        if is_x11 and self.windowHandle() is not None:
            # A fresh window of X11: a busy window manager takes its frame off this one only later,
            # when it is locked already, and hides it by that.
            self.hide()
            self.destroy()
        self.setWindowFlag(Qt.WindowType.WindowTransparentForInput, locked)
        # Without a frame of the window manager around it, which would take the clicks (openbox).
        bypasses = locked and is_x11
        self.setWindowFlag(Qt.WindowType.X11BypassWindowManagerHint, bypasses)
        self.setGeometry(place)
        self.setVisible(was_visible)  # another flag hides a window

    def measure(self, text: str) -> float:
        """Tell how wide a text is in the letters of captions."""
        return self._metrics.horizontalAdvance(text)

    def measure_source(self, text: str) -> float:
        """Tell how wide a text is in the letters of the source beside captions."""
        return self._small.horizontalAdvance(text)

    @Slot(OverlayView)
    def show_view(self, view: OverlayView) -> None:
        """Paint another view; lines that moved up glide there, unless painting is too slow."""
        if view == self._view:
            return
        is_hint = view.is_hint or self._view.is_hint
        glides = self._choices.smooth and not is_hint and self._last_paint_s < _QUICK_S
        self._captions.show_lines(view.lines[-self.n_lines :], self._metrics, glides=glides)
        self._source.show_lines(view.source[-self.n_lines :], self._small, glides=glides)
        self._view = view
        self.setAccessibleDescription(" ".join(line.text for line in view.lines))
        self.update()

    def first_place(self) -> QPoint:
        """Find the place at the bottom of the screen, in its middle."""
        area = self._screen_area()
        left = area.left() + (area.width() - self.width()) // 2
        top = area.bottom() - self.height() - _DISTANCE_FROM_EDGE
        return QPoint(max(left, area.left()), max(top, area.top()))

    def put(self, corner: QPoint) -> None:
        """Go where the left upper corner is here, as if the person had put it there."""
        self._anchor = _bottom_middle(QRect(corner, self.size()))
        self._take_size()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the background, the source where it is wanted, and the captions."""
        start_s = time.perf_counter()
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = self._theme
        paint_box(painter, self.rect(), colours)
        body = self.rect().adjusted(PADDING, PADDING, -PADDING, -PADDING)
        font, small = self._fonts
        if self._choices.shows == "both":
            height = round(self._small.lineSpacing() * self.n_lines)
            place = QRect(body.left(), body.top(), body.width(), height)
            self._source.paint(painter, place, small, colours.quiet, self._rim())
            body.setTop(place.bottom() + 1 + _GAP)
        colour = colours.quiet if self._view.is_hint else colours.text
        self._captions.paint(painter, body, font, colour, self._rim())
        painter.end()
        self._last_paint_s = time.perf_counter() - start_s
        self.painted.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag: by the window system, or by hand where it does not offer one."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._was_moved = True
        edges = edges_at(event.position().toPoint(), self.size())
        window = self.windowHandle()
        moves = edges == NO_EDGE
        if not (window.startSystemMove() if moves else window.startSystemResize(edges)):
            self._drag = Drag(event.globalPosition().toPoint(), self.geometry(), edges)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on with a drag by hand; else show what a drag would do here."""
        if self._drag is None:
            self.setCursor(cursor_at(edges_at(event.position().toPoint(), self.size())))
            return
        least, most = self.minimumSize(), self.maximumSize()
        self.setGeometry(self._drag.geometry(event.globalPosition().toPoint(), least, most))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End a drag by hand."""
        self._drag = None

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer what the window offers for the overlay."""
        if self.actions():
            menu = QMenu(self)
            menu.addActions(self.actions())
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(event.globalPos())

    def closeEvent(self, event: QCloseEvent) -> None:
        """Tell of it, since buttons and menus show whether the overlay is there."""
        super().closeEvent(event)
        self.closed.emit()

    def moveEvent(self, event: QMoveEvent) -> None:
        """Tell the new place when the person has let go of the window."""
        super().moveEvent(event)
        self._settled.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Take another size for good when the person has let go of the edge."""
        super().resizeEvent(event)
        self._settled.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Leave nothing running."""
        super().hideEvent(event)
        self._settled.stop()
        self._captions.forget()
        self._source.forget()

    def _take_size(self) -> None:
        """Take the size that the choices ask for, at the place that the person gave it."""
        area = self._screen_area()
        self.setMinimumSize(self._size_for(20, 1).boundedTo(area.size()))
        self.setMaximumSize(self._size_for(68, 4).boundedTo(area.size()))
        place = QRect(QPoint(), self._wanted_size())
        place.moveLeft(self._anchor.x() - place.width() // 2)
        place.moveBottom(self._anchor.y())
        self._stands = _moved_inside(place, area)
        self.setGeometry(self._stands)

    def _wanted_size(self) -> QSize:
        return QSize(round(self.line_width) + 2 * PADDING, self._height_of(self.n_lines))

    def _size_for(self, characters: int, lines: int) -> QSize:
        width = self._metrics.averageCharWidth() * characters + 2 * PADDING
        return QSize(round(width), self._height_of(lines))

    def _height_of(self, lines: int) -> int:
        gap = _GAP if self._choices.shows == "both" else 0
        return round(self._line_pair_height() * lines) + 2 * PADDING + gap

    def _line_pair_height(self) -> float:
        """Tell how high a line is, with the line of the source that goes with it."""
        extra = self._small.lineSpacing() if self._choices.shows == "both" else 0.0
        return self._metrics.lineSpacing() + extra

    def _rim(self) -> tuple[int, int, int] | None:
        return self._theme.rim if self._choices.outline else None

    @Slot()
    def _repaint(self) -> None:
        self.update()

    @Slot()
    def _tell_size(self) -> None:
        """Tell place and size; a size between two is rounded to whole characters and lines."""
        before, now = self._stands, self.geometry()
        if not self._was_moved or self._drag is not None or now == before:
            return
        self._anchor = _bottom_middle(now)
        if now.size() != self._wanted_size():
            room = now.size() - QSize(2 * PADDING, 2 * PADDING)
            characters = round(room.width() / self._metrics.averageCharWidth())
            lines = round(room.height() / self._line_pair_height())
            self.size_wanted.emit(min(68, max(20, characters)), min(4, max(1, lines)))
            self._anchor = _bottom_middle(with_edges_of(now, before, self._wanted_size()))
        self._take_size()
        self.moved.emit()

    def _screen_area(self) -> QRect:
        return self.screen().availableGeometry()


def _bottom_middle(place: QRect) -> QPoint:
    return QPoint(place.left() + place.width() // 2, place.bottom())


def _moved_inside(place: QRect, area: QRect) -> QRect:
    """Move a window, no more than it takes for all of it to be inside an area that has room."""
    left = min(max(place.left(), area.left()), area.right() + 1 - place.width())
    top = min(max(place.top(), area.top()), area.bottom() + 1 - place.height())
    return QRect(QPoint(left, top), place.size())
