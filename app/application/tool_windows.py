"""The windows that the menus open beside the main one, each made when it is wanted first."""

from PySide6.QtCore import QObject, Slot

from app.application.caption_controller import Captioning
from app.application.glossary_controller import GlossaryDesk
from app.application.listening_controller import Listening
from app.application.setup_controller import Guide
from app.config.launch_settings import LaunchSettings
from app.config.preferences_store import Chosen
from app.dialogs.latency.collector import LatencyDesk
from app.dialogs.latency.dialog import LatencyDialog
from app.dialogs.latency.evaluation_page import EvaluationPage
from app.main_window.window import MainWindow
from app.session.engine_bridge import Bridge
from app.system.child_process import ChildCommand


class SideWindows(QObject):
    """Open them by the actions of the main window, and close them with it.

    Attributes:
        program: the command line that starts this program; None for itself.
    """

    def __init__(
        self,
        settings: LaunchSettings,
        chosen: Chosen,
        captioning: Captioning,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self.program: tuple[str, ...] | None = None
        self.guide = Guide(settings, chosen, captioning, window)
        self.latency = LatencyDesk(self)
        self.latency_dialog: LatencyDialog | None = None
        self.glossary = GlossaryDesk(settings, chosen, captioning, window)
        self._is_first = settings.first_run
        self._captioning = captioning
        self._window = window
        self._evaluation: ChildCommand | None = None
        actions = window.menu_actions
        actions.guide.triggered.connect(self.guide.open_guide)
        actions.glossary.triggered.connect(self.glossary.open_glossary)
        actions.latency.triggered.connect(self._open_latency)

    def follow(self, bridge: Bridge, listening: Listening) -> None:
        """Measure what the session and who listens tell."""
        desk, line = self.latency, self._window.typed_line
        line.words_changed.connect(desk.take_typed)
        line.finished.connect(desk.end_typed)
        listening.desk.words_came.connect(desk.take_heard)
        listening.lags_came.connect(desk.take_lags)
        bridge.event_came.connect(desk.take_event)
        bridge.event_came.connect(self.glossary.take_event)
        self._captioning.caption_painted.connect(desk.take_painted)
        self._captioning.restarted.connect(desk.restart)

    def show(self) -> None:
        """Open what comes by itself: the guide, the first time."""
        if self._is_first:
            self.guide.open_guide()

    def hide(self) -> None:
        """Take all off the screen, at once."""
        self.guide.hide()
        for dialog in (self.latency_dialog, self.glossary.dialog):
            if dialog is not None:
                dialog.close()

    def close(self) -> None:
        """Let go of what they use; that may take a moment."""
        self.guide.close()
        self.latency.close()
        if self._evaluation is not None:
            self._evaluation.cancel()

    @Slot()
    def _open_latency(self) -> None:
        if self.latency_dialog is None:
            self._evaluation = ChildCommand(self, program=self.program)
            page = EvaluationPage(self._evaluation, self._captioning.as_arguments)
            self.latency_dialog = LatencyDialog(self.latency, page, self._window)
            diagnostics = self._window.menu_actions.diagnostics
            self.latency_dialog.diagnostics_wanted.connect(diagnostics.trigger)
        self.latency_dialog.open_panel()
