"""The settings window: pages, each with its own reset; edits take effect at once.

The pages about the windows, the models and what few need stand here.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication, QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QDialogButtonBox,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QTabBar,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)

from app.captions.models import hub_name
from app.config.preferences import (
    APPEARANCES,
    INTERFACE_LANGUAGES,
    InterfacePreferences,
    Preferences,
)
from app.dialogs.settings.captions_page import CaptionsPage
from app.dialogs.settings.page import SettingsPage
from app.dialogs.settings.shortcuts_page import ShortcutsPage
from app.look.icons import icon
from app.look.style_sheet import GAP
from app.look.widgets.desktop import open_folder, open_page
from app.look.widgets.dialog_text import close_button, paragraph
from app.look.widgets.names import device_names, speech_name, unoffered_policy
from app.main_window.actions import Actions
from engine.audio.devices import AudioDevice, DeviceKind
from engine.hub.catalogue import suited_model
from engine.untrusted.plain_files import model_name

_SIZE = QSize(640, 560)  # unless the screen is smaller
_TAB_ROOM = 6  # pixels: Qt's own tabs cut the dots off a capital Ü
_SHARE = 3  # how much higher a page is than what stays above it


class GeneralPage(SettingsPage):
    """Language and colours of the windows, and whether sessions are kept."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("General")
        self._spoken: str | None = None  # as the program was started
        languages = (self.tr("Same as system"), "English", "Deutsch")
        self.language = self.add_combo(
            "interface.language",
            self.tr("Display &language"),
            zip(languages, INTERFACE_LANGUAGES, strict=True),
        )
        self.next_start = paragraph(
            self.tr("The windows change to this language when Surtitle is started again.")
        )
        self.next_start.hide()
        self.form.addRow("", self.next_start)
        self.language.currentIndexChanged.connect(self._tell_next_start)
        looks = (self.tr("Same as system"), self.tr("Light"), self.tr("Dark"))
        self.appearance = self.add_combo(
            "interface.appearance",
            self.tr("&Appearance"),
            zip(looks, APPEARANCES, strict=True),
        )
        self.text_size = self.add_spin(
            "interface.text_size", self.tr("&Transcript text size"), (50, 300), self.tr(" %")
        )
        self._add_sessions()

    def fill(self, preferences: Preferences) -> None:
        """Show the preferences; the first ones are those that the program was started with."""
        self._spoken = self._spoken or preferences.interface.language
        super().fill(preferences)

    def defaults(self, preferences: Preferences) -> Preferences:
        """Return the preferences with this page and the columns of the transcript reset."""
        reset = super().defaults(preferences)
        return replace(reset, interface=InterfacePreferences())

    def _add_sessions(self) -> None:
        self.add_heading(self.tr("Privacy"))
        self.form.addRow(
            paragraph(
                self.tr(
                    "Surtitle sends no text, sound or statistics to anyone, and does "
                    "not look for updates."
                )
            )
        )
        self.journal = self.add_check(
            "privacy.journal", self.tr("&Keep sessions, so that a crash costs one sentence at most")
        )
        with self.below(self.journal):
            self.days = self.add_spin(
                "privacy.journal_days", self.tr("&Delete them after"), (1, 3650)
            )
        self.days.valueChanged.connect(self._name_days)
        self._name_days(self.days.value())

    @Slot()
    def _tell_next_start(self) -> None:
        self.next_start.setVisible(self._spoken not in (None, self.language.currentData()))

    @Slot(int)
    def _name_days(self, days: int) -> None:
        self.days.setSuffix(self.tr(" days", "", days))


class SpeechPage(SettingsPage):
    """The devices, and which speech model hears.

    Signals:
        devices_wanted(): which devices there are; the page is seen.
    """

    devices_wanted = Signal()

    def __init__(self, data_folder: Path) -> None:
        super().__init__("")
        self._folder = data_folder / "models"
        self.title = self.tr("Speech")
        self.microphone, self.system = (
            self.add_combo(f"listening.{kind}", label, device_names(kind))
            for kind, label in (
                (DeviceKind.MICROPHONE, self.tr("M&icrophone")),
                (DeviceKind.SYSTEM, self.tr("&Computer sound")),
            )
        )
        self.open_models = QPushButton(
            icon("folder-open", before_text=True), self.tr("&Open folder")
        )
        self.open_models.clicked.connect(self._open_models)
        self.add_model(self.tr("Speech model"), self.open_models)

    def fill(self, preferences: Preferences) -> None:
        super().fill(preferences)
        recognizer = preferences.listening.recognizer
        self.show_model(speech_name(recognizer), recognizer)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.devices_wanted.emit()

    @Slot(list)
    def show_devices(self, devices: Sequence[AudioDevice]) -> None:
        """Offer the devices; the chosen ones stay, even if they are absent."""
        for combo, kind in (
            (self.microphone, DeviceKind.MICROPHONE),
            (self.system, DeviceKind.SYSTEM),
        ):
            self.offer(combo, device_names(kind, devices))

    @Slot()
    def _open_models(self) -> None:
        self.noticed.emit(open_folder(self._folder))


class TranslationPage(SettingsPage):
    """When captions are written, and which model translates."""

    def __init__(self, policies: Sequence[tuple[str, str, str]]) -> None:
        super().__init__("")
        self.title = self.tr("Translation")
        self.policy = self.add_combo("translation.policy", self.tr("&Timing"), ())
        self._explanations = dict[str, str]()
        self.explanation = paragraph()
        self.form.addRow("", self.explanation)
        self.add_model(self.tr("Translation model"))
        self.policy.currentIndexChanged.connect(self._explain)
        self.show_timings(policies)

    def fill(self, preferences: Preferences) -> None:
        self._offer([unoffered_policy(preferences.translation.policy)])
        super().fill(preferences)
        name = _model_name(preferences.model, preferences.translation.language)
        self.show_model(name, str(preferences.model or ""))

    def show_timings(self, policies: Sequence[tuple[str, str, str]]) -> None:
        """Offer policies, as ``policy_names`` returns them; the chosen one stays."""
        chosen, listed = self.policy.currentData(), range(self.policy.count())
        self._explanations |= {written: explanation for written, _, explanation in policies}
        if [self.policy.itemData(row) for row in listed] != [written for written, _, _ in policies]:
            with QSignalBlocker(self.policy):  # nothing was edited
                self.policy.clear()
                self._offer(policies)
                if chosen is not None:
                    self._offer([unoffered_policy(chosen)])
                    self.policy.setCurrentIndex(self.policy.findData(chosen))
        self._explain()

    def _offer(self, policies: Sequence[tuple[str, str, str]]) -> None:
        for written, name, explanation in policies:
            if self.policy.findData(written) < 0:
                self._explanations[written] = explanation
                self.policy.addItem(name, written)

    @Slot()
    def _explain(self) -> None:
        self.explanation.setText(self._explanations.get(self.policy.currentData(), ""))


def _model_name(model: Path | None, language: str) -> str:
    if model is not None:
        return hub_name(model) or model_name(model)
    folder = suited_model(language)
    return "–" if folder is None else folder.name


class AdvancedPage(SettingsPage):
    """The caption page, for this computer alone, and the kept sessions."""

    def __init__(self, data_folder: Path) -> None:
        super().__init__("")
        self.title = self.tr("Advanced")
        self._data_folder = data_folder
        self._address = ""
        self._add_page()
        self._add_sessions()
        self.show_address("")

    def show_address(self, address: str) -> None:
        """Show the address of the caption page, without its secret; empty while it is closed."""
        self._address = address
        shown, token, _ = address.partition("?")
        self.address.setText(f"{shown}…" if token else shown)
        for button in (self.copy, self.open):
            button.setEnabled(bool(address))

    def fill(self, preferences: Preferences) -> None:
        super().fill(preferences)
        self.address.setPlaceholderText(
            self.tr("The page is not open") if preferences.privacy.page else ""
        )

    def _add_page(self) -> None:
        self.page = self.add_check(
            "privacy.page",
            self.tr("Caption &page for OBS"),
            self.tr("A browser source; its address holds a secret."),
        )
        with self.below(self.page):
            self.form.addRow(
                paragraph(
                    self.tr("Only this computer can open it. Treat the address like a password.")
                )
            )
            self.port = self.add_spin("privacy.page_port", self.tr("Po&rt"), (1024, 65535))
            self.address = QLineEdit(readOnly=True)
            self.add_field(self.tr("Address"), self.address)
            self.copy = QPushButton(icon("copy", before_text=True), self.tr("Cop&y"))
            self.open = QPushButton(icon("external-link", before_text=True), self.tr("&Open"))
            self.copy.setAccessibleName(self.tr("Copy the address of the caption page"))
            self.open.setAccessibleName(self.tr("Open the caption page in the browser"))
            self.copy.clicked.connect(self._copy_address)
            self.open.clicked.connect(self._open_page)
            self.add_buttons(self.copy, self.open)

    def _add_sessions(self) -> None:
        self.add_heading(self.tr("Kept sessions"))
        self.open_sessions = QPushButton(
            icon("folder-open", before_text=True), self.tr("Open fol&der")
        )
        self.open_sessions.clicked.connect(self._open_sessions)
        self.add_buttons(self.open_sessions)

    @Slot()
    def _copy_address(self) -> None:
        QGuiApplication.clipboard().setText(self._address)
        self.noticed.emit(
            self.tr("The address was copied. Everybody who knows it can read the captions.")
        )

    @Slot()
    def _open_page(self) -> None:
        self.noticed.emit(open_page(self._address))

    @Slot()
    def _open_sessions(self) -> None:
        sessions = self._data_folder / "sessions"
        self.noticed.emit(open_folder(sessions if sessions.is_dir() else self._data_folder))


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
        self.buttons.rejected.connect(self.close)
        self.tabs.currentChanged.connect(self.notice.hide)
        self.resize(_SIZE)
        column = QVBoxLayout(self)
        for widget in (self.tabs, self.notice, self.buttons):
            column.addWidget(widget)

    @Slot(Preferences)
    def show_preferences(self, preferences: Preferences) -> None:
        self._shown = preferences
        for page in self.pages:
            page.show_preferences(preferences)

    def open_page(self, page: SettingsPage) -> None:
        self.tabs.setCurrentIndex(self.pages.index(page))

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


def _scrolled(page: SettingsPage) -> QWidget:
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
        self.setTabBar(_Bar())
        self.setUsesScrollButtons(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)


class _Bar(QTabBar):
    def tabSizeHint(self, index: int) -> QSize:
        return super().tabSizeHint(index) + QSize(0, _TAB_ROOM)

    def minimumTabSizeHint(self, index: int) -> QSize:
        return self.tabSizeHint(index)
