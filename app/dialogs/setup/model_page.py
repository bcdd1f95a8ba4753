"""The page that offers translation models and downloads the chosen one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
)

from app.dialogs.setup.download_row import DownloadRow
from app.dialogs.setup.model_service import ModelService, bundled_offers
from app.dialogs.setup.pages import WizardPage
from app.library.models import Fit, MachineReport, ModelOffer, known_offers
from app.look.icons import icon
from app.system.child_process import ChildCommand
from app.system.translations import failure_text
from app.widgets.dialog_text import as_sentence, dress_table, paragraph, size_text
from app.widgets.file_dialogs import ask_folder
from engine.loading.hardware import Machine

_LIMIT_S = 240.0  # the first import is slow on slow disks and busy computers


class ModelPage(WizardPage):
    """The hardware, a table of models, and the download of the selected one.

    Signals:
        chosen(): another model is selected, or its download has finished.
    """

    chosen = Signal()

    def __init__(self, desk: ModelService, check: ChildCommand) -> None:
        super().__init__()
        self.title = self.tr("Translation models")
        self.language = "de"
        self.report = MachineReport()
        self._desk, self._check = desk, check
        self._offers = list[ModelOffer]()
        self._model: Path | None = None
        self._was_chosen = False  # by the user, so no recommendation replaces it
        self._fetching = ""
        self.machine = paragraph(self.tr("Checking this computer…"))
        self.machine.setAccessibleDescription(self.tr("This computer"))
        self.retry = QPushButton(icon("refresh-cw"), self.tr("Check a&gain"))
        self.retry.setAutoDefault(False)
        self.retry.hide()
        checking = QHBoxLayout()
        checking.addWidget(self.machine, 1)
        checking.addWidget(self.retry)
        self.column.addLayout(checking)
        self.table = QTableWidget(0, 5)
        self._dress()
        self.column.addWidget(self.table, 1)
        self.room = self.add_text("")
        self.row = DownloadRow(is_main=False)
        self.column.addWidget(self.row)
        self._connect()
        self._show_offers([*bundled_offers(), *known_offers()])
        self._offer()

    def look(self) -> None:
        """List the models, and check the computer unless that is done: it takes a while."""
        self._desk.refresh()
        if self.report.machine is None and not self._check.is_running:
            self.machine.setText(self.tr("Checking this computer…"))
            self.retry.hide()
            self._check.run(["check", "--json"], _LIMIT_S)

    @property
    def model(self) -> Path | None:
        """The chosen model as the preferences store it."""
        offer = self.offer
        return self._model if offer is None else offer.choice

    @property
    def offer(self) -> ModelOffer | None:
        """The selected row."""
        row = self.table.currentRow()
        return self._offers[row] if 0 <= row < len(self._offers) else None

    def choose(self, model: Path | None) -> None:
        """Select a model; one that is not in the list is added."""
        self._model = model
        self._was_chosen = model is not None
        self._show_offers(self._offers)

    def _dress(self) -> None:
        table = self.table
        table.setAccessibleName(self.tr("Models"))
        table.setHorizontalHeaderLabels(
            [
                self.tr("Model"),
                self.tr("Size"),
                self.tr("Licence"),
                self.tr("Where"),
                self.tr("On this computer"),
            ]
        )
        dress_table(table)
        table.setWordWrap(False)
        leading = Qt.AlignmentFlag.AlignLeading | Qt.AlignmentFlag.AlignVCenter
        table.horizontalHeader().setDefaultAlignment(leading)

    def _connect(self) -> None:
        self._desk.listed.connect(self._show_offers)
        self._desk.progressed.connect(self.row.show_progress)
        self._desk.fetched.connect(self._show_fetched)
        self._desk.failed.connect(self._show_failure)
        self._check.line_came.connect(self._take_line)
        self._check.ended.connect(self._end_check)
        self.table.itemSelectionChanged.connect(self._select)
        self.row.wanted.connect(self._fetch)
        self.row.cancelled.connect(self._desk.cancel)
        self.row.folder_wanted.connect(self._ask_folder)
        self.retry.clicked.connect(self.look)

    @Slot(list)
    def _show_offers(self, offers: Sequence[ModelOffer]) -> None:
        """Show all models; the chosen one stays selected."""
        self._offers = list(offers)
        choices = [offer.choice for offer in offers]
        if self._model is not None and self._model not in choices:
            name = str(self._model)
            own = ModelOffer(choice=self._model, name=name, n_bytes=0, licence="", is_here=True)
            self._offers.append(own)
            choices.append(own.choice)
        self.table.blockSignals(True)  # noqa: FBT003  Qt's own
        self.table.setRowCount(len(self._offers))
        for row, offer in enumerate(self._offers):
            for column, text in enumerate(self._cells(offer)):
                self.table.setItem(row, column, QTableWidgetItem(text))
        self.table.selectRow(choices.index(self._model) if self._model in choices else 0)
        self.table.blockSignals(False)  # noqa: FBT003
        self._recommend()
        self._offer()

    def _cells(self, offer: ModelOffer) -> list[str]:
        fit = self.report.fits.get(offer.name)
        where = self.tr("here") if offer.is_here else self.tr("to download")
        if offer.choice is None:
            where = self.tr("included")
        fits = self.tr("runs anywhere") if offer.choice is None else ""
        if fit is not None:
            fits = self._fit_text(fit)
        size = size_text(offer.n_bytes) if offer.n_bytes else "?"
        return [offer.name, size, offer.licence or "?", where, fits]

    def _fit_text(self, fit: Fit) -> str:
        if not fit.fits:
            return self.tr("no: needs {} of memory").format(size_text(fit.needed_bytes))
        if fit.device == "cpu":
            return self.tr("yes, on the processor")
        return self.tr("yes, on the graphics card")

    def _recommend(self) -> None:
        """Mark the recommended model, and select it unless the user has chosen one."""
        best = self.report.recommended(self._offers, self.language)
        if best is None or best not in self._offers:
            return
        row = self._offers.index(best)
        name = self.table.item(row, 0)
        if name is not None:
            name.setText(self.tr("{} (recommended)").format(best.name))
        if not self._was_chosen and self.report.machine is not None:
            self._model = best.choice
            self.table.blockSignals(True)  # noqa: FBT003
            self.table.selectRow(row)
            self.table.blockSignals(False)  # noqa: FBT003

    @Slot(object)
    def _take_line(self, line: Mapping[str, object]) -> None:
        self.report.feed(line)
        if self.report.machine is not None:
            self.machine.setText(self._machine_text(self.report.machine))
        if line.get("kind") == "fit":
            self._show_offers(self._offers)

    @Slot(str)
    def _end_check(self, failure: str) -> None:
        if not failure and self.report.failure is not None:
            failure = failure_text(self.report.failure)
        if failure:
            text = self.tr("This computer could not be checked: {}").format(failure)
            self.machine.setText(as_sentence(text))
            self.retry.show()

    def _machine_text(self, machine: Machine) -> str:
        text = self.tr("This computer: {}, {} cores; {} of {} memory free.").format(
            machine.processor,
            machine.cores,
            size_text(machine.free_bytes),
            size_text(machine.memory_bytes),
        )
        if machine.gpu:
            card = self.tr("Graphics card: {}, {} of {} free.").format(
                machine.gpu,
                size_text(machine.gpu_free_bytes),
                size_text(machine.gpu_bytes),
            )
            return f"{text} {card}"
        none = self.tr("No usable GPU found. The CPU will be used.")
        if machine.trouble:
            unusable = self.tr("There is a graphics card that cannot be used: {}")
            text = f"{text} {as_sentence(unusable.format(machine.trouble))}"
        return f"{text} {none}"

    @Slot()
    def _select(self) -> None:
        offer = self.offer
        if offer is not None:
            self._model, self._was_chosen = offer.choice, True
        self._offer()
        self.chosen.emit()

    def _offer(self) -> None:
        """Enable the buttons that apply to the selected model."""
        offer, free = self.offer, self._desk.free_bytes
        can_fetch = offer is not None and not offer.is_here and not self._fetching
        is_possible = can_fetch
        text = "" if free is None else self.tr("{} are free on the disk.").format(size_text(free))
        if can_fetch and offer is not None and free is not None and offer.n_bytes > free:
            text = self.tr("{} Not enough for this model.").format(text)
            is_possible = False
        if can_fetch and offer is not None and offer.is_gated:
            access = self.tr(
                "First ask its owner for access on huggingface.co, and store a token here."
            )
            text = f"{text} {access}"
        self.row.set_possible(possible=is_possible)
        self.room.setText(text)

    @Slot()
    def _fetch(self) -> None:
        offer = self.offer
        if offer is None or offer.choice is None:
            return
        self._fetching = offer.choice.as_posix()
        self.row.show_contact(self.tr("Contacting huggingface.co about {}…").format(offer.name))
        self._desk.fetch(self._fetching)
        self._offer()

    @Slot(str)
    def _show_fetched(self, name: str) -> None:
        self._fetching = ""
        self.row.show_message(self.tr("{} is downloaded.").format(name))
        self._offer()
        self.chosen.emit()

    @Slot(str)
    def _show_failure(self, message: str) -> None:
        self._fetching = ""
        self.row.show_failure(message)
        self._offer()

    @Slot()
    def _ask_folder(self) -> None:
        path = ask_folder(self, self.tr("Folder of a translation model"))
        if path:
            self.choose(path)
            self.chosen.emit()
