"""Charts: a waterfall, a histogram and a curve; each has an accessible description."""

from collections.abc import Sequence

from PySide6.QtCore import QPointF, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen, QPolygonF
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.palette import colours_of

_PAD = 6
_LEADING = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
Rows = Sequence[tuple[str, float, float, str]]
"""Name, length of the thick bar, length of the thin bar, label."""


class Chart(QWidget):
    """A chart below a title."""

    def __init__(self, title: str, height: int) -> None:
        super().__init__()
        self.title = title
        self._height = height
        self.setAccessibleName(title)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)

    def sizeHint(self) -> QSize:
        """Return a size at which everything is legible."""
        return QSize(420, self._height)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest such size."""
        return QSize(260, self._height)

    def describe(self, words: str) -> None:
        """Set the accessible description and repaint."""
        self.setAccessibleDescription(words)
        self.update()

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  painted whole
        """Paint the title, and the chart below it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.fontMetrics().height()
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.drawText(QRectF(0, 0, self.width(), line), _LEADING, self.title)
        font.setBold(False)
        painter.setFont(font)
        top = line + _PAD
        self.paint(painter, QRectF(0, top, self.width(), self.height() - top))

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint the chart into an area."""
        raise NotImplementedError

    @property
    def main(self) -> QColor:
        """The colour of bars and of the first curve."""
        return colours_of(self.palette()).colour("accent")

    @property
    def lesser(self) -> QColor:
        """The colour of thin bars and of the second curve."""
        return colours_of(self.palette()).colour("edge")

    @property
    def quiet(self) -> QColor:
        """Colour of axes and scales."""
        return self.palette().color(QPalette.ColorRole.PlaceholderText)


class Waterfall(Chart):
    """Bars one below the other; each begins where the one above ends."""

    def __init__(self, title: str) -> None:
        super().__init__(title, 190)
        self._rows: Rows = ()

    def show_rows(self, rows: Rows, words: str) -> None:
        """Show these rows; both bars of a row have the same start."""
        self._rows = tuple(rows)
        self.describe(words)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint names, bars and labels."""
        if not self._rows:
            return
        metrics = self.fontMetrics()
        names = max(metrics.horizontalAdvance(row[0]) for row in self._rows) + 2 * _PAD
        texts = max(metrics.horizontalAdvance(row[3]) for row in self._rows) + 2 * _PAD
        room = max(20.0, area.width() - names - texts)
        whole = max(_reach(self._rows), 1e-9)
        height, start = area.height() / len(self._rows), 0.0
        for number, (name, length, thin, text) in enumerate(self._rows):
            top = area.top() + number * height
            painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
            painter.drawText(QRectF(0, top, names - _PAD, height), _LEADING, name)
            beside = QRectF(area.width() - texts + _PAD, top, texts - _PAD, height)
            painter.drawText(beside, _LEADING, text)
            x, middle = names + room * start / whole, top + height / 2
            painter.setPen(QPen(self.quiet, 1))
            painter.drawLine(QPointF(names, middle), QPointF(names + room, middle))
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.lesser)
            painter.drawRect(QRectF(x, middle - 2, room * thin / whole, 4))
            painter.setBrush(self.main)
            bar = min(18.0, height * 0.6)
            painter.drawRect(QRectF(x, middle - bar / 2, room * length / whole, bar))
            start += length


class Histogram(Chart):
    """Vertical bars, each with its name below and its count above."""

    def __init__(self, title: str) -> None:
        super().__init__(title, 170)
        self.bars: Sequence[tuple[str, int]] = ()

    def show_bars(self, bars: Sequence[tuple[str, int]], words: str) -> None:
        """Show these names and counts."""
        self.bars = tuple(bars)
        self.describe(words)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint bars over a line."""
        line = self.fontMetrics().height()
        floor = area.bottom() - line - _PAD
        room, width = floor - area.top() - line, area.width() / max(1, len(self.bars))
        most = max((count for _, count in self.bars), default=0)
        for number, (name, count) in enumerate(self.bars):
            left = number * width
            painter.setPen(self.quiet)
            below = QRectF(left, floor + 2, width, line)
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, name)
            height = room * count / most if most else 0
            if count:
                painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
                above = QRectF(left, floor - height - line, width, line)
                painter.drawText(above, Qt.AlignmentFlag.AlignCenter, f"{count:,}")
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(self.main)
            painter.drawRect(QRectF(left + 2, floor - height, max(1.0, width - 4), height))
        painter.setPen(QPen(self.quiet, 1))
        painter.drawLine(QPointF(0, floor), QPointF(area.width(), floor))


class CurveChart(Chart):
    """One curve or two from 0 to the largest value, with texts above."""

    def __init__(self, title: str) -> None:
        super().__init__(title, 110)
        self._curves: tuple[Sequence[tuple[float, float]], ...] = ()
        self._top = self._newest = ""

    def show_curves(
        self, curves: Sequence[Sequence[tuple[float, float]]], top: str, newest: str
    ) -> None:
        """Show curves over one scale.

        Args:
            curves: points (seconds, value).
            top: text of the largest value.
            newest: text of the newest values.
        """
        self._curves = tuple(tuple(curve) for curve in curves)
        self._top, self._newest = top, newest
        self.describe(newest)

    def paint(self, painter: QPainter, area: QRectF) -> None:
        """Paint scale and curves."""
        line = self.fontMetrics().height()
        picture = area.adjusted(0, line, 0, -_PAD)
        painter.setPen(self.quiet)
        ends = Qt.AlignmentFlag.AlignTrailing | Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRectF(0, area.top(), area.width(), line), ends, self._top)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        painter.drawText(QRectF(0, area.top(), area.width(), line), _LEADING, self._newest)
        painter.setPen(QPen(self.quiet, 1))
        painter.drawLine(picture.bottomLeft(), picture.bottomRight())
        painter.drawLine(picture.topLeft(), picture.topRight())
        points = [point for curve in self._curves for point in curve]
        if len(points) < 2:
            return
        first, last = min(at for at, _ in points), max(at for at, _ in points)
        most = max(value for _, value in points) or 1.0
        for curve, colour in zip(self._curves, (self.main, self.lesser), strict=False):
            painter.setPen(QPen(colour, 2))
            painter.drawPolyline(_scaled(curve, picture, (first, last - first or 1.0, most)))


def _scaled(
    curve: Sequence[tuple[float, float]], area: QRectF, scale: tuple[float, float, float]
) -> QPolygonF:
    first, span, most = scale
    return QPolygonF(
        [
            QPointF(
                area.left() + area.width() * (at - first) / span,
                area.bottom() - area.height() * value / most,
            )
            for at, value in curve
        ]
    )


def _reach(rows: Rows) -> float:
    """Return the right end of a waterfall."""
    start = reach = 0.0
    for _, length, thin, _ in rows:
        reach = max(reach, start + length, start + thin)
        start += length
    return reach
