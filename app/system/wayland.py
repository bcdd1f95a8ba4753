"""What Wayland keeps programs from, and the way around it: XWayland, the X server beside it.

A Wayland compositor tells no program where its windows are, lets none place them and none keep them
above the others. Qt pretends otherwise: after ``move`` it gives the wanted place back as the true
one. Through XWayland all of this works, at the price of blurred letters on some scaled screens.
"""

from collections.abc import Mapping

from PySide6.QtGui import QGuiApplication

_PLATFORM = "QT_QPA_PLATFORM"


def is_wayland() -> bool:
    """Tell whether the windows of this program are Wayland's own."""
    return QGuiApplication.platformName().startswith("wayland")


def can_use_xwayland(environment: Mapping[str, str]) -> bool:
    """Tell whether there is an X server beside Wayland."""
    return bool(environment.get("WAYLAND_DISPLAY") and environment.get("DISPLAY"))


def platform_wanted(environment: Mapping[str, str], *, through_xwayland: bool) -> str | None:
    """Choose the platform plugin that Qt should use.

    Args:
        environment: of the process; what it says of the platform counts before any choice.
        through_xwayland: what the person chose.

    Returns:
        what QT_QPA_PLATFORM should be; None to leave the choice to Qt.
    """
    if environment.get(_PLATFORM) or not through_xwayland or not can_use_xwayland(environment):
        return None
    return "xcb;wayland"  # Qt takes the first one that works
