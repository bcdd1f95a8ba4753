"""The overlay: a frameless window above all others that paints the last lines.

It is put inside its screen, and off what is clicked and typed in; its edges can be dragged.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QContextMenuEvent,
    QGuiApplication,
    QHideEvent,
    QMouseEvent,
    QMoveEvent,
    QPainter,
    QPaintEvent,
    QRegion,
    QResizeEvent,
    QScreen,
)
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from app.captions.reading_pace import EXTRA_LINES
from app.config.preferences import CaptionPreferences
from app.config.window_system import is_wayland
from app.overlay.text_layout import OverlayView, TextLayout, set_shape

NO_EDGE = Qt.Edge(0)
_GRIP = 10
_CORNER = 24
_LEFT, _RIGHT, _TOP, _BOTTOM = (
    Qt.Edge.LeftEdge,
    Qt.Edge.RightEdge,
    Qt.Edge.TopEdge,
    Qt.Edge.BottomEdge,
)
_CURSORS = {
    NO_EDGE: Qt.CursorShape.SizeAllCursor,
    _LEFT: Qt.CursorShape.SizeHorCursor,
    _RIGHT: Qt.CursorShape.SizeHorCursor,
    _TOP: Qt.CursorShape.SizeVerCursor,
    _BOTTOM: Qt.CursorShape.SizeVerCursor,
    _LEFT | _TOP: Qt.CursorShape.SizeFDiagCursor,
    _RIGHT | _BOTTOM: Qt.CursorShape.SizeFDiagCursor,
    _RIGHT | _TOP: Qt.CursorShape.SizeBDiagCursor,
    _LEFT | _BOTTOM: Qt.CursorShape.SizeBDiagCursor,
}


def edges_at(point: QPoint, size: QSize) -> Qt.Edge:
    """Return the edges that a drag from a point moves: none in the middle, two in a corner."""
    near = _edges(point, size, _GRIP)
    return near if near == NO_EDGE else _edges(point, size, _CORNER)


def cursor_at(edges: Qt.Edge) -> Qt.CursorShape:
    return _CURSORS[edges]


@dataclass(frozen=True, slots=True)
class Drag:
    """A drag handled by the program instead of the window system.

    Attributes:
        start: position on the screen where the button was pressed.
        before: the window's geometry at that time.
        edges: the dragged edges; none moves the whole window.
    """

    start: QPoint
    before: QRect
    edges: Qt.Edge

    def geometry(self, point: QPoint, least: QSize, most: QSize) -> QRect:
        """Return the window's geometry with the mouse at a point; the other edges stay in place."""
        by = point - self.start
        if self.edges == NO_EDGE:
            return self.before.translated(by)
        size = self.before.size()
        if self.edges & (_LEFT | _RIGHT):
            size.setWidth(size.width() + by.x() * self._sign(_LEFT))
        if self.edges & (_TOP | _BOTTOM):
            size.setHeight(size.height() + by.y() * self._sign(_TOP))
        size = size.expandedTo(least).boundedTo(most)
        dragged = QRect(self.before.topLeft(), size)
        if self.edges & _LEFT:
            dragged.moveRight(self.before.right())
        if self.edges & _TOP:
            dragged.moveBottom(self.before.bottom())
        return dragged

    def _sign(self, backwards: Qt.Edge) -> int:
        return -1 if self.edges & backwards else 1


def with_edges_of(now: QRect, before: QRect, size: QSize) -> QRect:
    """Return a geometry of another size after a drag; the edges that were not dragged stay."""
    resized = QRect(now.topLeft(), size)
    if now.left() != before.left():
        resized.moveRight(now.right())
    if now.top() != before.top():
        resized.moveBottom(now.bottom())
    return resized


def _edges(point: QPoint, size: QSize, grip: int) -> Qt.Edge:
    edges = NO_EDGE
    if point.x() < grip:
        edges |= _LEFT
    elif point.x() >= size.width() - grip:
        edges |= _RIGHT
    if point.y() < grip:
        edges |= _TOP
    elif point.y() >= size.height() - grip:
        edges |= _BOTTOM
    return edges


_DISTANCE_FROM_EDGE, _EDGE_SHARE = 48, 0.05  # pixels at most; of the height of the screen
_SETTLED_MS = 300
_LEAST_LINES = 2  # where the overlay keeps off something
_SIDE = 16  # pixels of the screen that stay free beside long lines
_QUICK_S = 0.03  # slower painting leaves a glide four steps at most


class Overlay(QWidget):
    """Paint the last view; the window can be dragged and resized, and never takes the focus.

    On X11 no window manager has it: several keep a window that fills the screen, as slides and
    calls do, above all others, and the frame of some would take the clicks through a locked one.

    The size of the window does not depend on the text, so it does not jump. Painted is a box around
    the text, which is at the lower edge and grows upward. The middle of that edge stays where the
    user put it, as far as the screen allows.

    Attributes:
        text: lays out the lines, and measures them.

    Signals:
        moved(): the user moved or resized it.
        size_wanted(int, int): the user dragged an edge to this many characters and lines.
        painted(): the last view was painted.
        closed(): the user closed it through the window manager.
        layout_changed(): ``n_lines``, the letters or the width of lines are other ones.
        screens_changed(): a screen came, went or changed.
        box_changed(): ``box`` is another one.
        hint_changed(): the hint came, went, or has to be elsewhere.
    """

    moved = Signal()
    size_wanted = Signal(int, int)
    painted = Signal()
    closed = Signal()
    layout_changed = Signal()
    screens_changed = Signal()
    box_changed = Signal()
    hint_changed = Signal()

    def __init__(self, choices: CaptionPreferences | None = None) -> None:
        super().__init__(
            None,
            Qt.WindowType.Tool
            | Qt.WindowType.FramelessWindowHint
            | Qt.WindowType.WindowStaysOnTopHint
            | Qt.WindowType.WindowDoesNotAcceptFocus,
        )
        self._knows_positions = not is_wayland()
        self._is_alone = QGuiApplication.platformName() == "xcb"  # without a window manager
        self.setWindowFlag(Qt.WindowType.X11BypassWindowManagerHint, self._is_alone)
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setMouseTracking(True)
        self.setWindowTitle(self.tr("Surtitle captions"))
        self.setAccessibleName(self.tr("Caption overlay"))
        self.text = TextLayout(self)
        self.text.moved.connect(self.update)
        self._is_whole = False
        self._holes = QRegion()
        self._last_box, self._laid_out = QRect(), QSize()
        self._drag: Drag | None = None
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(self._emit_size)
        self._was_moved = self._is_held = False
        self._last_paint_s = 0.0
        area = self.screen().availableGeometry()
        self._anchor = QPoint(area.center().x(), area.bottom() - _distance_from_edge(area))
        self._placed = QRect()  # the geometry last set by this class and not by the user
        self._base = QRect()  # the same without extra lines
        self._home = QRect()  # the same without stepping aside
        self._needed: list[QRect] = []
        self.show_theme(choices or CaptionPreferences())
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenAdded.connect(self._follow_screen)
        application.screenAdded.connect(self._fit_screens)
        application.screenRemoved.connect(self._fit_screens)
        for screen in application.screens():
            self._follow_screen(screen)

    @property
    def is_locked(self) -> bool:
        """Whether clicks go through to the window below."""
        return bool(self.windowFlags() & Qt.WindowType.WindowTransparentForInput)

    @property
    def is_dragged(self) -> bool:
        """Whether the user drags it, or did a moment ago."""
        return self._drag is not None or self._settled.isActive()

    def show_theme(self, choices: CaptionPreferences) -> None:
        """Change font, colours and size, and fit it into its screen."""
        self._choices = choices
        area = self._fitted_area = self._screen_area()
        self.text.dress(choices, self.font(), area.width() - 2 * _SIDE)
        self.text.n_lines = self._lines_that_fit(area)
        self._take_size()
        self.text.forget_box()
        self._lay_out(glides=False)
        self.layout_changed.emit()

    def set_locked(self, *, locked: bool) -> None:
        """Lock or unlock; clicks go through a locked overlay."""
        if locked == self.is_locked:
            return
        geometry, was_visible = self.geometry(), self.isVisible()
        self.setWindowFlag(Qt.WindowType.WindowTransparentForInput, locked)
        self.setGeometry(geometry)
        self.setVisible(was_visible)  # changing a flag hides a window

    @property
    def n_lines(self) -> int:
        return self.text.n_lines

    @property
    def n_extra(self) -> int:
        """How many more captions have room above, for as long as more comes than can be read."""
        if self._is_held or not self._knows_positions:
            return 0
        area, line = self._screen_area(), self.text.line_height
        taller = [self._base.adjusted(0, -n * line, 0, 0) for n in range(1, EXTRA_LINES + 1)]
        clear = [
            area.contains(one) and not any(map(one.intersects, self._needed)) for one in taller
        ]
        return clear.index(False) if False in clear else EXTRA_LINES

    @property
    def view(self) -> OverlayView:
        return self.text.view

    @Slot(OverlayView)
    def show_view(self, view: OverlayView) -> None:
        """Paint another view; lines that moved up glide unless painting is too slow."""
        if view == self.view:
            return
        is_other = view.is_hint or self.view.is_hint
        glides = self._choices.smooth and not is_other and self._last_paint_s < _QUICK_S
        if is_other:
            self.text.forget_box()
        self.text.view = view
        self._stretch()
        if self._is_alone and QApplication.activePopupWidget() is None:
            self.raise_()  # a window manager puts each window above it that it raises
        self.setAccessibleDescription(" ".join(line.text for line in view.lines))
        self._lay_out(glides=glides)
        if is_other:
            self.hint_changed.emit()

    def _stretch(self) -> None:
        """Make room above for the lines of a burst, as far as there is any."""
        n_wanted = 0 if self.view.is_hint else max(0, len(self.view.lines) - self.n_lines)
        self.text.n_extra = min(n_wanted, self.n_extra)
        before, higher = self._placed, self.text.n_extra * self.text.line_height
        self._placed = self._base.adjusted(0, -higher, 0, 0)
        if self._placed != before:
            self.setGeometry(self._placed)

    @property
    def box(self) -> QRect:
        """The painted part: around the text, or all of it while the mouse is on it."""
        box = None if self._is_whole else self.text.box
        return self.rect() if box is None else box & self.rect()

    def show_whole(self, *, whole: bool) -> None:
        """Show all of it, with the edges that can be dragged, or the box around the text."""
        self._is_whole = whole
        self._follow_box()

    def cut_out(self, holes: QRegion) -> None:
        """Show nothing in a region, and let clicks through there."""
        self._holes = holes
        self._follow_box()

    def default_position(self) -> QPoint:
        """Return the top left corner for the bottom centre of the screen."""
        area = self._screen_area()
        left = area.left() + (area.width() - self.width()) // 2
        top = area.bottom() - self._home.height() - _distance_from_edge(area)
        return QPoint(max(left, area.left()), max(top, area.top()))

    def put(self, corner: QPoint, size: QSize | None = None) -> None:
        """Move the top left corner here, as if the user had done it.

        It may be too large for the screen that it comes to: ``size`` is what has room there.
        """
        self._anchor = _bottom_middle(QRect(corner, size or self.size()))
        self._fit()

    @property
    def home(self) -> QRect:
        """Its geometry where the user put it, also while it steps aside."""
        return self._home if self.geometry() == self._placed else self.geometry()

    def keep_off(self, areas: Sequence[QRect]) -> None:
        """Cover none of these parts of the screen, with fewer lines if there is no room.

        Where there is none for two lines either, the last parts are covered: they matter least.
        """
        if list(areas) != self._needed:
            self._needed = list(areas)
            if not self.is_dragged or not self._was_moved:
                self._fit()
            self.hint_changed.emit()

    @property
    def is_hint_in_the_way(self) -> bool:
        """Whether a hint is shown, and covers what must be seen, since there is no other room."""
        return self.view.is_hint and any(map(self.geometry().intersects, self._needed))

    def paintEvent(self, _event: QPaintEvent) -> None:
        start_s = time.perf_counter()
        painter = QPainter(self)
        self.text.paint(painter, self.box)
        painter.end()
        self._last_paint_s = time.perf_counter() - start_s
        self.painted.emit()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag by the window system, or by this class where it has none for us."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        self._was_moved = self._is_held = True
        self._stretch()
        edges = edges_at(event.position().toPoint(), self.size())
        if self._is_alone or not self._begin_system_drag(edges):
            self._drag = Drag(event.globalPosition().toPoint(), self.geometry(), edges)

    def _begin_system_drag(self, edges: Qt.Edge) -> bool:
        window = self.windowHandle()
        return window.startSystemMove() if edges == NO_EDGE else window.startSystemResize(edges)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Continue our own drag, or set the cursor for a drag from here."""
        if self._drag is None:
            self.setCursor(cursor_at(edges_at(event.position().toPoint(), self.size())))
            return
        least, most = self.minimumSize(), self.maximumSize()
        self.setGeometry(self._drag.geometry(event.globalPosition().toPoint(), least, most))

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        self._drag = None
        self._settled.start()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.actions():
            menu = QMenu(self)
            menu.addActions(self.actions())
            menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            menu.popup(event.globalPos())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.show_theme(self._choices)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit ``closed``, so that buttons and menus follow."""
        super().closeEvent(event)
        self.closed.emit()

    def moveEvent(self, event: QMoveEvent) -> None:
        super().moveEvent(event)
        self._settled.start()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._settled.start()
        if event.size() != self._laid_out:
            self.text.forget_box()
            self._lay_out(glides=False)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._settled.stop()
        self.text.forget_box()
        self._lay_out(glides=False)

    def _lay_out(self, *, glides: bool) -> None:
        self._laid_out = self.size()
        self.text.lay_out(self.size(), glides=glides)
        self._follow_box()
        self.update()

    def _follow_box(self) -> None:
        box = self.box
        set_shape(self, QRegion(box) - self._holes)
        if box != self._last_box:
            self._last_box = box
            self.update()
            self.box_changed.emit()

    def _take_size(self) -> None:
        area = self._screen_area()
        room = area.size() - QSize(2 * _SIDE, 0)
        self.setMinimumSize(self.text.size_for(20, 1).boundedTo(room))
        most = self.text.size_for(68, 4) + QSize(0, EXTRA_LINES * self.text.line_height)
        self.setMaximumSize(most.boundedTo(room))
        self._home = self._home_for(self.n_lines, area)
        at_the_bottom = QRect(self._home)
        at_the_bottom.moveBottom(area.bottom())
        self._base = best_place(self._home, self._needed, area) or at_the_bottom
        self._stretch()
        self.setGeometry(self._placed)

    def _home_for(self, lines: int, area: QRect) -> QRect:
        size = self.text.size_of_lines(lines)
        home = QRect(QPoint(), size)
        home.moveLeft(self._anchor.x() - size.width() // 2)
        home.moveBottom(self._anchor.y())
        return moved_inside(home, area)

    def _lines_that_fit(self, area: QRect) -> int:
        """Return the chosen number of lines, or fewer if there is no room for it.

        One alone is a leftover of a sentence: rather than that, what is needed least is covered.
        """
        most = max(1, min(self._choices.lines, self.text.lines_in(area.height())))
        fitting = (
            lines
            for lines in range(most, min(_LEAST_LINES, most) - 1, -1)
            if clear_place(self._home_for(lines, area), self._needed, area) is not None
        )
        return next(fitting, min(_LEAST_LINES, most) if self._needed else most)

    @Slot()
    def _emit_size(self) -> None:
        """Emit position and size after a drag, rounded to whole characters and lines."""
        before, now = self._placed, self.geometry()
        self._is_held = self._drag is not None
        if not self._was_moved or self._drag is not None or now == before:
            if self._drag is None:
                self._fit()  # what it keeps off may have changed meanwhile
            return
        self._anchor = _bottom_middle(now)
        if now.size() != self._home.size():
            characters, lines = self.text.text_in(now.size())
            self.size_wanted.emit(min(68, max(20, characters)), min(4, max(1, lines)))
            self._anchor = _bottom_middle(with_edges_of(now, before, self._home.size()))
        self._fit()
        self.moved.emit()

    @Slot(QScreen)
    def _follow_screen(self, screen: QScreen) -> None:
        screen.availableGeometryChanged.connect(self._fit_screens)
        screen.logicalDotsPerInchChanged.connect(self._fit_screens)

    @Slot()
    def _fit_screens(self) -> None:
        self.show_theme(self._choices)
        self.screens_changed.emit()

    def _fit(self) -> None:
        area = self._screen_area()
        if area == self._fitted_area and self.n_lines == self._lines_that_fit(area):
            self._take_size()
        else:
            self.show_theme(self._choices)

    def _screen_area(self) -> QRect:
        screen = QGuiApplication.screenAt(self._anchor) or self.screen()
        return screen.availableGeometry()


def _distance_from_edge(area: QRect) -> int:
    return min(_DISTANCE_FROM_EDGE, round(_EDGE_SHARE * area.height()))


def _bottom_middle(area: QRect) -> QPoint:
    return QPoint(area.left() + area.width() // 2, area.bottom())


def moved_inside(window: QRect, area: QRect) -> QRect:
    """Move a window just as far as needed to be inside an area."""
    left = min(max(window.left(), area.left()), area.right() + 1 - window.width())
    top = min(max(window.top(), area.top()), area.bottom() + 1 - window.height())
    return QRect(QPoint(left, top), window.size())


def clear_place(home: QRect, needed: Sequence[QRect], area: QRect) -> QRect | None:
    """Return the nearest place, moved up or down only, that covers nothing needed; None if none.

    Args:
        home: where it is put if it covers nothing there.
        needed: parts of the screen that must be seen.
    """
    height = home.height()
    tops = [home.top(), area.bottom() + 1 - height, area.top()]
    tops += [one.top() - height for one in needed] + [one.bottom() + 1 for one in needed]
    places = [QRect(QPoint(home.left(), top), home.size()) for top in tops]
    clear = [
        place
        for place in places
        if area.contains(place) and not any(place.intersects(one) for one in needed)
    ]
    return min(clear, key=lambda place: abs(place.top() - home.top()), default=None)


def best_place(home: QRect, needed: Sequence[QRect], area: QRect) -> QRect | None:
    """Return a clear place; where there is none, one that covers only the last things needed.

    Args:
        home: where it is put if it covers nothing there.
        needed: parts of the screen that must be seen, the most important first.
    """
    place = clear_place(home, needed, area)
    if place is None and len(needed) > 1:
        return best_place(home, needed[:-1], area)
    return place
