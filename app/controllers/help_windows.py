"""Help and About, each made when it is first opened."""

from PySide6.QtCore import QObject, Slot

from app.dialogs.about_dialog import AboutDialog
from app.dialogs.help_dialog import HelpDialog
from app.look.widgets.dialog_text import bring_up
from app.main_window.window import MainWindow


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
