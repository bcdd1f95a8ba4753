"""The page of the settings about files and pages that other programs read."""

from pathlib import Path

from PySide6.QtCore import Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPushButton

from app.config.preferences import Preferences
from app.dialogs.settings.page import SettingsPage
from app.look.icons import icon
from app.look.widgets.desktop_links import open_folder, open_page
from app.look.widgets.dialog_text import paragraph
from app.look.widgets.file_dialogs import ask_save


class FilesPage(SettingsPage):
    """The text file and the caption page, both for this computer alone."""

    def __init__(self, data_folder: Path) -> None:
        """Make the page.

        Args:
            data_folder: has the text file if the user chose no other one.
        """
        super().__init__("")
        self.title = self.tr("Files and OBS")
        self._data_folder = data_folder
        self._address = ""
        self._add_text_file()
        self._add_page()
        self.show_address("")

    def show_address(self, address: str) -> None:
        """Show the address of the caption page, without its secret; empty while it is closed."""
        self._address = address
        shown, token, _ = address.partition("?")
        self.address.setText(f"{shown}…" if token else shown)
        for button in (self.copy, self.open):
            button.setEnabled(bool(address))

    def fill(self, preferences: Preferences) -> None:
        """Show the preferences."""
        super().fill(preferences)
        self.address.setPlaceholderText(
            self.tr("The page is not open") if preferences.privacy.page else ""
        )

    def _add_text_file(self) -> None:
        self.live_text = self.add_check(
            "privacy.live_text",
            self.tr("Append captions to a &text file"),
            self.tr("For programs that show the text of a file, such as OBS."),
        )
        with self.below(self.live_text):
            self.live_text_file = QLineEdit(readOnly=True)
            self.live_text_file.setPlaceholderText(
                self.tr("captions.txt in Surtitle's data folder")
            )
            self.add_field(self.tr("Text file"), self.live_text_file)
            self.choose_file = QPushButton(self.tr("Choose &file…"))
            self.choose_file.clicked.connect(self._choose_file)
            self.open_file_folder = QPushButton(
                icon("folder-open", before_text=True), self.tr("Open fol&der")
            )
            self.open_file_folder.clicked.connect(self._open_folder)
            self.add_buttons(self.choose_file, self.open_file_folder)
        self.bind(
            "privacy.live_text_file",
            lambda path: self.live_text_file.setText(str(path or "")),
            lambda: Path(text) if (text := self.live_text_file.text()) else None,
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

    @Slot()
    def _choose_file(self) -> None:
        path = ask_save(self, self.tr("Text file for captions"), "captions.txt")
        if path:
            self.live_text_file.setText(str(path))
            self.take_edit()

    @Slot()
    def _open_folder(self) -> None:
        chosen = self.live_text_file.text()
        self.noticed.emit(open_folder(Path(chosen).parent if chosen else self._data_folder))

    @Slot()
    def _copy_address(self) -> None:
        QGuiApplication.clipboard().setText(self._address)
        self.noticed.emit(
            self.tr("The address was copied. Everybody who knows it can read the captions.")
        )

    @Slot()
    def _open_page(self) -> None:
        self.noticed.emit(open_page(self._address))
