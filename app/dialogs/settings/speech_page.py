"""The page of the settings about speech recognition."""

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QComboBox, QPushButton

from app.dialogs.settings.page import SettingsPage
from app.look.icons import icon
from app.look.widgets.desktop import ask_folder, open_folder
from app.look.widgets.dialog_text import paragraph
from app.look.widgets.names import device_names, speech_id, speech_name, speech_words
from engine.audio.devices import AudioDevice, DeviceKind
from engine.hub.bundled import standard_speech_model
from engine.hub.catalogue import (
    MOONSHINE,
    SPEECH_MEGABYTES,
    SPEECH_MODELS,
    STREAMING_MODELS,
    WHISPER_MODELS,
)
from engine.models.model_card import translates_sound


class SpeechPage(SettingsPage):
    """The devices, and the speech model: a known one, a Whisper model of the hub, or a folder.

    Signals:
        devices_wanted(): which devices there are; the page is seen.
        download_clicked(): download the model that was offered.
    """

    devices_wanted = Signal()
    download_clicked = Signal()

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
        self.recognizer = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        along = [MOONSHINE] if standard_speech_model() == MOONSHINE else []
        known = (*along, *STREAMING_MODELS, *WHISPER_MODELS)
        self._ids = {speech_name(name): name for name in known}
        self._ids |= {speech_name(str(one)): str(one) for one in sound_folders(self._folder)}
        self.recognizer.addItems(list(self._ids))
        self._explanation = self.tr(
            "Its name, or the folder of a Whisper or streaming model, or of a model that "
            "translates straight from the sound."
        )
        self.add_field(self.tr("Speech &model"), self.recognizer, self._explanation)
        line = self.recognizer.lineEdit()
        assert line is not None  # it is editable
        self.bind(
            "listening.recognizer",
            lambda name: self._show_name(str(name)),
            # an empty line changes nothing
            lambda: self._named or self._shown.listening.recognizer,
            self.recognizer.activated,
            line.editingFinished,
        )
        self.download_size = paragraph()
        self.form.addRow("", self.download_size)
        self.recognizer.currentTextChanged.connect(self._show_size)
        self._show_size()
        self.download = QPushButton(icon("download", before_text=True), "")
        self.download.clicked.connect(self.download_clicked)
        self.show_offer("")
        self.choose_folder = QPushButton(self.tr("Choose &folder…"))
        self.choose_folder.clicked.connect(self._choose_folder)
        self.open_models = QPushButton(
            icon("folder-open", before_text=True), self.tr("&Open folder")
        )
        self.open_models.clicked.connect(self._open_models)
        self.add_buttons(self.download, self.choose_folder, self.open_models)
        self.form.addRow(
            "",
            paragraph(
                self.tr(
                    "The upper models are faster, the lower ones more accurate. Those with “.en” "
                    "know English only, and hear it better. A model is downloaded once, and only "
                    "after you agree; until then the one before is used. You can also type the "
                    "name of a model on huggingface.co."
                )
            ),
        )

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

    def show_offer(self, recognizer: str) -> None:
        self.download.setText(self.tr("&Download {}").format(speech_name(recognizer)))
        self.download.setVisible(bool(recognizer))

    def _show_name(self, recognizer: str) -> None:
        """Show the words for a known model, as the set-up has them; of a folder its name."""
        is_taken = speech_id(recognizer) in SPEECH_MODELS and not speech_words(recognizer)
        name = recognizer if is_taken else speech_name(recognizer)
        self._ids[name] = recognizer  # also of a folder, and of one that another computer has
        self.recognizer.setCurrentText(name)

    @property
    def _named(self) -> str:
        """The name or folder in the line, without the words before it."""
        text = self.recognizer.currentText().strip()
        return self._ids.get(text, text)

    @Slot()
    def _show_size(self) -> None:
        """Show when words of a known model appear, and its size; a tool tip has a whole path."""
        name = self._named
        facts = list[str]()
        self.recognizer.setToolTip(name if Path(name).is_absolute() else self._explanation)
        if name == MOONSHINE:
            facts.append(self.tr("Comes with Surtitle: English, words appear about a second later"))
        elif name in STREAMING_MODELS:
            facts.append(self.tr("At once: words appear as they are said"))
        elif name in WHISPER_MODELS:
            facts.append(self.tr("More exact: words appear a second or two later"))
        elif Path(name).is_absolute() and translates_sound(Path(name)):
            facts.append(
                self.tr("Straight from the sound: it translates by itself, and writes no English")
            )
        if name in SPEECH_MEGABYTES:
            facts.append(self.tr("{} MB to download, once").format(SPEECH_MEGABYTES[name]))
        self.download_size.setText(" · ".join(facts))

    @Slot()
    def _choose_folder(self) -> None:
        folder = ask_folder(self, self.tr("Folder of a speech model"))
        if folder:
            self.recognizer.setCurrentText(str(folder))
            self.take_edit()

    @Slot()
    def _open_models(self) -> None:
        self.noticed.emit(open_folder(self._folder))


def sound_folders(library: Path) -> list[Path]:
    """List the models of a folder of models that translate sound, by name."""
    try:
        return sorted(one for one in library.iterdir() if one.is_dir() and translates_sound(one))
    except OSError:  # no model was ever downloaded
        return []
