"""Names and colours of lanes (speakers); beside a colour the name is always shown, too."""

from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QColor, QGuiApplication

from app.config.preferences import ME, THEM
from app.look.palette import colours_of


def lane_name(lane: str, given: Mapping[str, str] | None = None) -> str:
    """Return the name of a lane for people; empty for typed text.

    Args:
        lane: one of ``app.config.preferences``.
        given: names that the user gave, by lane.
    """
    if given and lane in given:
        return given[lane]
    if lane == ME:
        return QCoreApplication.translate("Lanes", "Me")
    if lane == THEM:
        return QCoreApplication.translate("Lanes", "Them")
    return lane


def lane_colour(lane: str) -> QColor | None:
    """Return the colour of a lane on the background of lists; None for the default."""
    if lane not in (ME, THEM):
        return None
    return colours_of(QGuiApplication.palette()).colour("me" if lane == ME else "them")
