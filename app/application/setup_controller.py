"""Connects the setup wizard with the settings."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.config.settings_in_force import SettingsInForce
from app.dialogs.setup.wizard import SetupWizard, WizardServices
from engine.errors import ModelError
from engine.hub.bundled import bundled_models
from engine.models.model_card import read_card


class SetupController(QObject):
    """Make the setup wizard on demand, and apply its choices.

    Attributes:
        parts: how the wizard examines the computer.
        dialog: the wizard, once it was opened.

    Signals:
        opened(): the wizard is shown.
        left(): it was closed.
        noticed(str): a message for the user.
    """

    opened = Signal()
    left = Signal()
    noticed = Signal(str)

    def __init__(self, settings: SettingsInForce, library: Path, window: QWidget) -> None:
        """Download models into the folder ``library``."""
        super().__init__(window)
        self.parts = WizardServices(bundled=_bundled_languages())
        self.dialog: SetupWizard | None = None
        self._settings = settings
        self._library = library
        self._window = window

    @Slot()
    def open_guide(self) -> None:
        """Show the wizard."""
        if self.dialog is None:
            self.dialog = SetupWizard(self._library, self.parts, self._window)
            self.dialog.start_wanted.connect(self._start)
            self.dialog.left.connect(self._keep)
        self.opened.emit()
        self.dialog.open_guide(self._settings.preferences)

    def hide(self) -> None:
        """Hide the wizard."""
        if self.dialog is not None:
            self.dialog.close()

    def close(self) -> None:
        """Release everything the wizard uses."""
        if self.dialog is not None:
            self.dialog.end()

    @Slot(object, str)
    def _start(self, model: Path | None, language: str) -> None:
        """Store the choices; the command line stays in force until the program ends."""
        if not self._settings.choose_model(model, language):
            text = self.tr(
                "Until Surtitle is closed, the model that was named when it was started translates"
            )
            self.noticed.emit(text)

    @Slot()
    def _keep(self) -> None:
        """Store the preferences, so that the wizard does not open by itself again."""
        self._settings.keep()
        self.left.emit()


def _bundled_languages() -> tuple[str, ...]:
    """Return the target languages of the bundled model; none without one."""
    try:
        return tuple(
            code for folder in bundled_models()[:1] for code in read_card(folder).languages
        )
    except ModelError:  # which the session tells, in the same words
        return ()
