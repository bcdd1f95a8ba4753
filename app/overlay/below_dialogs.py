"""Keeps the overlay below the dialogs of this program, though it is above all other windows."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtGui import QGuiApplication, QRegion
from PySide6.QtWidgets import QApplication, QDialog

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
    """Cut the dialogs out of the overlay while the user works in this program.

    The order of windows cannot express that: the overlay is above the windows of other programs,
    which may be above our dialogs. A hole lets clicks through, too, and works on a locked overlay,
    which the window manager does not know.
    """

    def __init__(self, overlay: Overlay) -> None:
        super().__init__(overlay)
        self._overlay = overlay
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(self._cut)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.focusWindowChanged.connect(self._find_dialogs)
        application.applicationStateChanged.connect(self._find_dialogs)
        overlay.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Follow the overlay and the dialogs."""
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
        overlay = self._overlay
        whole = QRegion(overlay.rect())
        rest = QRegion(whole)
        if QGuiApplication.applicationState() == Qt.ApplicationState.ApplicationActive:
            for dialog in _open_dialogs():
                rest -= QRegion(dialog.frameGeometry().translated(-overlay.pos()))
        if rest.isEmpty():
            rest = QRegion(0, 0, 1, 1)  # a corner without colour: an empty mask would hide nothing
        if rest != whole and rest != overlay.mask():
            overlay.setMask(rest)
        elif rest == whole and not overlay.mask().isEmpty():
            overlay.clearMask()


def _open_dialogs() -> list[QDialog]:
    return [
        window
        for window in QApplication.topLevelWidgets()
        if isinstance(window, QDialog) and window.isVisible() and not window.isMinimized()
    ]
