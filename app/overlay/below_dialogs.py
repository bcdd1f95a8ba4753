"""Keeps overlay and toolbar below our dialogs, though they are above all other windows."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QRegion
from PySide6.QtWidgets import QApplication, QDialog

from app.overlay.toolbar import OverlayToolbar
from app.overlay.window import Overlay

_SETTLED_MS = 300  # after that a window manager has framed a new window
_CHANGES = {
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.Move,
    QEvent.Type.Resize,
    QEvent.Type.WindowStateChange,
}


class BelowDialogs(QObject):
    """Cut the dialogs out of the overlay, or its toolbar, while the user works in this program.

    The order of windows cannot express that: both are above the windows of other programs, which
    may be above our dialogs. A hole lets clicks through, too, and works on a locked overlay,
    which the window manager does not know.
    """

    def __init__(self, window: Overlay | OverlayToolbar) -> None:
        super().__init__(window)
        self._window = window
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(self._cut)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.focusWindowChanged.connect(self._find_dialogs)
        application.applicationStateChanged.connect(self._find_dialogs)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _CHANGES:
            self._cut()
            self._settled.start()
        return super().eventFilter(watched, event)

    @Slot()
    def _find_dialogs(self) -> None:
        """Follow the dialogs that are open; a new one takes the focus."""
        for dialog in _open_dialogs():
            dialog.installEventFilter(self)
        self._cut()
        self._settled.start()

    @Slot()
    def _cut(self) -> None:
        holes = QRegion()
        if QGuiApplication.applicationState() == Qt.ApplicationState.ApplicationActive:
            for dialog in _open_dialogs():
                holes += QRegion(dialog.frameGeometry().translated(-self._window.pos()))
        self._window.cut_out(holes)


def _open_dialogs() -> list[QDialog]:
    return [
        window
        for window in QApplication.topLevelWidgets()
        if isinstance(window, QDialog) and window.isVisible() and not window.isMinimized()
    ]
