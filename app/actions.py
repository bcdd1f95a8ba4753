"""What the person can do, each with its name, its keys and its place in the menus.

Windows, the tray and the overlay's own menu show these same actions. They decide nothing.
"""

from PySide6.QtCore import QObject, Slot
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMenuBar


class Actions(QObject):
    """All actions. Those with a tick tell ``toggled(bool)``, the others ``triggered()``."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.export = self._make(self.tr("&Export captions…"), "Ctrl+E")
        self.recover = self._make(self.tr("Earlier &sessions…"))
        self.quit = self._make(self.tr("&Quit"), "Ctrl+Q")
        self.pause = self._make(self.tr("&Pause"), "Ctrl+P", has_tick=True)
        self.clear = self._make(self.tr("&Clear"), "Ctrl+L")
        self.find = self._make(self.tr("&Find…"), "Ctrl+F")
        self.mark = self._make(self.tr("&Mark my place"), "Ctrl+M")
        self.go_to_mark = self._make(self.tr("&Go to my mark"), "Ctrl+J")
        self.overlay = self._make(self.tr("&Overlay"), "Ctrl+O", has_tick=True)
        self.lock = self._make(
            self.tr("&Lock overlay (clicks go through)"), "Ctrl+K", has_tick=True
        )
        self.larger = self._make(self.tr("&Larger letters"), "Ctrl++")
        self.smaller = self._make(self.tr("&Smaller letters"), "Ctrl+-")
        self.reset_place = self._make(self.tr("&Back to the bottom of the screen"))
        self.adapters = self._make(self.tr("&Adapters…"), "Ctrl+D")
        self.settings = self._make(self.tr("&Settings…"), "Ctrl+,")
        self.page_address = self._make(self.tr("Copy address of the caption &page"))
        self.diagnostics = self._make(self.tr("&Copy diagnostics"))
        self.hide_overlay = self._make(self.tr("&Hide overlay"))
        for action, short in (
            (self.pause, self.tr("Pause")),
            (self.clear, self.tr("Clear")),
            (self.smaller, "A−"),  # noqa: RUF001  a true minus, as wide as the plus
            (self.larger, "A+"),
            (self.hide_overlay, self.tr("Hide")),
        ):
            action.setIconText(short)
        self.lock.toggled.connect(self._name_lock)
        self._name_lock()
        self.larger.setShortcuts([QKeySequence("Ctrl++"), QKeySequence("Ctrl+=")])

    def fill(self, bar: QMenuBar) -> None:
        """Put the actions into the menus of a window."""
        file = bar.addMenu(self.tr("&File"))
        file.addActions([self.export, self.recover])
        file.addSeparator()
        file.addAction(self.quit)
        captions = bar.addMenu(self.tr("&Captions"))
        captions.addActions([self.pause, self.clear])
        captions.addSeparator()
        captions.addActions([self.find, self.mark, self.go_to_mark])
        overlay = bar.addMenu(self.tr("O&verlay"))
        overlay.addActions([self.overlay, self.lock])
        overlay.addSeparator()
        overlay.addActions([self.larger, self.smaller, self.reset_place])
        bar.addMenu(self.tr("&Tools")).addActions([self.adapters, self.page_address, self.settings])
        bar.addMenu(self.tr("&Help")).addAction(self.diagnostics)

    def for_overlay(self) -> list[QAction]:
        """List what the overlay's own menu offers."""
        return [self.pause, self.lock, self.larger, self.smaller, self.reset_place, self.overlay]

    def for_bar(self) -> list[QAction]:
        """List what the bar beside the overlay offers, from left to right."""
        return [self.pause, self.clear, self.smaller, self.larger, self.lock, self.hide_overlay]

    def for_tray(self) -> list[QAction]:
        """List what the tray's menu offers."""
        return [self.pause, self.clear, self.overlay, self.lock, self.settings, self.quit]

    @Slot()
    def _name_lock(self) -> None:
        locked = self.lock.isChecked()
        self.lock.setIconText(self.tr("Unlock") if locked else self.tr("Lock"))

    def _make(self, text: str, keys: str = "", *, has_tick: bool = False) -> QAction:
        action = QAction(QIcon(), text, self)
        action.setCheckable(has_tick)
        if keys:
            action.setShortcut(QKeySequence(keys))
        return action
