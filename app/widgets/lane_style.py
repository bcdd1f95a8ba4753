"""Names and colours of lanes (speakers).

Colours have a contrast of 4.5 to 1 on their light or dark background; the name is always shown,
too.
"""

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QGuiApplication, QPalette

from app.captions.lanes import ME, THEM

_ON_LIGHT = {ME: "#0b5cad", THEM: "#8a3b00"}
_ON_DARK = {ME: "#7fbcff", THEM: "#ffb37a"}
_MIDDLE = 128


def lane_name(lane: str) -> str:
    """Return the name of a lane for people; empty for typed text."""
    if lane == ME:
        return QCoreApplication.translate("Lanes", "Me")
    if lane == THEM:
        return QCoreApplication.translate("Lanes", "Them")
    return lane


def lane_colour(lane: str) -> QColor | None:
    """Return the colour of a lane on the background of lists; None for the default."""
    base = QGuiApplication.palette().color(QPalette.ColorRole.Base)
    colours = _ON_LIGHT if base.lightness() > _MIDDLE else _ON_DARK
    return QColor(colours[lane]) if lane in colours else None
