"""The window of translation models, which the Tools menu opens."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, Signal, Slot
from PySide6.QtWidgets import QDialog, QHBoxLayout, QPushButton, QScrollArea, QWidget

from app.config.model_choice import ModelChoice
from app.config.system.child_process import ChildCommand
from app.dialogs.setup.model_page import ModelPage
from app.dialogs.setup.model_service import ModelService
from app.dialogs.setup.page_frame import heading_of, lay_out_page
from app.dialogs.setup.wizard import WizardServices
from app.look.style_sheet import GAP, make_primary
from app.look.widgets.dialog_text import bring_up, size_text

_WIDTH, _HEIGHT = 960, 560


class ModelsDialog(QDialog):
    """Translation models: choose one, and use it.

    Signals:
        wanted(ModelChoice): use this model.
    """

    wanted = Signal(object)

    def __init__(self, library: Path, parts: WizardServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.desk = ModelService(library, parent=self)
        self._check = ChildCommand(self, program=parts.program)
        self.page = ModelPage(self.desk, self._check)
        self.apply = QPushButton(self.tr("&Use this model"))
        make_primary(self.apply)
        self.apply.setAutoDefault(False)
        self.apply.clicked.connect(self._use)
        self.page.usable_changed.connect(self._offer_use)
        self.area = _lay_out(self, self.page, self.apply)
        self.page.cards.picked.connect(self._show_card)

    def open_models(
        self,
        now: ModelChoice,
        in_use: ModelChoice | None = None,
    ) -> None:
        """Show the models, and select one.

        Args:
            now: the model and languages to begin with.
            in_use: what translates now; None if that is ``now``.
        """
        self.page.show_in_use(in_use or now)
        self.page.show_languages(now.source, now.language)
        self.page.choose(now.model)
        self.page.look()
        bring_up(self)

    def end(self) -> None:
        """Stop checks; the program ends."""
        self.close()
        self._check.cancel()
        self.desk.close()

    @Slot(bool)
    def _offer_use(self, usable: bool) -> None:  # noqa: FBT001  what the signal carries
        """Name what the button does: a model that is not here is downloaded first."""
        offer = self.page.offer
        text = self.tr("&Use this model")
        if offer is not None and not offer.is_here:
            text = self.tr("Download and &use ({})").format(size_text(offer.n_bytes))
        self.apply.setText(text)
        self.apply.setEnabled(usable and not self.page.is_in_use)

    @Slot()
    def _show_card(self) -> None:
        """Scroll to the card that the user selected, by the arrow keys perhaps."""
        cards = self.page.cards
        card = cards.visualItemRect(cards.currentItem())
        middle = cards.viewport().mapTo(self.page, card.center())
        self.area.ensureVisible(0, middle.y(), 0, card.height() // 2 + GAP)

    @Slot()
    def _use(self) -> None:
        page = self.page
        self.wanted.emit(ModelChoice(model=page.model, language=page.language, source=page.spoken))
        self.close()


def _lay_out(dialog: QDialog, page: ModelPage, *buttons: QPushButton) -> QScrollArea:
    """Lay out a page with its title, its buttons and *Close*; return what scrolls it."""
    dialog.setWindowTitle(page.title)
    close = QPushButton(QCoreApplication.translate("ToolDialogs", "C&lose"))
    close.setAutoDefault(False)
    close.clicked.connect(dialog.close)
    top, row = QHBoxLayout(), QHBoxLayout()
    top.addWidget(heading_of(page.title))
    row.addStretch(1)
    for button in (*buttons, close):
        row.addWidget(button)
    area = lay_out_page(dialog, top, page, row, below=page.below)
    dialog.resize(_WIDTH, _HEIGHT)
    return area
