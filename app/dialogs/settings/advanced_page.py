"""The page of the settings for what few need: the caption page, the files of the program."""

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLineEdit, QPushButton

from app.config.preferences import Preferences
from app.dialogs.settings.page import SettingsPage
from app.look.icons import icon
from app.look.widgets.desktop_links import open_folder, open_page
from app.look.widgets.dialog_text import paragraph


class AdvancedPage(SettingsPage):
    """The caption page, for this computer alone; the settings as a file; the kept sessions.

    Signals:
        load_wanted(): choose a settings file to use.
        save_wanted(): choose a file to write the settings into.
    """

    load_wanted = Signal()
    save_wanted = Signal()

    def __init__(self, data_folder: Path) -> None:
        """Make the page.

        Args:
            data_folder: has the sessions, in ``sessions``.
        """
        super().__init__("")
        self.title = self.tr("Advanced")
        self._data_folder = data_folder
        self._address = ""
        self._add_page()
        self._add_files()
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

    def _add_files(self) -> None:
        self.add_heading(self.tr("All settings as a file"))
        self.load = QPushButton(self.tr("Load &settings…"))
        self.save = QPushButton(self.tr("Sa&ve settings…"))
        self.load.clicked.connect(self.load_wanted)
        self.save.clicked.connect(self.save_wanted)
        self.add_buttons(self.load, self.save)
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
