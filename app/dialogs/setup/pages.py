"""The first pages of the guide: what Surtitle does and keeps to itself, and what it hears."""

from collections.abc import Sequence

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QFormLayout, QGridLayout, QLabel, QVBoxLayout, QWidget

from app.config.preferences import Preferences
from app.dialogs.setup.sound_check import SoundCheck
from app.widgets.dialog_text import as_sentence, paragraph
from app.widgets.language_names import language_name, language_names
from app.widgets.level_meter import LevelMeter
from engine.audio.devices import DeviceKind, Level

_SPACING = 12


class WizardPage(QWidget):
    """A page of the guide."""

    def __init__(self) -> None:
        super().__init__()
        self.title = ""
        self.column = QVBoxLayout(self)
        self.column.setContentsMargins(0, 0, 0, 0)
        self.column.setSpacing(_SPACING)

    def enter(self) -> None:
        """Begin what the page shows; it is seen from now on."""

    def leave(self) -> None:
        """End what costs anything; another page is seen."""

    def add_text(self, text: str) -> QLabel:
        """Put a paragraph below what is there."""
        label = paragraph(text)
        self.column.addWidget(label)
        return label


class WelcomePage(WizardPage):
    """What Surtitle does, what leaves this computer, and between which languages it translates."""

    def __init__(self, bundled: Sequence[str]) -> None:
        """Offer all languages.

        Args:
            bundled: those that the model that comes with this copy knows.
        """
        super().__init__()
        self.title = self.tr("Welcome")
        self._bundled = bundled
        self.add_text(
            self.tr(
                "Surtitle writes captions in another language while a sentence is still being "
                "said or typed. What stands there does not change any more."
            )
        )
        self.add_text(
            self.tr(
                "All of it happens on this computer. No text, no sound and no figures are sent to "
                "anybody; there is no account, and no server is asked for updates. Only a model "
                "that you choose to fetch comes from huggingface.co."
            )
        )
        self.add_text(
            self.tr(
                "Captions are kept on this computer for 30 days, so that a crash loses nothing. "
                "The settings, under Privacy and files, change that or turn it off."
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
        form.addRow(self.tr("&From"), self.source)
        form.addRow(self.tr("In&to"), self.target)
        self.column.addLayout(form)
        self.note = self.add_text("")
        self.column.addStretch(1)
        self.target.currentIndexChanged.connect(self._explain)

    @property
    def language(self) -> str:
        """Code of the target language."""
        return str(self.target.currentData())

    def show_preferences(self, preferences: Preferences) -> None:
        """Show the language that is chosen already."""
        found = self.target.findData(preferences.translation.language)
        self.target.setCurrentIndex(max(0, found))
        self._explain()

    @Slot()
    def _explain(self) -> None:
        told = self.tr("The model that comes with Surtitle knows this pair: everyday sentences.")
        if self.language not in self._bundled:
            told = self.tr("For {} choose a model two pages on.").format(self.target.currentText())
            if self._bundled:
                known = ", ".join(map(language_name, self._bundled))
                only = self.tr("The model that comes with Surtitle knows {} only.").format(known)
                told = f"{only} {told}"
        self.note.setText(told)


class SoundPage(WizardPage):
    """Live meters for the microphone and for what the computer plays."""

    def __init__(self, check: SoundCheck) -> None:
        super().__init__()
        self.title = self.tr("Sound")
        self._check = check
        self.add_text(
            self.tr(
                "Say something, and let the computer play something: a bar moves where Surtitle "
                "hears it. Nothing of it is kept. Without sound you can still type."
            )
        )
        names = (self.tr("Microphone"), self.tr("What I hear"))
        self.meters = {kind: LevelMeter() for kind in DeviceKind}
        self.told = {kind: paragraph() for kind in DeviceKind}
        grid = QGridLayout()
        grid.setVerticalSpacing(_SPACING // 2)
        grid.setColumnStretch(1, 1)
        for row, (kind, name) in enumerate(zip(DeviceKind, names, strict=True)):
            self.meters[kind].setAccessibleName(name)
            grid.addWidget(QLabel(name), 3 * row, 0)
            grid.addWidget(self.meters[kind], 3 * row, 1)
            grid.addWidget(self.told[kind], 3 * row + 1, 1)
            grid.setRowMinimumHeight(3 * row + 2, _SPACING)
        self.column.addLayout(grid)
        self.column.addStretch(1)
        check.level_came.connect(self._show_level)
        check.told.connect(self._tell)

    def enter(self) -> None:
        """Listen as long as the page is seen."""
        for label in self.told.values():
            label.setText(self.tr("Looking for it…"))
        self._check.start()

    def leave(self) -> None:
        """Listen no more."""
        self._check.stop()
        for meter in self.meters.values():
            meter.show_nothing()

    @Slot(object, object)
    def _show_level(self, kind: DeviceKind, level: Level) -> None:
        if self.isVisible():
            self.meters[kind].show_level(level)

    @Slot(object, str)
    def _tell(self, kind: DeviceKind, message: str) -> None:
        self.told[kind].setText(as_sentence(message))
