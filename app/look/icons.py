"""Icons of the Lucide set (``assets/icons/lucide``), painted in the colours of the windows.

An icon never carries a meaning alone: a text or a tool tip with an accessible name is beside it.
"""

from functools import lru_cache
from pathlib import Path

from PySide6.QtCore import QByteArray, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QGuiApplication,
    QIcon,
    QIconEngine,
    QPainter,
    QPalette,
    QPixmap,
)
from PySide6.QtSvg import QSvgRenderer

from app.look.palette import colours_of
from engine.files import ASSETS

FOLDER = ASSETS / "icons" / "lucide"


_BESIDE_TEXT = 0.82
"""Share of its square that an icon takes, if the rest is to keep a text away."""


def icon(name: str, colour: str = "", *, before_text: bool = False) -> QIcon:
    """Return an icon that follows the palette of the application.

    Args:
        name: of a file in ``FOLDER``, without its suffix, for example ``mic``.
        colour: a field of ``Colours``, for example ``error``, or a colour, for example ``#fff000``;
            empty for the colour of text, which is the accent while a button is on.
        before_text: leave some of its room empty at the end, where a text begins.
    """
    path = FOLDER / f"{name}.svg"
    if not path.is_file():
        msg = f"there is no icon {name!r}; {FOLDER.name} has those that exist"
        raise ValueError(msg)
    return QIcon(_Engine(path, colour, before_text=before_text))


class _Engine(QIconEngine):
    """Paints an SVG in the colour that the palette has at that moment."""

    def __init__(self, path: Path, colour: str, *, before_text: bool) -> None:
        super().__init__()
        self._path, self._colour, self._before_text = path, colour, before_text

    def clone(self) -> QIconEngine:
        return _Engine(self._path, self._colour, before_text=self._before_text)

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        """Paint the icon into the middle of a rectangle, or to its start before a text."""
        side = min(rect.width(), rect.height()) * (_BESIDE_TEXT if self._before_text else 1)
        square = QRectF(0, 0, side, side)
        square.moveCenter(QRectF(rect).center())
        if self._before_text:
            is_mirrored = QGuiApplication.layoutDirection() == Qt.LayoutDirection.RightToLeft
            square.moveLeft(rect.left() + (rect.width() - side if is_mirrored else 0))
        svg = _svg(self._path).replace(b"currentColor", self._tint(mode, state).name().encode())
        QSvgRenderer(QByteArray(svg)).render(painter, square)

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        """Return the icon on a transparent background."""
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(0, 0, size.width(), size.height()), mode, state)
        painter.end()
        return pixmap

    def _tint(self, mode: QIcon.Mode, state: QIcon.State) -> QColor:
        palette = QGuiApplication.palette()
        if mode == QIcon.Mode.Disabled:
            return palette.color(QPalette.ColorGroup.Disabled, QPalette.ColorRole.ButtonText)
        if mode == QIcon.Mode.Selected:
            return palette.color(QPalette.ColorRole.HighlightedText)
        if self._colour.startswith("#"):
            return QColor(self._colour)
        if self._colour:
            return colours_of(palette).colour(self._colour)
        is_on = state == QIcon.State.On
        return palette.color(QPalette.ColorRole.Accent if is_on else QPalette.ColorRole.ButtonText)


@lru_cache
def _svg(path: Path) -> bytes:
    return path.read_bytes()
