"""The actions of the program: names, shortcuts, menus, and the tray where the desktop has one.

The windows, the tray and the menu of the overlay share them; they only emit signals.
"""

from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QIcon, QKeySequence
from PySide6.QtWidgets import QMenu, QMenuBar, QSystemTrayIcon

_ALSO = {"Ctrl++": "Ctrl+=", "Ctrl+Alt++": "Ctrl+Alt+="}  # the same key, where plus needs Shift


class Actions(QObject):
    """All actions. Checkable ones emit ``toggled(bool)``, the others ``triggered()``.

    Signals:
        keys_changed(): the shortcuts of actions changed.

    Attributes:
        projector: the menu of the projector view, filled where it is opened.
        default_keys: the built-in keys by names of actions; empty for an action without keys.
    """

    keys_changed = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.new_session = self._make(self.tr("&New session"), "Ctrl+N")
        self.open_file = self._make(self.tr("&Open audio or video file…"), "Ctrl+Shift+O")
        self.export = self._make(self.tr("&Export captions…"), "Ctrl+E")
        self.recover = self._make(self.tr("Earlier &sessions…"))
        self.quit = self._make(self.tr("&Quit"), "Ctrl+Q")
        self.pause = self._make(self.tr("&Pause"), "Ctrl+P", checkable=True)
        self.clear = self._make(self.tr("&Clear the overlay"), "Ctrl+L")
        self.microphone = self._make(self.tr("&Microphone"), "Ctrl+1", checkable=True)
        self.system = self._make(self.tr("Computer &sound"), "Ctrl+2", checkable=True)
        self.undo = self._make(self.tr("&Undo"), "Ctrl+Z")
        self.copy_all = self._make(self.tr("Copy &all"), "Ctrl+Shift+C")
        self.copy_all_captions = self._make(self.tr("Copy all &captions"))
        self.find = self._make(self.tr("&Find…"), "Ctrl+F")
        self.mark = self._make(self.tr("&Bookmark"), "Ctrl+M")
        self.go_to_mark = self._make(self.tr("&Next bookmark"), "Ctrl+J")
        self.go_to_mark_before = self._make(self.tr("Pre&vious bookmark"), "Ctrl+Shift+J")
        self.larger_rows = self._make(self.tr("Larger transcript te&xt"), "Ctrl+Alt++")
        self.smaller_rows = self._make(self.tr("Smalle&r transcript text"), "Ctrl+Alt+-")
        self.overlay = self._make(self.tr("&Overlay"), "Ctrl+O", checkable=True)
        self.lock = self._make(
            self.tr("Loc&k overlay (clicks go through)"), "Ctrl+K", checkable=True
        )
        self.larger = self._make(self.tr("&Larger text"), "Ctrl++")
        self.smaller = self._make(self.tr("&Smaller text"), "Ctrl+-")
        self.reset_place = self._make(self.tr("&Back to the bottom of the screen"))
        self.models = self._make(self.tr("Translation &models…"))
        self.adapters = self._make(self.tr("&Adapters…"), "Ctrl+D")
        self.glossary = self._make(self.tr("&Glossary…"), "Ctrl+G")
        self.share = self._make(self.tr("S&hare captions…"), "Ctrl+Shift+S")
        self.settings = self._make(self.tr("&Settings…"), "Ctrl+,")
        self.guide = self._make(self.tr("&Set up Surtitle…"))
        self.help = self._make(self.tr("&Help"), "F1")
        self.about = self._make(self.tr("&About Surtitle"))
        self.diagnostics = self._make(self.tr("&Copy diagnostics"))
        self.projector = QMenu(self.tr("P&rojector view"))
        self.hide_overlay = self._make(self.tr("&Hide overlay"))
        self._connect()
        self.default_keys = {
            name: action.shortcut().toString() for name, action in self.by_name.items()
        }
        self.use_shortcuts({})

    def _connect(self) -> None:
        self.undo.setEnabled(False)
        for action in (self.pause, self.lock):
            action.toggled.connect(self._name_opposites)
        self._name_opposites()

    def fill(
        self, bar: QMenuBar, devices: Sequence[QMenu], choices: Sequence[QMenu], computer: QMenu
    ) -> None:
        """Add the menus with the actions to a menu bar.

        Args:
            devices: those of the sources.
            choices: are about the captions.
            computer: that of what translates.
        """
        file = bar.addMenu(self.tr("&File"))
        file.addActions([self.new_session, self.open_file, self.export, self.recover])
        file.addSeparator()
        file.addAction(self.quit)
        edit = bar.addMenu(self.tr("&Edit"))
        edit.addAction(self.undo)
        edit.addSeparator()
        edit.addActions([self.copy_all, self.copy_all_captions])
        edit.addSeparator()
        edit.addActions([self.find, self.mark, self.go_to_mark, self.go_to_mark_before])
        captions = bar.addMenu(self.tr("&Captions"))
        captions.addActions([self.microphone, self.system])
        for menus in (devices, choices):
            for menu in menus:
                captions.addMenu(menu)
            captions.addSeparator()
        captions.addAction(self.pause)
        captions.addSeparator()
        captions.addAction(self.share)
        overlay = bar.addMenu(self.tr("O&verlay"))
        overlay.addActions([self.overlay, self.lock, self.clear])
        overlay.addSeparator()
        overlay.addActions([self.larger, self.smaller, self.reset_place])
        overlay.addSeparator()
        overlay.addMenu(self.projector)
        tools = bar.addMenu(self.tr("&Tools"))
        tools.addActions([self.models, self.glossary, self.settings])
        advanced = tools.addMenu(self.tr("A&dvanced"))
        advanced.addMenu(computer)
        advanced.addAction(self.adapters)
        more = bar.addMenu(self.tr("&Help"))
        more.addActions([self.help, self.guide, self.diagnostics, self.about])

    @property
    def by_name(self) -> dict[str, QAction]:
        return {name: value for name, value in vars(self).items() if isinstance(value, QAction)}

    def use_shortcuts(self, shortcuts: Mapping[str, str]) -> None:
        """Set the keys of all actions: these, or else the default keys.

        Args:
            shortcuts: keys by names of actions; unknown names are ignored.
        """
        for name, action in self.by_name.items():
            keys = shortcuts.get(name, self.default_keys[name])
            also = _ALSO.get(keys) if name not in shortcuts else None
            sequences = [QKeySequence(text) for text in (keys, also) if text]
            action.setShortcuts([sequence for sequence in sequences if sequence.toString()])
        self.keys_changed.emit()

    def for_overlay(self) -> list[QAction]:
        return [self.pause, self.lock, self.larger, self.smaller, self.reset_place, self.overlay]

    def for_bar(self) -> dict[QAction, tuple[str, str]]:
        """Return the actions of the overlay's toolbar, from left to right.

        Each has the names of its icons, the second one for while it is on. Its ``iconText`` names
        what a click does.
        """
        return {
            self.pause: ("pause", "play"),
            self.clear: ("eraser", "eraser"),
            self.smaller: ("a-arrow-down", "a-arrow-down"),
            self.larger: ("a-arrow-up", "a-arrow-up"),
            self.lock: ("lock", "lock-open"),
            self.hide_overlay: ("x", "x"),
        }

    def for_tray(self) -> list[QAction]:
        listening = [self.microphone, self.system]
        others = [self.pause, self.clear, self.overlay, self.lock, self.settings, self.quit]
        return listening + others

    @Slot()
    def _name_opposites(self) -> None:
        """Name what a click does, which is the opposite while the action is on."""
        paused, locked = self.pause.isChecked(), self.lock.isChecked()
        self.pause.setIconText(self.tr("Resume") if paused else self.tr("Pause"))
        lock = self.tr("Lock (clicks go through)")
        self.lock.setIconText(self.tr("Unlock") if locked else lock)

    def _make(self, text: str, keys: str = "", *, checkable: bool = False) -> QAction:
        action = QAction(QIcon(), text, self)
        action.setCheckable(checkable)
        if keys:
            action.setShortcut(QKeySequence(keys))
        return action


class Tray(QSystemTrayIcon):
    """An icon with a menu, if the desktop has a tray.

    Signals:
        window_wanted(): show the main window.
    """

    window_wanted = Signal()

    def __init__(self, actions: Actions, icon: QIcon, parent: QObject | None = None) -> None:
        super().__init__(icon, parent)
        self.menu = QMenu()
        self.menu.addAction(self.tr("Show &window")).triggered.connect(self.window_wanted)
        self.menu.addSeparator()
        self.menu.addActions(actions.for_tray())
        self.setToolTip("Surtitle")
        self.setContextMenu(self.menu)
        self.activated.connect(self._take_click)
        self.setVisible(QSystemTrayIcon.isSystemTrayAvailable())

    def explain(self) -> None:
        """Show that the program goes on here though its window is closed, and how to leave it."""
        text = self.tr(
            "Captions go on. Click this icon for the window, or choose Quit in its menu."
        )
        self.showMessage("Surtitle", text, self.icon())

    @Slot(QSystemTrayIcon.ActivationReason)
    def _take_click(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.window_wanted.emit()
