"""Joins the guide of the first start with the rest: what is chosen there is stored and used."""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.application.caption_controller import Captioning
from app.config.launch_settings import LaunchSettings
from app.config.preferences_store import Chosen
from app.dialogs.setup.wizard import SetupWizard, WizardServices
from app.main_window.window import MainWindow
from engine.errors import ModelError
from engine.hub.bundled import bundled_models
from engine.models.model_card import read_card


class Guide(QObject):
    """Make the guide when it is wanted, and obey it.

    Attributes:
        parts: what the guide asks the computer with.
        dialog: the guide, once somebody opened it.

    Signals:
        opened(): the guide stands on the screen.
        left(): it was closed.
    """

    opened = Signal()
    left = Signal()

    def __init__(
        self,
        settings: LaunchSettings,
        chosen: Chosen,
        captioning: Captioning,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self.parts = WizardServices(bundled=_bundled_languages())
        self.dialog: SetupWizard | None = None
        self._settings = settings
        self._chosen = chosen
        self._captioning = captioning
        self._window = window

    @Slot()
    def open_guide(self) -> None:
        """Show the guide."""
        if self.dialog is None:
            library = self._settings.data_folder / "models"
            self.dialog = SetupWizard(library, self.parts, self._window)
            self.dialog.start_wanted.connect(self._start)
            self.dialog.left.connect(self._keep)
        self.opened.emit()
        self.dialog.open_guide(self._chosen.now)

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
        now = self._chosen.now
        translation = replace(now.translation, language=language)
        self._chosen.choose(replace(now, model=model, translation=translation))
        starts_over = model != now.model and self._settings.model is None
        if self._settings.language is None:
            self._captioning.translate_into(language, now=not starts_over)
        if model != now.model and not starts_over:
            told = self.tr(
                "Until Surtitle is closed, the model that was named when it was started translates"
            )
            self._window.banner.show_notice(told)
        elif starts_over:
            self._captioning.start_over()

    @Slot()
    def _keep(self) -> None:
        """Store the choices, so that the guide does not come by itself again."""
        self._chosen.keep()
        self.left.emit()


def _bundled_languages() -> tuple[str, ...]:
    """List the target languages of the model that comes with this copy; none without one."""
    try:
        return tuple(
            code for folder in bundled_models()[:1] for code in read_card(folder).languages
        )
    except ModelError:  # which the session tells, in the same words
        return ()
