"""The geometry of windows, kept out of screen shares, and the limits of Wayland.

A saved geometry is relative to its screen, so it means the same after the screen got another size
or another position among the screens, and a window is never outside them. It is stored in a file of
its own, not in the settings.

Wayland programs cannot know or set the position of their windows, nor keep them above others; Qt
reports the requested position as the real one. XWayland supports all of this, but letters are
blurred on some scaled screens.
"""

import ctypes
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, QTimer, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QStyle, QWidget

from app.config.toml_file import TomlFile, table

_PLATFORM = "QT_QPA_PLATFORM"
_WIDEST = 16_777_215  # pixels; the limit of Qt for a window
_SETTLED_MS = 500
_SCREENS_SETTLED_MS = 500  # after that a window manager has moved windows off a screen that went
_EXCLUDED_FROM_CAPTURE, _SHOWN_EVERYWHERE = 0x11, 0
_SHARING_NONE, _SHARING_READ_ONLY = 0, 1


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
    """
    if environment.get(_PLATFORM) or not through_xwayland or not can_use_xwayland(environment):
        return None
    return "xcb;wayland"  # Qt takes the first one that works


def can_hide() -> bool:
    """Return whether this system can keep windows out of screen shares."""
    return sys.platform in {"win32", "darwin"}


def hide_from_share(window: int, *, hidden: bool) -> bool:
    """Keep a window, named by Qt's ``winId``, out of screen shares; return whether that worked."""
    if sys.platform == "win32":
        affinity = _EXCLUDED_FROM_CAPTURE if hidden else _SHOWN_EVERYWHERE
        return bool(ctypes.windll.user32.SetWindowDisplayAffinity(window, affinity))
    if sys.platform == "darwin":
        return _set_sharing_type(window, _SHARING_NONE if hidden else _SHARING_READ_ONLY)
    return False


def _set_sharing_type(view: int, sharing_type: int) -> bool:
    objc = ctypes.cdll.LoadLibrary("/usr/lib/libobjc.dylib")
    objc.sel_registerName.restype = ctypes.c_void_p
    objc.sel_registerName.argtypes = [ctypes.c_char_p]
    send = objc.objc_msgSend
    send.restype, send.argtypes = ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_void_p]
    window = send(view, objc.sel_registerName(b"window"))
    if not window:
        return False
    # Another prototype for the same function: the argument must be passed as an integer.
    send_number = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulong)(
        ("objc_msgSend", objc)
    )
    send_number(window, objc.sel_registerName(b"setSharingType:"), sharing_type)
    return True


class ShareGuard(QObject):
    """Hide windows from screen shares each time they are shown: Qt may recreate them."""

    _hidden = False  # asked for even when Python has already emptied the object

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._windows: list[QWidget] = []

    def watch(self, window: QWidget) -> None:
        self._windows.append(window)
        window.installEventFilter(self)

    def use(self, *, hidden: bool) -> None:
        if hidden != self._hidden:
            self._hidden = hidden
            for window in self._windows:
                if window.isVisible():
                    hide_from_share(int(window.winId()), hidden=hidden)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        shown = event.type() in {QEvent.Type.Show, QEvent.Type.WinIdChange}
        if self._hidden and shown and isinstance(watched, QWidget):
            hide_from_share(int(watched.winId()), hidden=True)
        return super().eventFilter(watched, event)


@dataclass(frozen=True, slots=True, kw_only=True)
class ScreenArea:
    """A screen and its area without panels."""

    name: str
    area: QRect


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedGeometry:
    """Position and size of a window.

    Attributes:
        screen: its name.
        x: how much of the free width is left of the window, 0 to 1.
        y: how much of the free height is above it.
        width: in device-independent pixels; 0 if only the position is saved.
        height: likewise.
    """

    screen: str
    x: float
    y: float
    width: int = 0
    height: int = 0


def screens() -> list[ScreenArea]:
    """Return the screens, the primary one first, as Qt lists them."""
    return [
        ScreenArea(
            name=f"{screen.name()} {screen.serialNumber()}".strip(), area=screen.availableGeometry()
        )
        for screen in QGuiApplication.screens()
    ]


def geometry_of(
    window: QRect, areas: Sequence[ScreenArea], *, with_size: bool = False
) -> SavedGeometry:
    """Return the geometry of a window, relative to the screen that has most of it."""
    home = max(areas, key=lambda screen: _common(screen.area, window))
    room = home.area.size() - window.size()
    return SavedGeometry(
        screen=home.name,
        x=_share(window.left() - home.area.left(), room.width()),
        y=_share(window.top() - home.area.top(), room.height()),
        width=window.width() if with_size else 0,
        height=window.height() if with_size else 0,
    )


def restored_geometry(saved: SavedGeometry, size: QSize, areas: Sequence[ScreenArea]) -> QRect:
    """Return the geometry of a window inside its former screen, or else inside the first one.

    Args:
        size: the window's; a smaller screen makes it smaller.
        areas: the current screens, at least one.
    """
    home = next((screen for screen in areas if screen.name == saved.screen), areas[0])
    size = size.boundedTo(home.area.size())
    room = home.area.size() - size
    offset = QPoint(
        round(_clamped(saved.x) * room.width()), round(_clamped(saved.y) * room.height())
    )
    return QRect(home.area.topLeft() + offset, size)


class GeometryFile:
    """Read and write the geometry of windows by their names; damaged entries are ignored."""

    def __init__(self, path: Path) -> None:
        self._file = TomlFile(path)
        self._file.read()

    def find(self, window: str) -> SavedGeometry | None:
        known = table(self._file.content, window)
        screen, x, y = known.get("screen"), known.get("x"), known.get("y")
        if not isinstance(screen, str) or not isinstance(x, float) or not isinstance(y, float):
            return None
        width, height = _size(known.get("width")), _size(known.get("height"))
        if not width or not height:
            width = height = 0
        return SavedGeometry(
            screen=screen, x=_clamped(x), y=_clamped(y), width=width, height=height
        )

    def save(self, window: str, geometry: SavedGeometry) -> None:
        """Save a geometry; a failure is ignored."""
        if geometry != self.find(window):
            self._file.write({**self._file.content, window: asdict(geometry)})

    def forget(self) -> None:
        self._file.write({})


class WindowGeometry(QObject):
    """Save the geometry of one window to the file, from when it is first shown.

    While its screen is gone, the window is a guest on the first one: that is not saved unless the
    user moves it there, and it returns with its screen.

    Wayland does not report positions: there the size alone is restored.
    """

    def __init__(self, window: QWidget, file: GeometryFile, name: str) -> None:
        super().__init__(window)
        self._window, self._file, self._name = window, file, name
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(self.save)
        self._is_guest = False
        self._guest_place: QRect | None = None  # once it has settled
        self._screens = QTimer(self, singleShot=True, interval=_SCREENS_SETTLED_MS)
        self._screens.timeout.connect(self._follow_screens)
        self._size = window.size()  # that was restored last
        self._scaled = QTimer(self, singleShot=True, interval=_SCREENS_SETTLED_MS)
        self._scaled.timeout.connect(self._keep_size)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenAdded.connect(self._screens.start)
        application.screenRemoved.connect(self._screens.start)
        window.installEventFilter(self)

    def restore(self) -> bool:
        """Move the window to its saved geometry; return whether there is one."""
        saved, areas = self._file.find(self._name), screens()
        if saved is None or not areas or not saved.width or not saved.height:
            return False
        self._is_guest = all(screen.name != saved.screen for screen in areas)
        self._guest_place = None
        restored = restored_geometry(saved, QSize(saved.width, saved.height), areas)
        size = restored.size() - self._title_bar()
        self._size = size.expandedTo(self._window.minimumSizeHint())
        self._window.resize(self._size)
        if not is_wayland():
            self._window.move(restored.topLeft())
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in {QEvent.Type.Move, QEvent.Type.Resize}:
            self._settled.start()
        elif event.type() == QEvent.Type.Close:
            self.save()
        elif event.type() == QEvent.Type.Hide:
            self._settled.stop()
        return super().eventFilter(watched, event)

    @Slot()
    def save(self) -> None:
        """Save the geometry, unless the window is maximised or minimised."""
        self._settled.stop()
        areas = screens()
        is_moving = self._screens.isActive() or self._scaled.isActive()
        if areas and self._has_place() and not is_moving and not self._stays_guest():
            # The corner of the frame, since moving a window moves that.
            frame = QRect(self._window.pos(), self._window.size() + self._title_bar())
            self._file.save(self._name, geometry_of(frame, areas, with_size=True))

    @Slot()
    def _follow_screens(self) -> None:
        if self._has_place() and self.restore():
            self._scaled.start()

    @Slot()
    def _keep_size(self) -> None:
        """Set the size again, which the system has in pixels of another scale."""
        if self._has_place():
            self._window.resize(self._size + QSize(1, 1))  # a resize to the same size is no request
            self._window.resize(self._size)

    def _has_place(self) -> bool:
        window = self._window
        return window.isVisible() and not window.isMaximized() and not window.isMinimized()

    def _stays_guest(self) -> bool:
        now = self._window.geometry()
        if self._guest_place is None:
            self._guest_place = now
        self._is_guest = self._is_guest and now == self._guest_place
        return self._is_guest

    def _title_bar(self) -> QSize:
        """Return the usual frame, which has the same size before and after the window is shown."""
        return QSize(0, self._window.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight))


def _common(area: QRect, window: QRect) -> int:
    both = area.intersected(window)
    return max(0, both.width()) * max(0, both.height())


def _size(value: object) -> int:
    return value if isinstance(value, int) and 0 < value <= _WIDEST else 0


def _share(offset: int, room: int) -> float:
    return _clamped(offset / room) if room > 0 else 0.5


def _clamped(share: float) -> float:
    return min(1.0, max(0.0, share))
