"""A block of lines in the overlay, painted with a rim; lines glide up."""

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
    """Lines of one size; text only ever moves up, by whole lines.

    Signals:
        moved(): the lines moved and need a repaint.
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
        self._glide.valueChanged.connect(self.moved)
        self._glide.finished.connect(self.moved)

    def show_lines(self, lines: Sequence[Line], metrics: QFontMetricsF, *, glides: bool) -> None:
        """Show other lines; lines that moved up glide, unless the system reduces motion."""
        before, self._lines = self._lines, tuple(lines)
        glides = glides and self._wants_motion()
        scrolled = lines_scrolled(before, self._lines) if glides else None
        if scrolled == 0:
            return
        self._glide.stop()
        if scrolled is None:
            return
        self._leaving = before[:scrolled]
        self._glide.setStartValue(metrics.lineSpacing() * scrolled)
        self._glide.setEndValue(0.0)
        self._glide.start()

    def forget(self) -> None:
        """Stop gliding: another text or another font is shown next."""
        self._glide.stop()

    def _wants_motion(self) -> bool:
        """Return whether the system allows animations: it sets their duration to 0 if not."""
        hint = QStyle.StyleHint.SH_Widget_Animation_Duration
        return self._widget.style().styleHint(hint, None, self._widget) > 0

    def paint(
        self, painter: QPainter, area: QRect, font: QFont, colour: Rgb, rim: Rgb | None
    ) -> None:
        """Paint the lines into an area, each on top of its rim."""
        metrics = QFontMetricsF(font)
        lines, top = self._lines, float(area.top())
        if self._glide.state() == QVariantAnimation.State.Running:
            lines = self._leaving + lines
            top += self._glide.currentValue() - len(self._leaving) * metrics.lineSpacing()
        painter.save()
        painter.setClipRect(area.adjusted(-8, -2, 8, 8))
        for number, line in enumerate(lines):
            baseline = top + metrics.ascent() + number * metrics.lineSpacing()
            for path, opacity in _paths(line, font, metrics, area, baseline):
                if rim is not None:
                    painter.strokePath(path, _pen(rim, metrics.ascent() * _RIM_SHARE))
                painter.fillPath(path, QColor(*colour, opacity))
        painter.restore()


def paint_box(painter: QPainter, area: QRect, colours: Theme, *, opaque: bool = False) -> None:
    """Paint the round box behind the lines."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(*colours.background, 255 if opaque else colours.opacity))
    painter.drawRoundedRect(QRectF(area), _RADIUS, _RADIUS)


def _paths(
    line: Line, font: QFont, metrics: QFontMetricsF, area: QRect, baseline: float
) -> Iterator[tuple[QPainterPath, int]]:
    """Yield the outlines of the certain and the tentative letters, with their opacity.

    Right-to-left lines end at the right edge. Letters do not move when they are committed.
    """
    left, opacity = area.left(), _PALE if line.pale else _OPAQUE
    n_certain = len(line.text) - line.n_tail
    certain, tail = line.text[:n_certain], line.text[n_certain:]
    width, whole = metrics.horizontalAdvance(certain), metrics.horizontalAdvance(line.text)
    if line.right_to_left:
        right = area.right() + 1
        yield _path(RIGHT_TO_LEFT_MARK + certain, font, right - width, baseline), opacity
        yield _path(RIGHT_TO_LEFT_MARK + tail, font, right - whole, baseline), _PALE
    else:
        yield _path(certain, font, left, baseline), opacity
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
