"""The page that leads from two languages to a translation model, and downloads the chosen one."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QTableWidget,
    QTableWidgetItem,
)

from app.captions.modes import SOURCE_LANGUAGE
from app.dialogs.setup.download_row import DownloadRow
from app.dialogs.setup.model_service import ModelService, bundled_offers
from app.dialogs.setup.pages import WizardPage
from app.library.models import Fit, MachineReport, ModelOffer, known_offers
from app.look.icons import icon
from app.system.child_process import ChildCommand
from app.system.translations import failure_text, filled, worded
from app.widgets.dialog_text import as_sentence, dress_table, paragraph, size_text
from app.widgets.file_dialogs import ask_folder
from app.widgets.language_names import language_names
from engine.loading.hardware import Machine
from engine.translation.factory_names import source_notice

_QUALITY, _SPEED = 3, 5  # columns
_LIMIT_S = 240.0  # the first import is slow on slow disks and busy computers


class ModelPage(WizardPage):
    """Two languages, the models that translate between them, and the download of one.

    The best model for this computer is the first. A licence that forbids commercial use is
    accepted before the download.

    Signals:
        chosen(): another model is selected, or its download has finished.
        licence_accepted(bool): False as long as the selected model's licence forbids commercial
            use and that is not accepted.
    """

    chosen = Signal()
    licence_accepted = Signal(bool)

    def __init__(self, desk: ModelService, check: ChildCommand) -> None:
        super().__init__()
        self.title = self.tr("Translation models")
        self.report = MachineReport()
        self._desk, self._check = desk, check
        self._all = list[ModelOffer]()
        self._offers = list[ModelOffer]()  # the rows
        self.source, self.target = QComboBox(), QComboBox()
        self._pair = ("", "")  # their values
        self.column.addLayout(self._languages())
        self._model: Path | None = None
        self._was_chosen = False  # by the user, so no recommendation replaces it
        self._accepted: Path | None = None  # the model whose licence is accepted
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
        self.table = QTableWidget(0, 6)
        self._dress()
        self.column.addWidget(self.table, 1)
        self.room = self.add_text("")
        self.accept = QCheckBox(self.tr("I do not use it commerciall&y"))
        keeping = self.accept.sizePolicy()
        keeping.setRetainSizeWhenHidden(True)  # else the selected row may leave the sight
        self.accept.setSizePolicy(keeping)
        self.column.addWidget(self.accept)
        self.row = DownloadRow(is_main=False)
        self.column.addWidget(self.row)
        self._connect()
        self._all = [*bundled_offers(), *known_offers()]
        self.show_languages(SOURCE_LANGUAGE, "de")

    def look(self) -> None:
        """List the models, and check the computer unless that is done: it takes a while."""
        self._desk.refresh()
        if self.report.machine is None and not self._check.is_running:
            self.machine.setText(self.tr("Checking this computer…"))
            self.retry.hide()
            self._check.run(["check", "--json"], _LIMIT_S)

    @property
    def language(self) -> str:
        """Code of the language of the captions."""
        return str(self.target.currentData())

    @property
    def spoken(self) -> str:
        """Code of the language that is spoken."""
        return str(self.source.currentData())

    @property
    def accepts_licence(self) -> bool:
        """Whether the selected model's licence forbids commercial use, and that is accepted."""
        return self._forbids_commerce and self.accept.isChecked()

    @property
    def _forbids_commerce(self) -> bool:
        known = None if self.offer is None else self.offer.known
        return known is not None and known.forbids_commerce

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
        self._show_offers(self._all)

    def show_languages(self, spoken: str, language: str) -> None:
        """Select what is spoken and the language of the captions; show the models of both."""
        for box, code in ((self.source, spoken), (self.target, language)):
            box.blockSignals(True)  # noqa: FBT003  Qt's own
            box.setCurrentIndex(max(0, box.findData(code)))
            box.blockSignals(False)  # noqa: FBT003
        self._pair = (self.spoken, self.language)
        if not self._fetching:
            self._model, self._was_chosen = None, False
        self._show_offers(self._all)
        self.chosen.emit()

    def show_accepted(self, model: Path | None) -> None:
        """Take the licence of a model as accepted."""
        self._accepted = model
        self._offer()

    def _languages(self) -> QHBoxLayout:
        """Make the row of the two languages."""
        row = QHBoxLayout()
        texts = (
            (self.tr("I s&peak"), self.source, self.tr("Language that is spoken")),
            (self.tr("I want to &read"), self.target, self.tr("Language of the captions")),
        )
        for text, box, name in texts:
            label = QLabel(text)
            label.setBuddy(box)
            box.setAccessibleName(name)
            for code, language in language_names().items():
                box.addItem(language, code)
            row.addWidget(label)
            row.addWidget(box)
        row.addStretch(1)
        return row

    def _dress(self) -> None:
        table = self.table
        table.setAccessibleName(self.tr("Models"))
        table.setHorizontalHeaderLabels(
            [
                self.tr("Model"),
                self.tr("Size"),
                self.tr("Licence"),
                self.tr("Quality (published)"),
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
        self.source.currentIndexChanged.connect(self._change_languages)
        self.target.currentIndexChanged.connect(self._change_languages)
        self.accept.toggled.connect(self._accept)

    @Slot()
    def _change_languages(self) -> None:
        """Show the models of other languages; a language that was chosen twice is exchanged."""
        pair = (self.spoken, self.language)
        self.show_languages(*(reversed(self._pair) if self.spoken == self.language else pair))

    @Slot(list)
    def _show_offers(self, offers: Sequence[ModelOffer]) -> None:
        """Show the models of the two languages; the chosen one stays selected."""
        self._all = list(offers)
        self._offers = self.report.ranked(offers, self.spoken, self.language)
        choices = [offer.choice for offer in self._offers]
        if self._model is not None and self._model not in choices:
            name = str(self._model)
            own = ModelOffer(choice=self._model, name=name, n_bytes=0, licence="", is_here=True)
            self._offers.append(own)
            choices.append(own.choice)
        self.table.blockSignals(True)  # noqa: FBT003  Qt's own
        self.table.setRowCount(len(self._offers))
        for row, offer in enumerate(self._offers):
            for column, text in enumerate(self._cells(offer)):
                item = QTableWidgetItem(text)
                tips = {_QUALITY: self._source_text(offer), _SPEED: self._load_tip(offer)}
                item.setToolTip(tips.get(column, ""))
                self.table.setItem(row, column, item)
        self.table.selectRow(choices.index(self._model) if self._model in choices else 0)
        self.table.blockSignals(False)  # noqa: FBT003
        self._recommend()
        self._offer()

    def _cells(self, offer: ModelOffer) -> list[str]:
        fit = self.report.fits.get(offer.name)
        where = self.tr("here") if offer.is_here else self.tr("to download")
        if offer.choice is None:
            where = self.tr("included")
        fits = self.tr("Fast") if offer.choice is None else ""
        load = self._load(offer)
        if load is not None:
            is_enough = self.report.keeps_up(offer)
            fast = self.tr("Fast enough (uses {:.0f} % of the time)")
            fits = filled(fast, 100 * load) if is_enough else self.tr("Too slow for this computer")
        elif fit is not None:
            fits = self._fit_text(fit)
        size = size_text(offer.n_bytes) if offer.n_bytes else "?"
        score = offer.score(self.spoken, self.language)
        quality = "" if score is None else filled("{:.1f} {}", score.value, score.measure)
        return [offer.name, size, offer.licence or "?", quality, where, fits]

    def _source_text(self, offer: ModelOffer) -> str:
        """Return where a published quality comes from."""
        score = offer.score(self.spoken, self.language)
        if score is None:
            return ""
        text = self.tr("{} on {}, published at {}")
        return text.format(score.measure, score.test_set, score.published)

    def _load(self, offer: ModelOffer) -> float | None:
        """Return the seconds that a second of speech takes on the processor, if it computes."""
        has_gpu = self.report.machine is not None and self.report.machine.gpu
        return None if has_gpu else self.report.load(offer)

    def _load_tip(self, offer: ModelOffer) -> str:
        load = self._load(offer)
        if load is None:
            return ""
        text = self.tr(
            "A second of speech takes about {:.1f} s of computing here, by our estimate."
        )
        return filled(text, load)

    def _fit_text(self, fit: Fit) -> str:
        if not fit.fits:
            return self.tr("no: needs {} of memory").format(size_text(fit.needed_bytes))
        if fit.device == "cpu":
            return self.tr("Runs (speed not known)")
        return self.tr("Runs on the graphics card")

    def _recommend(self) -> None:
        """Mark the recommended model, and select it unless the user has chosen one."""
        best = self.report.recommended(self._offers, self.language, self.spoken)
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
        if line.get("kind") in ("fit", "computing"):
            self._show_offers(self._all)

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

    @Slot(bool)
    def _accept(self, checked: bool) -> None:  # noqa: FBT001  what the signal carries
        self._accepted = self.model if checked else None
        self._offer()

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
        forbids = self._forbids_commerce
        self.accept.setVisible(forbids)
        self.accept.blockSignals(True)  # noqa: FBT003  Qt's own
        self.accept.setChecked(forbids and self.model == self._accepted)
        self.accept.blockSignals(False)  # noqa: FBT003
        if forbids:
            forbidden = self.tr("Its licence forbids commercial use.")
            text = f"{text} {forbidden}"
        notice = source_notice(self.spoken)
        if notice is not None:
            text = f"{text} {as_sentence(worded(notice))}"
        is_permitted = self.accepts_licence or not forbids
        self.row.set_possible(possible=is_possible and is_permitted)
        self.room.setText(text)
        self.licence_accepted.emit(is_permitted)

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
