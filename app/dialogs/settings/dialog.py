"""The settings window: pages, each with its own reset; edits take effect at once."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QCursor, QHideEvent, QHoverEvent
from PySide6.QtWidgets import (
    QApplication,
    QDialog,
    QDialogButtonBox,
    QScrollArea,
    QTabBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.config.preferences import Preferences, ServerPreferences
from app.config.preferences_file import export_preferences, import_preferences
from app.config.system.translations import worded
from app.dialogs.settings.advanced_page import AdvancedPage
from app.dialogs.settings.captions_page import CaptionsPage
from app.dialogs.settings.general_page import GeneralPage
from app.dialogs.settings.page import SettingsPage
from app.dialogs.settings.shortcuts_page import ShortcutsPage
from app.dialogs.settings.speech_page import SpeechPage
from app.dialogs.settings.translation_page import TranslationPage
from app.look.style_sheet import GAP
from app.look.widgets.dialog_text import close_button, paragraph
from app.look.widgets.file_dialogs import ask_open, ask_save
from app.main_window.actions import Actions

_FILES = "TOML (*.toml)"
_SIZE = QSize(640, 560)  # unless the screen is smaller
_TAB_ROOM = 6  # pixels: Qt's own tabs cut the dots off a capital Ü
_SHARE = 3  # how much higher a page is than what stays above it


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
        data_folder: Path,
        parent: QWidget | None = None,
    ) -> None:
        """Make all pages.

        Args:
            policies: as the engine writes them, name, explanation.
            actions: those whose keys can be changed.
            data_folder: of sessions and models.
            parent: the main window.
        """
        super().__init__(parent)
        self.setWindowTitle(self.tr("Settings"))
        self._shown = Preferences()
        self.general, self.captions = GeneralPage(), CaptionsPage()
        self.speech, self.translation = SpeechPage(data_folder), TranslationPage(policies)
        self.shortcuts, self.advanced = ShortcutsPage(actions), AdvancedPage(data_folder)
        self.pages: tuple[SettingsPage, ...] = (
            self.general,
            self.captions,
            self.speech,
            self.translation,
            self.shortcuts,
            self.advanced,
        )
        self.tabs = WideTabs()
        for page in self.pages:
            self.tabs.addTab(_scrolled(page), page.title)
            page.edited.connect(self._use)
            page.noticed.connect(self._show_notice)
        self.notice = paragraph()
        self.notice.hide()
        self.buttons = close_button()
        self.reset = self.buttons.addButton(
            self.tr("Reset this page"), QDialogButtonBox.ButtonRole.ResetRole
        )
        self.reset.setAutoDefault(False)  # Enter in a field must reset nothing
        self.reset.clicked.connect(self._reset_page)
        self.advanced.load_wanted.connect(self._ask_import)
        self.advanced.save_wanted.connect(self._ask_export)
        self.buttons.rejected.connect(self.close)
        self.tabs.currentChanged.connect(self.notice.hide)
        self.resize(_SIZE)
        column = QVBoxLayout(self)
        for widget in (self.tabs, self.notice, self.buttons):
            column.addWidget(widget)

    @Slot(Preferences)
    def show_preferences(self, preferences: Preferences) -> None:
        """Fill all pages."""
        self._shown = preferences
        for page in self.pages:
            page.show_preferences(preferences)

    def open_page(self, page: SettingsPage) -> None:
        """Show one of the pages."""
        self.tabs.setCurrentIndex(self.pages.index(page))

    def import_from(self, path: Path) -> None:
        """Use the settings of a file; a file of another kind changes nothing."""
        preferences, notice = import_preferences(path)
        self._show_notice("" if notice is None else worded(notice))
        if preferences is not None:  # a file never decides where words go
            self._use(replace(preferences, server=self._shown.server))

    def export_to(self, path: Path) -> None:
        """Write the settings into a file."""
        exported = replace(self._shown, server=ServerPreferences())
        failure = export_preferences(exported, path)
        text = self.tr("The settings were written to {}").format(path)
        self._show_notice(text if failure is None else worded(failure))

    @Slot(str)
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
        path = ask_open(self, self.tr("Load settings"), _FILES)
        if path:
            self.import_from(path)

    @Slot()
    def _ask_export(self) -> None:
        name = "surtitle-settings.toml"
        path = ask_save(self, self.tr("Save settings"), name, _FILES)
        if path:
            self.export_to(path)


def _scrolled(page: SettingsPage) -> QWidget:
    """Return an area for a page that may be higher than a small screen."""
    area = QScrollArea(widgetResizable=True)
    area.setWidget(page)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    if page.above is None:
        return area
    whole = QWidget()
    column = QVBoxLayout(whole)
    column.setContentsMargins(0, 2 * GAP, 0, 0)
    column.addWidget(page.above, 1)
    column.addWidget(area, _SHARE)
    return whole


class WideTabs(QTabWidget):
    """Tabs without scroll buttons: the window is wide enough for all of them."""

    def __init__(self) -> None:
        super().__init__()
        bar = _Bar()
        self.setTabBar(bar)
        self.currentChanged.connect(bar.forget_mouse)
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)


class _Bar(QTabBar):
    def tabSizeHint(self, index: int) -> QSize:
        """Add room above and below the text."""
        return super().tabSizeHint(index) + QSize(0, _TAB_ROOM)

    def minimumTabSizeHint(self, index: int) -> QSize:
        """Return the full size."""
        return self.tabSizeHint(index)

    def hideEvent(self, event: QHideEvent) -> None:
        """Forget which tab the mouse was on."""
        super().hideEvent(event)
        self._leave()

    @Slot()
    def forget_mouse(self) -> None:
        """Let no tab look as if the mouse were on it after it has left unseen."""
        if not self.rect().contains(self.mapFromGlobal(QCursor.pos())):
            self._leave()

    def _leave(self) -> None:
        outside = QPointF(-1, -1)
        QApplication.sendEvent(self, QHoverEvent(QEvent.Type.HoverLeave, outside, outside, outside))
