"""Windows of the Tools menu that hold a page each: translation models, and their speed."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QWidget

from app.dialogs.setup.model_page import ModelPage
from app.dialogs.setup.model_service import ModelService
from app.dialogs.setup.page_frame import heading_of, lay_out_page
from app.dialogs.setup.pages import WizardPage
from app.dialogs.setup.speed_page import SpeedPage
from app.dialogs.setup.wizard import WizardServices
from app.look.style_sheet import make_primary
from app.system.child_process import ChildCommand
from app.widgets.dialog_text import bring_up

_WIDTH, _HEIGHT = 860, 480


class ModelsDialog(QDialog):
    """Translation models: choose, download, use.

    Signals:
        wanted(object, str): use this model (a Path as the preferences store it, or None for the
            bundled one) and this target language.
    """

    wanted = Signal(object, str)

    def __init__(self, library: Path, parts: WizardServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = ModelService(library, parent=self)
        self._check = ChildCommand(self, program=parts.program)
        self.page = ModelPage(self.desk, self._check)
        self.apply = QPushButton(self.tr("&Use this model"))
        make_primary(self.apply)
        self.apply.setAutoDefault(False)
        self.apply.clicked.connect(self._use)
        _lay_out(self, self.page, self.apply)

    def open_models(self, model: Path | None, language: str) -> None:
        """Show the models, and select the current one."""
        self.page.language = language
        self.page.choose(model)
        self.page.look()
        bring_up(self)

    def end(self) -> None:
        """Stop downloads and checks; the program ends."""
        self.close()
        self._check.cancel()
        self.desk.close()

    @Slot()
    def _use(self) -> None:
        self.wanted.emit(self.page.model, self.page.language)
        self.close()


class SpeedDialog(QDialog):
    """How far captions will lag with the current translation model."""

    def __init__(self, parts: WizardServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._check = ChildCommand(self, program=parts.program)
        self.page = SpeedPage(self._check)
        _lay_out(self, self.page)

    def open_speed(self, arguments: list[str]) -> None:
        """Show the page for a model and settings, as command-line options."""
        self.page.use(arguments)
        bring_up(self)

    def reject(self) -> None:
        """Stop measuring."""
        super().reject()
        self.page.leave()

    def end(self) -> None:
        """Stop measuring; the program ends."""
        self.close()
        self._check.cancel()


def _lay_out(dialog: QDialog, page: WizardPage, *buttons: QPushButton) -> None:
    """Lay out a page with its title, its buttons and *Close*."""
    dialog.setWindowTitle(page.title)
    close = QPushButton(QCoreApplication.translate("ToolDialogs", "C&lose"))
    close.setAutoDefault(False)
    close.clicked.connect(dialog.close)
    top, row = QHBoxLayout(), QHBoxLayout()
    top.addWidget(heading_of(page.title))
    row.addStretch(1)
    for button in (*buttons, close):
        row.addWidget(button)
    lay_out_page(dialog, top, page, row)
    dialog.resize(_WIDTH, _HEIGHT)
