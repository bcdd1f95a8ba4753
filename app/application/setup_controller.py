"""Joins the guide of the first start with the settings: what is chosen there is stored and used."""

from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtWidgets import QWidget

from app.config.settings_in_force import SettingsInForce
from app.dialogs.setup.wizard import SetupWizard, WizardServices
from engine.errors import ModelError
from engine.hub.bundled import bundled_models
from engine.models.model_card import read_card


class SetupController(QObject):
    """Make the guide when it is wanted, and use what is chosen there.

    Attributes:
        parts: what the guide asks the computer with.
        dialog: the guide, once somebody opened it.

    Signals:
        opened(): the guide stands on the screen.
        left(): it was closed.
        noticed(str): a sentence for the person.
    """

    opened = Signal()
    left = Signal()
    noticed = Signal(str)

    def __init__(self, settings: SettingsInForce, library: Path, window: QWidget) -> None:
        """Let models be fetched into the folder ``library``."""
        super().__init__(window)
        self.parts = WizardServices(bundled=_bundled_languages())
        self.dialog: SetupWizard | None = None
        self._settings = settings
        self._library = library
        self._window = window

    @Slot()
    def open_guide(self) -> None:
        """Show the guide."""
        if self.dialog is None:
            self.dialog = SetupWizard(self._library, self.parts, self._window)
            self.dialog.start_wanted.connect(self._start)
            self.dialog.left.connect(self._keep)
        self.opened.emit()
        self.dialog.open_guide(self._settings.preferences)

    def hide(self) -> None:
        """Take the guide off the screen."""
        if self.dialog is not None:
            self.dialog.close()

    def close(self) -> None:
        """Let go of all the guide uses."""
        if self.dialog is not None:
            self.dialog.end()

    @Slot(object, str)
    def _start(self, model: Path | None, language: str) -> None:
        """Store what was chosen; what the command line said holds until the program ends."""
        if not self._settings.choose_model(model, language):
            told = self.tr(
                "Until Surtitle is closed, the model that was named when it was started translates"
            )
            self.noticed.emit(told)

    @Slot()
    def _keep(self) -> None:
        """Store the choices, so that the guide does not come by itself again."""
        self._settings.keep()
        self.left.emit()


def _bundled_languages() -> tuple[str, ...]:
    """List the target languages of the model that comes with this copy; none without one."""
    try:
        return tuple(
            code for folder in bundled_models()[:1] for code in read_card(folder).languages
        )
    except ModelError:  # which the session tells, in the same words
        return ()
