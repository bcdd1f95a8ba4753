"""The page of the settings about speech recognition."""

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QPushButton

from app.dialogs.settings.pages import SettingsPage
from app.widgets.dialog_text import paragraph
from app.widgets.file_dialogs import ask_folder
from engine.hub.catalogue import WHISPER_MODELS


class ListeningPage(SettingsPage):
    """The speech model: a known Whisper model, one of the hub, or a folder."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("Listening")
        self.recognizer = QComboBox(editable=True, insertPolicy=QComboBox.InsertPolicy.NoInsert)
        self.recognizer.addItems(list(WHISPER_MODELS))
        self.add_field(
            self.tr("&Recogniser"),
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
        self.choose_folder = QPushButton(self.tr("Choose &folder…"))
        self.choose_folder.clicked.connect(self._choose_folder)
        self.form.addRow("", self.choose_folder)
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
    def _choose_folder(self) -> None:
        folder = ask_folder(self, self.tr("Folder of a recogniser"))
        if folder:
            self.recognizer.setCurrentText(str(folder))
            self.take_edit()
