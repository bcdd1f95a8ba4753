"""Lets the overlay step aside while the pointer or the focus is in the main window."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QWidget

from app.main_window.window import MainWindow
from app.overlay.window import Overlay

_SETTLED_MS = 100
_CHANGES = {
    QEvent.Type.WindowActivate,
    QEvent.Type.WindowDeactivate,
    QEvent.Type.Enter,
    QEvent.Type.Leave,
    QEvent.Type.Move,
    QEvent.Type.Resize,
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.LayoutRequest,
    QEvent.Type.WindowStateChange,
}


class StepAside(QObject):
    """Keep the overlay off the controls and lines of the main window while they are used."""

    def __init__(self, window: MainWindow, overlay: Overlay) -> None:
        super().__init__(window)
        self._window, self._overlay = window, overlay
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(self._follow)
        window.installEventFilter(self)
        view = window.transcript
        for change in (
            view.rows.rowsInserted,
            view.rows.rowsRemoved,
            view.verticalHeader().sectionResized,
            view.verticalScrollBar().valueChanged,
        ):
            change.connect(self._settled.start)
        for part in window.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            part.installEventFilter(self)  # for the layout of the content

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _CHANGES:
            self._settled.start()
        return super().eventFilter(watched, event)

    @Slot()
    def _follow(self) -> None:
        window = self._window
        is_used = window.isActiveWindow() or window.underMouse()
        is_seen = window.isVisible() and not window.isMinimized()
        if is_used and is_seen:
            self._overlay.keep_off(window.needed_areas(), window.geometry())
        else:
            self._overlay.keep_off([])
