"""Keeps windows out of screen shares and recordings on systems that support it.

Windows: SetWindowDisplayAffinity, since Windows 10 version 2004. macOS: NSWindow.sharingType, which
programs that record through ScreenCaptureKit may ignore. Linux: X11 and Wayland do not support it.
Windows and macOS are untested.
"""

import ctypes
import sys

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

_EXCLUDED_FROM_CAPTURE, _SHOWN_EVERYWHERE = 0x11, 0
_SHARING_NONE, _SHARING_READ_ONLY = 0, 1


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
    """Set the sharing type of the NSWindow that a view is in."""
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
        """Guard a window from now on."""
        self._windows.append(window)
        window.installEventFilter(self)

    def use(self, *, hidden: bool) -> None:
        """Hide or show the windows in screen shares."""
        if hidden != self._hidden:
            self._hidden = hidden
            for window in self._windows:
                if window.isVisible():
                    hide_from_share(int(window.winId()), hidden=hidden)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Hide a window that was shown or recreated."""
        shown = event.type() in {QEvent.Type.Show, QEvent.Type.WinIdChange}
        if self._hidden and shown and isinstance(watched, QWidget):
            hide_from_share(int(watched.winId()), hidden=True)
        return super().eventFilter(watched, event)
