"""The limits of Wayland, and XWayland, which avoids them.

Wayland programs cannot know or set the position of their windows, nor keep them above others; Qt
reports the requested position as the real one. XWayland supports all of this, but letters are
blurred on some scaled screens.
"""

from collections.abc import Mapping

from PySide6.QtGui import QGuiApplication

_PLATFORM = "QT_QPA_PLATFORM"


def is_wayland() -> bool:
    """Return whether the windows of this program use Wayland directly."""
    return QGuiApplication.platformName().startswith("wayland")


def can_use_xwayland(environment: Mapping[str, str]) -> bool:
    """Return whether there is an X server beside Wayland."""
    return bool(environment.get("WAYLAND_DISPLAY") and environment.get("DISPLAY"))


def platform_wanted(environment: Mapping[str, str], *, through_xwayland: bool) -> str | None:
    """Return the value for QT_QPA_PLATFORM, or None to leave the choice to Qt.

    Args:
        environment: of the process; its QT_QPA_PLATFORM comes before the preference.
        through_xwayland: the preference.
    """
    if environment.get(_PLATFORM) or not through_xwayland or not can_use_xwayland(environment):
        return None
    return "xcb;wayland"  # Qt takes the first one that works
