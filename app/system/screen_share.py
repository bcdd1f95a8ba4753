"""Keeps windows out of screen shares and recordings, where the system lets a window ask for that.

Windows: SetWindowDisplayAffinity, from Windows 10 version 2004 on. macOS: NSWindow.sharingType,
which programs that record through ScreenCaptureKit may ignore. On Linux no window can: neither X11
nor Wayland has a way. What is done for Windows and macOS was not tried on a machine of either.
"""

import ctypes
import sys

from PySide6.QtCore import QEvent, QObject
from PySide6.QtWidgets import QWidget

_EXCLUDED_FROM_CAPTURE, _SHOWN_EVERYWHERE = 0x11, 0
_SHARING_NONE, _SHARING_READ_ONLY = 0, 1


def can_hide() -> bool:
    """Tell whether windows can be kept out of screen shares here."""
    return sys.platform in {"win32", "darwin"}


def hide_from_share(window: int, *, hidden: bool) -> bool:
    """Keep a window out of screen shares, or let it in again.

    Args:
        window: as Qt's ``winId`` gives it.
        hidden: whether it should be kept out.

    Returns:
        whether the system did it.
    """
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
    # Another prototype for the same entry point: its arguments go where the method expects them.
    send_number = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_ulong)(
        ("objc_msgSend", objc)
    )
    send_number(window, objc.sel_registerName(b"setSharingType:"), sharing_type)
    return True


class ShareGuard(QObject):
    """Keep windows out of screen shares whenever they are shown: another flag makes them anew."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._windows: list[QWidget] = []
        self._hidden = False

    def watch(self, window: QWidget) -> None:
        """Look after a window from now on."""
        self._windows.append(window)
        window.installEventFilter(self)

    def use(self, *, hidden: bool) -> None:
        """Keep the windows out, or let them in."""
        if hidden != self._hidden:
            self._hidden = hidden
            for window in self._windows:
                if window.isVisible():
                    hide_from_share(int(window.winId()), hidden=hidden)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """See to a window that is shown."""
        shown = event.type() in {QEvent.Type.Show, QEvent.Type.WinIdChange}
        if self._hidden and shown and isinstance(watched, QWidget):
            hide_from_share(int(watched.winId()), hidden=True)
        return super().eventFilter(watched, event)
