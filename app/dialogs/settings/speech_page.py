"""The page of the settings about speech recognition."""

from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton

from app.dialogs.settings.page import SettingsPage
from app.look.icons import icon
from app.widgets.desktop_links import open_folder
from app.widgets.dialog_text import paragraph
from app.widgets.file_dialogs import ask_folder
from engine.hub.catalogue import WHISPER_MEGABYTES, WHISPER_MODELS


class SpeechPage(SettingsPage):
    """The speech model: a known Whisper model, one of the hub, or a folder."""

    def __init__(self, data_folder: Path) -> None:
        """Make the page.

        Args:
            data_folder: has the downloaded models, in ``models``.
        """
        super().__init__("")
        self._folder = data_folder / "models"
        self.title = self.tr("Speech")
        self.recognizer = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self.recognizer.addItems(list(WHISPER_MODELS))
        self.add_field(
            self.tr("Speech &model"),
            self.recognizer,
            self.tr("A Whisper model for CTranslate2: its name, or its folder."),
        )
        line = self.recognizer.lineEdit()
        assert line is not None  # it is editable
        self.bind(
            "listening.recognizer",
            lambda name: self.recognizer.setCurrentText(str(name)),
            # an empty line changes nothing
            lambda: self.recognizer.currentText().strip() or self._shown.listening.recognizer,
            self.recognizer.activated,
            line.editingFinished,
        )
        self.download_size = QLabel()
        self.form.addRow("", self.download_size)
        self.recognizer.currentTextChanged.connect(self._show_size)
        self._show_size()
        self.choose_folder = QPushButton(self.tr("Choose &folder…"))
        self.choose_folder.clicked.connect(self._choose_folder)
        self.open_models = QPushButton(icon("folder-open"), self.tr("&Open folder"))
        self.open_models.clicked.connect(self._open_models)
        self.add_buttons(self.choose_folder, self.open_models)
        self.form.addRow(
            "",
            paragraph(
                self.tr(
                    "Smaller models come first: they are faster and less accurate. Models that "
                    "end in .en understand English only, and understand it better. A name with a "
                    "slash is looked up on huggingface.co. A model is downloaded once, and only "
                    "after you agree."
                )
            ),
        )

    @Slot()
    def _show_size(self) -> None:
        """Show the size of a known model."""
        megabytes = WHISPER_MEGABYTES.get(self.recognizer.currentText())
        told = self.tr("{} MB to download, once")
        self.download_size.setText("" if megabytes is None else told.format(megabytes))

    @Slot()
    def _choose_folder(self) -> None:
        folder = ask_folder(self, self.tr("Folder of a speech model"))
        if folder:
            self.recognizer.setCurrentText(str(folder))
            self.take_edit()

    @Slot()
    def _open_models(self) -> None:
        self.noticed.emit(open_folder(self._folder))
