"""A QR code that fills its place, as large as whole squares of pixels allow."""

import segno
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

_BORDER = 4  # light squares around it, as the standard wants
_LEAST, _USUAL = 140, 280  # pixels


class QrCode(QWidget):
    """Paint a text as a QR code, dark on light whatever the colours of the windows are."""

    def __init__(self) -> None:
        super().__init__()
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self.setMinimumSize(_LEAST, _LEAST)
        self._squares: list[tuple[int, int]] = []  # dark ones, by column and row
        self._n_squares = 1

    def sizeHint(self) -> QSize:
        """Return a size that is read from a few steps away."""
        return QSize(_USUAL, _USUAL)

    def show_text(self, text: str) -> None:
        rows = [list(row) for row in segno.make(text, error="m", micro=False).matrix]
        self._n_squares = len(rows)
        self._squares = [
            (x, y) for y, row in enumerate(rows) for x, is_dark in enumerate(row) if is_dark
        ]
        self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        n_wide = self._n_squares + 2 * _BORDER
        side = max(1, min(self.width(), self.height()) // n_wide)
        left = (self.width() - side * n_wide) // 2
        top = (self.height() - side * n_wide) // 2
        painter = QPainter(self)
        painter.fillRect(QRect(left, top, side * n_wide, side * n_wide), Qt.GlobalColor.white)
        for x, y in self._squares:
            corner = left + side * (x + _BORDER), top + side * (y + _BORDER)
            painter.fillRect(QRect(*corner, side, side), Qt.GlobalColor.black)
        painter.end()
