"""The edges of a frameless window, and resizing by dragging them."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QRect, QSize, Qt

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
