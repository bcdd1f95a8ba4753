"""The page of the settings about the windows and what is kept."""

from dataclasses import replace

from PySide6.QtCore import Slot

from app.config.preferences import (
    APPEARANCES,
    INTERFACE_LANGUAGES,
    InterfacePreferences,
    Preferences,
)
from app.dialogs.settings.page import SettingsPage
from app.look.widgets.dialog_text import paragraph


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
            list(zip(languages, INTERFACE_LANGUAGES, strict=True)),
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
            list(zip(looks, APPEARANCES, strict=True)),
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
