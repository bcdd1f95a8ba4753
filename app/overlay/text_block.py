"""A block of lines in the overlay: painted with a rim, and gliding up by whole lines."""

from collections.abc import Iterator, Sequence

from PySide6.QtCore import (
    QEasingCurve,
    QObject,
    QPointF,
    QRect,
    QRectF,
    Qt,
    QVariantAnimation,
    Signal,
    Slot,
)
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyle, QWidget

from app.captions.line_breaking import RIGHT_TO_LEFT_MARK, Line, lines_scrolled
from app.overlay.themes import Rgb, Theme

GLIDE_MS = 120
_RADIUS = 14
_RIM_SHARE = 0.11  # of the letters' height
_OPAQUE, _PALE = 255, 185


class Block(QObject):
    """Lines of one size. Text never moves but up, by whole lines.

    Signals:
        moved(): the lines stand elsewhere now.
    """

    moved = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._lines: tuple[Line, ...] = ()
        self._leaving: tuple[Line, ...] = ()
        self._glide = QVariantAnimation(widget)
        self._glide.setDuration(GLIDE_MS)
        self._glide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._glide.valueChanged.connect(self._tell_moved)
        self._glide.finished.connect(self._tell_moved)

    def show_lines(self, lines: Sequence[Line], metrics: QFontMetricsF, *, glides: bool) -> None:
        """Take other lines; let those that moved up glide, unless the desktop wants no motion."""
        before, self._lines = self._lines, tuple(lines)
        glides = glides and self._wants_motion()
        scrolled = lines_scrolled(before, self._lines) if glides else None
        if not scrolled:
            if scrolled is None:
                self._glide.stop()
            return
        self._leaving = before[:scrolled]
        self._glide.stop()
        self._glide.setStartValue(metrics.lineSpacing() * scrolled)
        self._glide.setEndValue(0.0)
        self._glide.start()

    def forget(self) -> None:
        """Stop gliding: what is shown next is another text, or in other letters."""
        self._glide.stop()

    @Slot()
    def _tell_moved(self) -> None:
        self.moved.emit()

    def _wants_motion(self) -> bool:
        """Ask the desktop, which tells it as the time that animations take."""
        hint = QStyle.StyleHint.SH_Widget_Animation_Duration
        return self._widget.style().styleHint(hint, None, self._widget) > 0

    def paint(
        self, painter: QPainter, place: QRect, font: QFont, colour: Rgb, rim: Rgb | None
    ) -> None:
        """Paint the lines into a place, each with its rim below it."""
        metrics = QFontMetricsF(font)
        lines, top = self._lines, float(place.top())
        if self._glide.state() == QVariantAnimation.State.Running:
            lines = self._leaving + lines
            top += self._glide.currentValue() - len(self._leaving) * metrics.lineSpacing()
        painter.save()
        painter.setClipRect(place.adjusted(-8, -2, 8, 8))
        for number, line in enumerate(lines):
            baseline = top + metrics.ascent() + number * metrics.lineSpacing()
            for path, opacity in _paths(line, font, metrics, place, baseline):
                if rim is not None:
                    painter.strokePath(path, _pen(rim, metrics.ascent() * _RIM_SHARE))
                painter.fillPath(path, QColor(*colour, opacity))
        painter.restore()


def paint_box(painter: QPainter, place: QRect, colours: Theme, *, opaque: bool = False) -> None:
    """Paint the round box behind the lines."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(*colours.background, 255 if opaque else colours.opacity))
    painter.drawRoundedRect(QRectF(place), _RADIUS, _RADIUS)


def _paths(
    line: Line, font: QFont, metrics: QFontMetricsF, place: QRect, baseline: float
) -> Iterator[tuple[QPainterPath, int]]:
    """Draw a line's letters, and tell how opaque; from right to left it ends where others begin.

    What may still change is paler, and begins where it would stand if it were certain.
    """
    left = place.left()
    n_certain = len(line.text) - line.n_tail
    certain, tail = line.text[:n_certain], line.text[n_certain:]
    width, whole = metrics.horizontalAdvance(certain), metrics.horizontalAdvance(line.text)
    if line.right_to_left:
        right = place.right() + 1
        yield _path(RIGHT_TO_LEFT_MARK + certain, font, right - width, baseline), _OPAQUE
        yield _path(RIGHT_TO_LEFT_MARK + tail, font, right - whole, baseline), _PALE
    else:
        yield _path(certain, font, left, baseline), _OPAQUE
        yield _path(tail, font, left + width, baseline), _PALE


def _path(text: str, font: QFont, left: float, baseline: float) -> QPainterPath:
    path = QPainterPath()
    if text:
        path.addText(QPointF(left, baseline), font, text)
    return path


def _pen(rim: Rgb, width: float) -> QPen:
    pen = QPen(QColor(*rim), width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    return pen
