"""The tray icon, if the desktop has a tray; its actions are in the window, too."""

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QIcon
from PySide6.QtWidgets import QMenu, QSystemTrayIcon

from app.main_window.actions import Actions


class Tray(QObject):
    """An icon with a menu.

    Signals:
        window_wanted(): show the main window.
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
        """Show the icon; return whether the desktop has a tray."""
        is_available = QSystemTrayIcon.isSystemTrayAvailable()
        if is_available:
            self._icon.show()
        return is_available

    def explain(self) -> None:
        """Show that the program goes on here though its window is closed, and how to leave it."""
        text = self.tr(
            "Captions go on. Click this icon for the window, or choose Quit in its menu."
        )
        self._icon.showMessage("Surtitle", text, self._icon.icon())

    @property
    def is_shown(self) -> bool:
        return self._icon.isVisible()

    def hide(self) -> None:
        """Hide the icon: some desktops keep that of an ended program."""
        self._icon.hide()

    @Slot(QSystemTrayIcon.ActivationReason)
    def _take_click(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self._want_window()

    @Slot()
    def _want_window(self) -> None:
        self.window_wanted.emit()
