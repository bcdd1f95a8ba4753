"""What the person can do, each with its name, its keys and its place in the menus.

Windows, the tray and the overlay's own menu show these same actions. They decide nothing.
"""

from collections.abc import Mapping

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMenuBar

_ALSO = {"Ctrl++": "Ctrl+="}  # the same key, where plus needs Shift


class Actions(QObject):
    """All actions. Those with a tick tell ``toggled(bool)``, the others ``triggered()``.

    Signals:
        keys_changed(): actions have other keys now.
    """

    keys_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.new_session = self._make(self.tr("&New session"), "Ctrl+N")
        self.export = self._make(self.tr("&Export captions…"), "Ctrl+E")
        self.recover = self._make(self.tr("Earlier &sessions…"))
        self.quit = self._make(self.tr("&Quit"), "Ctrl+Q")
        self.pause = self._make(self.tr("&Pause"), "Ctrl+P", has_tick=True)
        self.clear = self._make(self.tr("&Clear the overlay"), "Ctrl+L")
        self.microphone = self._make(self.tr("Listen to the &microphone"), "Ctrl+1", has_tick=True)
        self.system = self._make(self.tr("Listen to what I &hear"), "Ctrl+2", has_tick=True)
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
        self.glossary = self._make(self.tr("&Glossary…"), "Ctrl+G")
        self.latency = self._make(self.tr("La&tency and evaluation…"), "Ctrl+T")
        self.settings = self._make(self.tr("&Settings…"), "Ctrl+,")
        self.page_address = self._make(self.tr("Copy address of the caption &page"))
        self.guide = self._make(self.tr("&Set up Surtitle…"))
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
        self._default_keys = {
            name: action.shortcut().toString() for name, action in self.by_name.items()
        }
        self.use_shortcuts({})

    def fill(self, bar: QMenuBar) -> None:
        """Put the actions into the menus of a window."""
        file = bar.addMenu(self.tr("&File"))
        file.addActions([self.new_session, self.export, self.recover])
        file.addSeparator()
        file.addAction(self.quit)
        captions = bar.addMenu(self.tr("&Captions"))
        captions.addActions([self.microphone, self.system])
        captions.addSeparator()
        captions.addActions([self.pause, self.clear])
        captions.addSeparator()
        captions.addActions([self.find, self.mark, self.go_to_mark])
        overlay = bar.addMenu(self.tr("O&verlay"))
        overlay.addActions([self.overlay, self.lock])
        overlay.addSeparator()
        overlay.addActions([self.larger, self.smaller, self.reset_place])
        tools = bar.addMenu(self.tr("&Tools"))
        tools.addActions([self.adapters, self.glossary, self.latency])
        tools.addActions([self.page_address, self.settings])
        bar.addMenu(self.tr("&Help")).addActions([self.guide, self.diagnostics])

    @property
    def by_name(self) -> dict[str, QAction]:
        """All actions by their names, which settings files use."""
        return {name: one for name, one in vars(self).items() if isinstance(one, QAction)}

    def default_keys(self) -> dict[str, str]:
        """Tell the keys that actions came with; those of an action without any are empty."""
        return dict(self._default_keys)

    def use_shortcuts(self, shortcuts: Mapping[str, str]) -> None:
        """Give actions these keys, and the others those they came with.

        Args:
            shortcuts: keys by names of actions; names that are none are let be.
        """
        for name, action in self.by_name.items():
            keys = shortcuts.get(name, self._default_keys[name])
            also = _ALSO.get(keys) if name not in shortcuts else None
            sequences = [QKeySequence(one) for one in (keys, also) if one]
            action.setShortcuts([one for one in sequences if one.toString()])
        self.keys_changed.emit()

    def for_overlay(self) -> list[QAction]:
        """List what the overlay's own menu offers."""
        return [self.pause, self.lock, self.larger, self.smaller, self.reset_place, self.overlay]

    def for_bar(self) -> list[QAction]:
        """List what the bar beside the overlay offers, from left to right."""
        return [self.pause, self.clear, self.smaller, self.larger, self.lock, self.hide_overlay]

    def for_tray(self) -> list[QAction]:
        """List what the tray's menu offers."""
        listening = [self.microphone, self.system]
        others = [self.pause, self.clear, self.overlay, self.lock, self.settings, self.quit]
        return listening + others

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
