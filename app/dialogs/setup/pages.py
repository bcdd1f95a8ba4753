"""The first pages of the setup wizard: welcome and privacy, and live sound levels."""

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QFormLayout, QGridLayout, QLabel, QVBoxLayout, QWidget

from app.config.preferences import Preferences
from app.dialogs.setup.sound_check import SoundCheck
from app.widgets.dialog_text import add_row, as_sentence, paragraph
from app.widgets.language_names import language_name, language_names
from app.widgets.level_meter import LevelMeter
from engine.audio.devices import DeviceKind, Level

_SPACING = 12


class WizardPage(QWidget):
    """A page of the wizard."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(_SPACING)

    def enter(self) -> None:
        """Start the work of the page; it becomes visible."""

    def leave(self) -> None:
        """Stop the work of the page; another one becomes visible."""

    def add_text(self, text: str) -> QLabel:
        """Append a paragraph."""
        label = paragraph(text)
        self.column.addWidget(label)
        return label


class WelcomePage(WizardPage):
    """The purpose of Surtitle, the privacy of its data, and the two languages."""

    def __init__(self, bundled: Sequence[str]) -> None:
        """Offer all languages.

        Args:
            bundled: target languages of the bundled model.
        """
        super().__init__()
        self.title = self.tr("Welcome")
        self._bundled = bundled
        self.add_text(
            self.tr(
                "Surtitle writes captions in another language while a sentence is still being "
                "said or typed. Captions on the screen never change."
            )
        )
        self.add_text(
            self.tr(
                "Everything happens on this computer. No text, no sound and no figures are sent to "
                "anybody; there is no account, and no server is asked for updates. Only models "
                "that you choose to download come from huggingface.co."
            )
        )
        self.add_text(
            self.tr(
                "Captions are kept on this computer for 30 days, so that a crash loses nothing. "
                "The settings, under General, change that or turn it off."
            )
        )
        self.source, self.target = QComboBox(), QComboBox()
        self.source.addItem(language_name("en"), "en")
        self.source.setAccessibleName(self.tr("Language that is spoken"))
        self.target.setAccessibleName(self.tr("Language of the captions"))
        for code, name in language_names().items():
            if code != "en":
                self.target.addItem(name, code)
        form = QFormLayout()
        add_row(form, self.tr("&From"), self.source, self.source)
        add_row(form, self.tr("In&to"), self.target, self.target)
        self.column.addLayout(form)
        self.note = self.add_text("")
        self.column.addStretch(1)
        self.target.currentIndexChanged.connect(self._explain)

    @property
    def language(self) -> str:
        """Code of the target language."""
        return str(self.target.currentData())

    def show_preferences(self, preferences: Preferences) -> None:
        """Show the chosen language."""
        index = self.target.findData(preferences.translation.language)
        self.target.setCurrentIndex(max(0, index))
        self._explain()

    @Slot()
    def _explain(self) -> None:
        note = self.tr("The bundled model translates everyday sentences into this language.")
        if self.language not in self._bundled:
            note = self.tr("For {}, choose a model two pages on.").format(self.target.currentText())
            if self._bundled:
                known = ", ".join(map(language_name, self._bundled))
                only = self.tr("The bundled model translates into {} only.").format(known)
                note = f"{only} {note}"
        self.note.setText(note)


class SoundPage(WizardPage):
    """Live meters of the microphone and of the sound that the computer plays."""

    def __init__(self, check: SoundCheck) -> None:
        super().__init__()
        self.title = self.tr("Sound")
        self._check = check
        self.add_text(
            self.tr(
                "Say something, and let the computer play something: a bar moves if Surtitle "
                "hears it. Nothing is recorded. Without sound you can still type."
            )
        )
        names = (self.tr("Microphone"), self.tr("What I hear"))
        self.meters = {kind: LevelMeter() for kind in DeviceKind}
        self.messages = {kind: paragraph() for kind in DeviceKind}
        grid = QGridLayout()
        grid.setVerticalSpacing(_SPACING // 2)
        grid.setColumnStretch(1, 1)
        for row, (kind, name) in enumerate(zip(DeviceKind, names, strict=True)):
            self.meters[kind].setAccessibleName(name)
            grid.addWidget(QLabel(name), 3 * row, 0)
            grid.addWidget(self.meters[kind], 3 * row, 1)
            grid.addWidget(self.messages[kind], 3 * row + 1, 1)
            grid.setRowMinimumHeight(3 * row + 2, _SPACING)
        self.column.addLayout(grid)
        self.column.addStretch(1)
        check.level_came.connect(self._show_level)
        check.reported.connect(self._show_message)

    def enter(self) -> None:
        """Listen while the page is visible."""
        for label in self.messages.values():
            label.setText(self.tr("Searching…"))
        self._check.start()

    def leave(self) -> None:
        """Stop listening."""
        self._check.stop()
        for meter in self.meters.values():
            meter.show_nothing()

    @Slot(object, object)
    def _show_level(self, kind: DeviceKind, level: Level) -> None:
        if self.isVisible():
            self.meters[kind].show_level(level)

    @Slot(object, str)
    def _show_message(self, kind: DeviceKind, message: str) -> None:
        self.messages[kind].setText(as_sentence(message))
