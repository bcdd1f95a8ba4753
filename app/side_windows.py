"""The windows that the menus open beside the main one, each made when it is wanted first."""

from PySide6.QtCore import QObject

from app.captioning import Captioning
from app.chosen import Chosen
from app.guide import Guide
from app.launch_settings import LaunchSettings
from app.main_window import MainWindow


class SideWindows(QObject):
    """Open them by the actions of the main window, and close them with it."""

    def __init__(
        self,
        settings: LaunchSettings,
        chosen: Chosen,
        captioning: Captioning,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self.guide = Guide(settings, chosen, captioning, window)
        self._is_first = settings.first_run
        actions = window.menu_actions
        actions.guide.triggered.connect(self.guide.open_guide)

    def show(self) -> None:
        """Open what comes by itself: the guide, the first time."""
        if self._is_first:
            self.guide.open_guide()

    def hide(self) -> None:
        """Take all off the screen, at once."""
        self.guide.hide()

    def close(self) -> None:
        """Let go of what they use; that may take a moment."""
        self.guide.close()
