"""The windows that the menus open, each made on demand."""

from PySide6.QtCore import QObject, Slot

from app.config.settings_in_force import SettingsInForce
from app.controllers.glossary_controller import GlossaryController
from app.controllers.setup_controller import SetupController
from app.dialogs.help import AboutDialog, HelpDialog
from app.look.widgets.dialog_text import bring_up
from app.main_window.window import MainWindow
from app.session.listening_service import ListeningService


class ToolWindows(QObject):
    """Open the windows by the actions of the main window, and close them with it."""

    def __init__(
        self,
        settings: SettingsInForce,
        window: MainWindow,
        desk: ListeningService,
    ) -> None:
        """Connect the actions.

        Args:
            settings: in force.
            window: the main one.
            desk: listens, and downloads speech models.
        """
        super().__init__(window)
        folder = settings.launch.data_folder
        self.guide = SetupController(settings, desk, window)
        self.glossary = GlossaryController(settings, folder / "glossary", window)
        self._is_first = settings.launch.first_run
        self._window = window
        actions = window.menu_actions
        actions.glossary.triggered.connect(self.glossary.open_glossary)
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
        if self.glossary.dialog is not None:
            self.glossary.dialog.close()

    def close(self) -> None:
        """Release their resources; this may take a moment."""
        self.guide.close()


class HelpWindows(QObject):
    """Open help and About by the actions of the main window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.help: HelpDialog | None = None
        self.about: AboutDialog | None = None
        window.menu_actions.help.triggered.connect(self.open_help)
        window.menu_actions.about.triggered.connect(self.open_about)

    def hide(self) -> None:
        """Hide both."""
        for dialog in (self.help, self.about):
            if dialog is not None:
                dialog.close()

    @Slot()
    def open_help(self) -> None:
        """Show the help."""
        if self.help is None:
            self.help = HelpDialog(self._window)
        bring_up(self.help)

    @Slot()
    def open_about(self) -> None:
        """Show version and licences."""
        if self.about is None:
            self.about = AboutDialog(self._window)
            self.about.help_wanted.connect(self.open_help)
        bring_up(self.about)
