"""The icon beside the clock, where the desktop has one; all it offers is in the window, too."""

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.main_window.actions import Actions


class Tray(QObject):
    """An icon with a menu.

    Signals:
        window_wanted(): the person asked for the main window.
    """

    window_wanted = Signal()

    def __init__(self, actions: Actions, icon: QIcon, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.menu = QMenu()
        self._show = QAction(self.tr("Show &window"), self)
        self._show.triggered.connect(self._want_window)
        self.menu.addAction(self._show)
        self.menu.addSeparator()
        self.menu.addActions(actions.for_tray())
        self._icon = QSystemTrayIcon(icon, self)
        self._icon.setToolTip("Surtitle")
        self._icon.setContextMenu(self.menu)
        self._icon.activated.connect(self._take_click)

    def show(self) -> bool:
        """Be there; tell whether the desktop has a place for it."""
        is_available = QSystemTrayIcon.isSystemTrayAvailable()
        if is_available:
            self._icon.show()
        return is_available

    def hide(self) -> None:
        """Be gone, at once: some desktops leave the icon of a program that has ended."""
        self._icon.hide()

    @Slot(QSystemTrayIcon.ActivationReason)
    def _take_click(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self._want_window()

    @Slot()
    def _want_window(self) -> None:
        self.window_wanted.emit()
