"""A histogram, with an accessible description."""

from collections.abc import Sequence

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.palette import colours_of

_PAD = 6
_LEADING = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter


class Histogram(QWidget):
    """Vertical bars below a title, each with its name below and its count above."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.bars: Sequence[tuple[str, int]] = ()
        self.setAccessibleName(title)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.MinimumExpanding)

    def sizeHint(self) -> QSize:
        """Return a size at which everything is legible."""
        return QSize(420, 170)

    def minimumSizeHint(self) -> QSize:
        """Return the smallest such size."""
        return QSize(260, 170)

    def show_bars(self, bars: Sequence[tuple[str, int]], words: str) -> None:
        """Show these names and counts.

        Args:
            bars: from left to right.
            words: the accessible description.
        """
        self.bars = tuple(bars)
        self.setAccessibleDescription(words)
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the title, and bars over a line."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        line = self.fontMetrics().height()
        font = painter.font()
        font.setBold(True)
        painter.setFont(font)
        painter.drawText(QRectF(0, 0, self.width(), line), _LEADING, self.title)
        font.setBold(False)
        painter.setFont(font)
        self._paint_bars(painter, QRectF(self.rect()).adjusted(0, line + _PAD, 0, 0))
        painter.end()

    def _paint_bars(self, painter: QPainter, area: QRectF) -> None:
        line = self.fontMetrics().height()
        quiet = self.palette().color(QPalette.ColorRole.PlaceholderText)
        floor = area.bottom() - line - _PAD
        room, width = floor - area.top() - line, area.width() / max(1, len(self.bars))
        most = max((count for _, count in self.bars), default=0)
        for number, (name, count) in enumerate(self.bars):
            left = number * width
            painter.setPen(quiet)
            below = QRectF(left, floor + 2, width, line)
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, name)
            height = room * count / most if most else 0
            if count:
                painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
                above = QRectF(left, floor - height - line, width, line)
                painter.drawText(above, Qt.AlignmentFlag.AlignCenter, f"{count:,}")
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(colours_of(self.palette()).colour("accent"))
            painter.drawRect(QRectF(left + 2, floor - height, max(1.0, width - 4), height))
        painter.setPen(QPen(quiet, 1))
        painter.drawLine(0, int(floor), int(area.width()), int(floor))
