"""Windows of the Tools menu that hold a page each: translation models, and their speed."""

from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QLabel, QPushButton, QWidget

from app.dialogs.setup.model_page import ModelPage
from app.dialogs.setup.model_service import ModelService
from app.dialogs.setup.page_frame import lay_out_page
from app.dialogs.setup.pages import WizardPage
from app.dialogs.setup.speed_page import SpeedPage
from app.dialogs.setup.wizard import WizardServices
from app.look.style_sheet import make_primary
from app.system.child_process import ChildCommand
from app.widgets.dialog_text import bring_up

_WIDTH, _HEIGHT = 860, 480


class PageDialog(QDialog):
    """One page with its title and *Close*; the page scrolls, the buttons stay."""

    def __init__(self, parent: QWidget | None) -> None:
        super().__init__(parent)
        self.buttons = QHBoxLayout()
        self.buttons.addStretch(1)

    def reject(self) -> None:
        """Stop the work of the page."""
        super().reject()
        for page in self.findChildren(WizardPage):
            page.leave()

    def _hold(self, page: WizardPage) -> None:
        """Lay out a page and the buttons so far."""
        self.setWindowTitle(page.title)
        close = QPushButton(self.tr("C&lose"))
        close.setAutoDefault(False)
        close.clicked.connect(self.close)
        self.buttons.addWidget(close)
        heading, top = QLabel(page.title), QHBoxLayout()
        top.addWidget(heading)
        lay_out_page(self, heading, top, page, self.buttons)
        self.resize(_WIDTH, _HEIGHT)


class ModelsDialog(PageDialog):
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
        self.buttons.addWidget(self.apply)
        self._hold(self.page)

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


class SpeedDialog(PageDialog):
    """How far captions will lag with the current translation model."""

    def __init__(self, parts: WizardServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._check = ChildCommand(self, program=parts.program)
        self.page = SpeedPage(self._check)
        self._hold(self.page)

    def open_speed(self, arguments: list[str]) -> None:
        """Show the page for a model and settings, as command-line options."""
        self.page.use(arguments)
        bring_up(self)

    def end(self) -> None:
        """Stop measuring; the program ends."""
        self.close()
        self._check.cancel()
