"""The page of the settings about what hears."""

from dataclasses import replace

from PySide6.QtCore import Slot
from PySide6.QtWidgets import QComboBox, QLabel, QPushButton

from app.config.preferences import ListeningPreferences, Preferences
from app.dialogs.settings.pages import SettingsPage
from app.widgets.file_dialogs import ask_folder
from engine.hub.catalogue import WHISPER_MODELS


class ListeningPage(SettingsPage):
    """Which recogniser hears: one of those with a name, one of the hub, or one in a folder."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("Listening")
        self.recognizer = QComboBox()
        self.recognizer.setEditable(True)
        self.recognizer.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.recognizer.addItems(list(WHISPER_MODELS))
        self.choose_folder = QPushButton(self.tr("Choose &folder…"))
        explanation = QLabel(
            self.tr(
                "Smaller ones come first: they are quicker and hear less well. Those that end in "
                ".en know English alone, and know it better. A name with a slash is looked for on "
                "huggingface.co. A recogniser is fetched once, and only when you say so."
            ),
            wordWrap=True,
        )
        self.add_field(
            self.tr("&Recogniser"),
            self.recognizer,
            self.tr("A Whisper model for CTranslate2: its name, or its folder."),
        )
        self.form.addRow("", self.choose_folder)
        self.form.addRow("", explanation)
        self.recognizer.activated.connect(self.take_edit)
        line = self.recognizer.lineEdit()
        assert line is not None  # it is editable
        line.editingFinished.connect(self.take_edit)
        self.choose_folder.clicked.connect(self._choose_folder)

    def fill(self, preferences: Preferences) -> None:
        """Show the recogniser."""
        self.recognizer.setCurrentText(preferences.listening.recognizer)

    def read(self, preferences: Preferences) -> Preferences:
        """Read the recogniser; an empty line changes nothing."""
        name = self.recognizer.currentText().strip() or preferences.listening.recognizer
        return replace(preferences, listening=replace(preferences.listening, recognizer=name))

    def defaults(self, preferences: Preferences) -> Preferences:
        """Reset the recogniser; devices are chosen in the main window."""
        own = ListeningPreferences().recognizer
        return replace(preferences, listening=replace(preferences.listening, recognizer=own))

    @Slot()
    def _choose_folder(self) -> None:
        folder = ask_folder(self, self.tr("Folder of a recogniser"))
        if folder:
            self.recognizer.setCurrentText(str(folder))
            self.take_edit()
