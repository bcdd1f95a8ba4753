"""The pages of the settings window: each shows one table of the choices, and tells a new one.

A page holds what it was shown and changes it field by field; what it does not show stays.
"""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFormLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QSpinBox,
    QWidget,
)

from app.config.preferences import (
    INTERFACE_LANGUAGES,
    PRESETS,
    SHOWN,
    CaptionPreferences,
    InterfacePreferences,
    OverlayPreferences,
    Preferences,
    PrivacyPreferences,
)
from app.system.screen_share import can_hide
from app.system.wayland import is_wayland
from app.widgets.file_dialogs import ask_save


class SettingsPage(QWidget):
    """A form over the preferences.

    Signals:
        edited(Preferences): the person changed something; these are all the preferences then.
    """

    edited = Signal(object)

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title
        self.form = QFormLayout(self)
        self._shown = Preferences()
        self._is_filling = False

    def show_preferences(self, preferences: Preferences) -> None:
        """Fill the form, without telling that anything was edited."""
        self._shown = preferences
        self._is_filling = True
        self.fill(preferences)
        self._is_filling = False

    def fill(self, preferences: Preferences) -> None:
        """Put the values into the fields."""
        raise NotImplementedError

    def read(self, preferences: Preferences) -> Preferences:
        """Put the fields into the preferences."""
        raise NotImplementedError

    def defaults(self, preferences: Preferences) -> Preferences:
        """Give the preferences with this page as Surtitle came."""
        raise NotImplementedError

    def add_field(self, label: str, widget: QWidget, explanation: str = "") -> None:
        """Put a field below the others; its label is its name for screen readers, too."""
        if isinstance(widget, QCheckBox):
            widget.setText(label)
            self.form.addRow(widget)
        else:
            self.form.addRow(label, widget)
            widget.setAccessibleName(label.replace("&", ""))
        widget.setToolTip(explanation)
        widget.setAccessibleDescription(explanation)

    @Slot()
    def take_edit(self) -> None:
        """Tell the preferences with what stands in the fields now."""
        if not self._is_filling:
            self._shown = self.read(self._shown)
            self.edited.emit(self._shown)


class CaptionsPage(SettingsPage):
    """How captions look."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("Captions")
        self.preset = _combo(
            [
                self.tr("White on black"),
                self.tr("Yellow on black"),
                self.tr("Black on white"),
                self.tr("High contrast"),
            ],
            PRESETS,
        )
        self.letters = _spin(14, 96, self.tr(" pt"))
        self.outline, self.smooth = QCheckBox(), QCheckBox()
        self.shows = _combo(
            [self.tr("Captions"), self.tr("Source"), self.tr("Source above captions")], SHOWN
        )
        self.add_field(self.tr("&Colours"), self.preset)
        self.add_field(self.tr("Letter &size"), self.letters)
        self.add_field(self.tr("&Outline around letters"), self.outline)
        self.add_field(self.tr("S&how"), self.shows)
        self.add_field(
            self.tr("&Glide when lines move up"),
            self.smooth,
            self.tr("Where the desktop wants no motion, lines jump all the same."),
        )
        self.preset.currentIndexChanged.connect(self.take_edit)
        self.shows.currentIndexChanged.connect(self.take_edit)
        self.letters.valueChanged.connect(self.take_edit)
        self.outline.toggled.connect(self.take_edit)
        self.smooth.toggled.connect(self.take_edit)

    def fill(self, preferences: Preferences) -> None:
        """Show the captions' table."""
        captions = preferences.captions
        self.preset.setCurrentIndex(self.preset.findData(captions.preset))
        self.letters.setValue(captions.point_size)
        self.outline.setChecked(captions.outline)
        self.shows.setCurrentIndex(self.shows.findData(captions.shows))
        self.smooth.setChecked(captions.smooth)

    def read(self, preferences: Preferences) -> Preferences:
        """Read the captions' table."""
        captions = replace(
            preferences.captions,
            preset=self.preset.currentData(),
            point_size=self.letters.value(),
            outline=self.outline.isChecked(),
            shows=self.shows.currentData(),
            smooth=self.smooth.isChecked(),
        )
        return replace(preferences, captions=captions)

    def defaults(self, preferences: Preferences) -> Preferences:
        """Reset the look; the overlay's size is a matter of its own page."""
        own, now = CaptionPreferences(), preferences.captions
        own = replace(own, lines=now.lines, characters=now.characters)
        return replace(preferences, captions=own)


class OverlayPage(SettingsPage):
    """How large the overlay is and how it behaves."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("Overlay")
        self.lines, self.characters = _spin(1, 4), _spin(20, 68)
        self.locked = QCheckBox()
        self.add_field(self.tr("&Lines"), self.lines)
        self.add_field(
            self.tr("&Characters in a line"),
            self.characters,
            self.tr("Subtitles have 42; the window fits the screen in any case."),
        )
        self.add_field(
            self.tr("Loc&ked: clicks go through to what lies below"),
            self.locked,
            self.tr("Ctrl+K in the main window, or the tray, unlocks it again."),
        )
        self.hide_from_share, self.through_xwayland = QCheckBox(), QCheckBox()
        self.add_field(
            self.tr("&Hide from screen sharing"),
            self.hide_from_share,
            self.tr("Others do not see the overlay when you share or record your screen."),
        )
        self.cannot_hide = QLabel(
            self.tr("Windows and macOS can do that; on Linux no window can ask for it."),
            wordWrap=True,
        )
        self.cannot_hide.setVisible(not can_hide())
        self.form.addRow(self.cannot_hide)
        self.add_field(
            self.tr("On &Wayland, go through XWayland"),
            self.through_xwayland,
            self.tr(
                "Then the overlay stays above other windows, where you put it; on some scaled "
                "screens letters are less sharp. Takes effect when Surtitle is started again."
            ),
        )
        self.lines.valueChanged.connect(self.take_edit)
        self.characters.valueChanged.connect(self.take_edit)
        for box in (self.locked, self.hide_from_share, self.through_xwayland):
            box.toggled.connect(self.take_edit)

    def fill(self, preferences: Preferences) -> None:
        """Show size, lock, and what the system can or cannot do."""
        self.hide_from_share.setChecked(preferences.overlay.hide_from_share)
        self.hide_from_share.setEnabled(can_hide())
        self.through_xwayland.setChecked(preferences.overlay.through_xwayland)
        wayland = is_wayland() or preferences.overlay.through_xwayland
        self.form.setRowVisible(self.through_xwayland, wayland)
        self.lines.setValue(preferences.captions.lines)
        self.characters.setValue(preferences.captions.characters)
        self.locked.setChecked(preferences.overlay.locked)

    def read(self, preferences: Preferences) -> Preferences:
        """Read size and lock."""
        lines, characters = self.lines.value(), self.characters.value()
        return replace(
            preferences,
            captions=replace(preferences.captions, lines=lines, characters=characters),
            overlay=replace(
                preferences.overlay,
                locked=self.locked.isChecked(),
                hide_from_share=self.hide_from_share.isChecked(),
                through_xwayland=self.through_xwayland.isChecked(),
            ),
        )

    def defaults(self, preferences: Preferences) -> Preferences:
        """Reset size and lock; whether the overlay is open stays."""
        own = CaptionPreferences()
        captions = replace(preferences.captions, lines=own.lines, characters=own.characters)
        overlay = OverlayPreferences(visible=preferences.overlay.visible)
        return replace(preferences, captions=captions, overlay=overlay)


class PolicyPage(SettingsPage):
    """When captions are written, and the language of the windows."""

    def __init__(self, policies: Sequence[tuple[str, str, str]]) -> None:
        """Offer policies: as written, their name, their explanation."""
        super().__init__("")
        self.title = self.tr("Translation")
        self.policy = QComboBox()
        for written, name, _ in policies:
            self.policy.addItem(name, written)
        self._explanations = {written: text for written, _, text in policies}
        self.explanation = QLabel(wordWrap=True)
        self.language = _combo(
            [self.tr("As the system"), "English", "Deutsch"], INTERFACE_LANGUAGES
        )
        self.add_field(self.tr("&Timing"), self.policy)
        self.form.addRow("", self.explanation)
        self.add_field(
            self.tr("Language of the &windows"),
            self.language,
            self.tr("Takes effect when Surtitle is started again."),
        )
        self.policy.currentIndexChanged.connect(self._explain)
        self.policy.currentIndexChanged.connect(self.take_edit)
        self.language.currentIndexChanged.connect(self.take_edit)

    def fill(self, preferences: Preferences) -> None:
        """Show the policy, in the words of the engine if the list has no better."""
        written = preferences.translation.policy
        if self.policy.findData(written) < 0:
            self.policy.addItem(written, written)
        self.policy.setCurrentIndex(self.policy.findData(written))
        self.language.setCurrentIndex(self.language.findData(preferences.interface.language))
        self._explain()

    def read(self, preferences: Preferences) -> Preferences:
        """Read policy and language."""
        return replace(
            preferences,
            translation=replace(preferences.translation, policy=self.policy.currentData()),
            interface=InterfacePreferences(language=self.language.currentData()),
        )

    def defaults(self, preferences: Preferences) -> Preferences:
        """Reset policy and language; the target language is chosen in the main window."""
        own = Preferences()
        translation = replace(preferences.translation, policy=own.translation.policy)
        return replace(preferences, translation=translation, interface=own.interface)

    @Slot()
    def _explain(self) -> None:
        self.explanation.setText(self._explanations.get(self.policy.currentData(), ""))


class PrivacyPage(SettingsPage):
    """What is written to disk or shown to other programs. Nothing leaves this computer."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("Privacy and files")
        self.journal, self.live_text, self.page = QCheckBox(), QCheckBox(), QCheckBox()
        self.days = _spin(1, 3650, self.tr(" days"))
        self.live_text_file = QLineEdit()
        self.live_text_file.setReadOnly(True)
        self.choose_file = QPushButton(self.tr("Choose &file…"))
        self.port = _spin(1024, 65535)
        note = QLabel(
            self.tr(
                "Surtitle sends nothing to anybody: no text, no sound, no figures. "
                "It asks no server whether there is a newer version."
            ),
            wordWrap=True,
        )
        self.form.addRow(note)
        self.add_field(self.tr("Keep a &journal, so that a crash loses nothing"), self.journal)
        self.add_field(self.tr("&Delete journals after"), self.days)
        self.add_field(
            self.tr("&Append captions to a text file"),
            self.live_text,
            self.tr("For programs that show the text of a file, such as OBS."),
        )
        self.add_field(self.tr("Text file"), self.live_text_file)
        self.form.addRow("", self.choose_file)
        self.add_field(
            self.tr("Show captions on a &page for this computer alone"),
            self.page,
            self.tr("A browser source for OBS; its address holds a secret."),
        )
        self.add_field(self.tr("P&ort of the page"), self.port)
        for box in (self.journal, self.live_text, self.page):
            box.toggled.connect(self.take_edit)
        self.port.valueChanged.connect(self.take_edit)
        self.days.valueChanged.connect(self.take_edit)
        self.choose_file.clicked.connect(self._choose_file)

    def fill(self, preferences: Preferences) -> None:
        """Show the table of privacy."""
        privacy = preferences.privacy
        self.journal.setChecked(privacy.journal)
        self.days.setValue(privacy.journal_days)
        self.live_text.setChecked(privacy.live_text)
        self.live_text_file.setText(str(privacy.live_text_file or ""))
        self.live_text_file.setPlaceholderText(self.tr("captions.txt in Surtitle's data folder"))
        self.page.setChecked(privacy.page)
        self.port.setValue(privacy.page_port)

    def read(self, preferences: Preferences) -> Preferences:
        """Read the table of privacy."""
        text = self.live_text_file.text()
        privacy = PrivacyPreferences(
            journal=self.journal.isChecked(),
            journal_days=self.days.value(),
            live_text=self.live_text.isChecked(),
            live_text_file=Path(text) if text else None,
            page=self.page.isChecked(),
            page_port=self.port.value(),
        )
        return replace(preferences, privacy=privacy)

    def defaults(self, preferences: Preferences) -> Preferences:
        """Reset the table of privacy."""
        return replace(preferences, privacy=PrivacyPreferences())

    @Slot()
    def _choose_file(self) -> None:
        path = ask_save(self, self.tr("Text file for captions"), "captions.txt")
        if path:
            self.live_text_file.setText(str(path))
            self.take_edit()


def _combo(names: Sequence[str], data: Sequence[str]) -> QComboBox:
    combo = QComboBox()
    for name, one in zip(names, data, strict=True):
        combo.addItem(name, one)
    return combo


def _spin(least: int, most: int, suffix: str = "") -> QSpinBox:
    spin = QSpinBox()
    spin.setRange(least, most)
    spin.setSuffix(suffix)
    return spin
