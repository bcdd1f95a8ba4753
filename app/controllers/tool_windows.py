"""The windows that the menus open, each made on demand."""

from collections.abc import Callable

from PySide6.QtCore import QObject, Slot

from app.config.settings_in_force import SettingsInForce
from app.config.system.child_process import ChildCommand
from app.controllers.glossary_controller import GlossaryController
from app.controllers.setup_controller import SetupController
from app.dialogs.latency.collector import LatencyCollector
from app.dialogs.latency.dialog import LatencyDialog
from app.dialogs.latency.evaluation_page import EvaluationPage
from app.look.widgets.dialog_text import bring_up
from app.main_window.window import MainWindow
from app.session.listening_service import ListeningService


class ToolWindows(QObject):
    """Open the windows by the actions of the main window, and close them with it.

    Attributes:
        program: the command line that starts this program; None for the running one.
    """

    def __init__(
        self,
        settings: SettingsInForce,
        window: MainWindow,
        desk: ListeningService,
        as_arguments: Callable[[], list[str]],
    ) -> None:
        """Connect the actions.

        Args:
            settings: in force.
            window: the main one.
            desk: listens, and downloads speech models.
            as_arguments: returns the current model and settings as command-line options.
        """
        super().__init__(window)
        folder = settings.launch.data_folder
        self.program: tuple[str, ...] | None = None
        self.guide = SetupController(settings, desk, window, as_arguments)
        self.latency = LatencyCollector(self)
        self.latency_dialog: LatencyDialog | None = None
        self.glossary = GlossaryController(settings, folder / "glossary", window)
        self._is_first = settings.launch.first_run
        self._as_arguments = as_arguments
        self._window = window
        self._evaluation: ChildCommand | None = None
        actions = window.menu_actions
        actions.glossary.triggered.connect(self.glossary.open_glossary)
        actions.latency.triggered.connect(self._open_latency)
        self.guide.noticed.connect(window.banner.show_notice)
        self.glossary.failed.connect(window.banner.show_notice)
        self.glossary.begin()

    def show(self) -> None:
        """Open the setup wizard on the first run."""
        if self._is_first:
            self.guide.open_guide()

    def hide(self) -> None:
        """Hide all windows."""
        self.guide.hide()
        for dialog in (self.latency_dialog, self.glossary.dialog):
            if dialog is not None:
                dialog.close()

    def close(self) -> None:
        """Release their resources; this may take a moment."""
        self.guide.close()
        self.latency.close()
        if self._evaluation is not None:
            self._evaluation.cancel()

    @Slot()
    def _open_latency(self) -> None:
        if self.latency_dialog is None:
            self._evaluation = ChildCommand(self, program=self.program)
            page = EvaluationPage(self._evaluation, self._as_arguments)
            self.latency_dialog = LatencyDialog(self.latency, page, self._window)
            diagnostics = self._window.menu_actions.diagnostics
            self.latency_dialog.diagnostics_wanted.connect(diagnostics.trigger)
        bring_up(self.latency_dialog)
