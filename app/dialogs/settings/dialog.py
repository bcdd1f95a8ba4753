"""The settings window: pages, each with its own reset; edits take effect at once."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QDialogButtonBox, QPushButton, QVBoxLayout, QWidget

from app.config.preferences import Preferences
from app.config.preferences_file import export_preferences, import_preferences
from app.dialogs.settings.listening_page import ListeningPage
from app.dialogs.settings.pages import (
    CaptionsPage,
    OverlayPage,
    PolicyPage,
    PrivacyPage,
    SettingsPage,
)
from app.dialogs.settings.shortcuts_page import ShortcutsPage
from app.main_window.actions import Actions
from app.system.translations import worded
from app.widgets.dialog_text import close_button, paragraph
from app.widgets.file_dialogs import ask_open, ask_save
from app.widgets.tab_widget import WideTabs

_FILES = "TOML (*.toml)"


class SettingsDialog(QDialog):
    """Show the preferences and emit each edit at once, so that the overlay shows it live.

    Signals:
        edited(Preferences): all preferences after an edit.
    """

    edited = Signal(object)

    def __init__(
        self,
        policies: Sequence[tuple[str, str, str]],
        actions: Actions,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self._shown = Preferences()
        self.captions, self.overlay = CaptionsPage(), OverlayPage()
        self.translation, self.privacy = PolicyPage(policies), PrivacyPage()
        self.listening, self.shortcuts = ListeningPage(), ShortcutsPage(actions)
        self.pages: tuple[SettingsPage, ...] = (
            self.captions,
            self.overlay,
            self.translation,
            self.listening,
            self.shortcuts,
            self.privacy,
        )
        self.tabs = WideTabs()
        for page in self.pages:
            self.tabs.addTab(page, page.title)
            page.edited.connect(self._use)
        self.notice = paragraph()
        self.notice.hide()
        self.buttons = close_button()
        self.reset = self._add_button(self.tr("Reset this page"))
        self.load = self._add_button(self.tr("Import…"))
        self.save = self._add_button(self.tr("Export…"))
        self.reset.clicked.connect(self._reset_page)
        self.load.clicked.connect(self._ask_import)
        self.save.clicked.connect(self._ask_export)
        self.buttons.rejected.connect(self.close)
        self.tabs.currentChanged.connect(self.notice.hide)
        column = QVBoxLayout(self)
        for widget in (self.tabs, self.notice, self.buttons):
            column.addWidget(widget)

    @Slot(Preferences)
    def show_preferences(self, preferences: Preferences) -> None:
        """Fill all pages."""
        self._shown = preferences
        for page in self.pages:
            page.show_preferences(preferences)

    def import_from(self, path: Path) -> None:
        """Use the settings of a file; a file of another kind changes nothing."""
        preferences, notice = import_preferences(path)
        self._show_notice("" if notice is None else worded(notice))
        if preferences is not None:
            self._use(preferences)

    def export_to(self, path: Path) -> None:
        """Write the settings into a file."""
        failure = export_preferences(self._shown, path)
        text = self.tr("The settings were written to {}").format(path)
        self._show_notice(text if failure is None else worded(failure))

    def _add_button(self, text: str) -> QPushButton:
        return self.buttons.addButton(text, QDialogButtonBox.ButtonRole.ResetRole)

    def _show_notice(self, notice: str) -> None:
        self.notice.setText(notice)
        self.notice.setVisible(bool(notice))

    @Slot(object)
    def _use(self, preferences: Preferences) -> None:
        self.show_preferences(preferences)
        self.edited.emit(preferences)

    @Slot()
    def _reset_page(self) -> None:
        page = self.pages[self.tabs.currentIndex()]
        self._use(page.defaults(self._shown))

    @Slot()
    def _ask_import(self) -> None:
        path = ask_open(self, self.tr("Import settings"), _FILES)
        if path:
            self.import_from(path)

    @Slot()
    def _ask_export(self) -> None:
        name = "surtitle-settings.toml"
        path = ask_save(self, self.tr("Export settings"), name, _FILES)
        if path:
            self.export_to(path)
