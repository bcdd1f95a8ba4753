"""The window of translation models, which leads from two languages to a model."""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtWidgets import (
    QComboBox,
    QDialog,
    QHBoxLayout,
    QLabel,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from app.captions.models import (
    MachineReport,
    ModelOffer,
    bundled_offers,
    folder_offer,
    known_offer,
    known_offers,
)
from app.config.background import BackgroundQueue, ChildCommand
from app.config.preferences import SOURCE_LANGUAGE
from app.config.settings_in_force import ModelChoice
from app.config.translations import failure_text, worded
from app.dialogs.setup.offers import OfferList, words_of
from app.dialogs.setup.pages import heading_of, lay_out_page
from app.dialogs.setup.wizard import WizardServices
from app.look.style_sheet import GAP, make_primary
from app.look.widgets.desktop import ask_folder
from app.look.widgets.dialog_text import (
    as_sentence,
    bring_up,
    paragraph,
    push_button,
    quiet,
    size_text,
)
from app.look.widgets.names import language_names
from engine.hub.catalogue import TRANSLATION_MODELS
from engine.runtime.processor import Machine
from engine.text.sentences import source_notice
from engine.untrusted.plain_files import folder_of

_LIMIT_S = 240.0  # the first import is slow on slow disks and busy computers
_WIDTH, _HEIGHT = 960, 560


class ModelService(QObject):
    """List the available models.

    Signals:
        listed(list of ModelOffer): the bundled one, those of the library, and those of the hub.
        failed(str): one sentence.
    """

    listed = Signal(list)
    failed = Signal(str)

    def __init__(self, library: Path, parent: QObject | None = None) -> None:
        """Use the models in ``library``, where downloads are."""
        super().__init__(parent)
        self.library = library
        self._background = BackgroundQueue(self.failed.emit)

    @property
    def free_bytes(self) -> int | None:
        """Free bytes on the disk of the library, or None if unknown."""
        try:
            folder = next(path for path in (self.library, *self.library.parents) if path.exists())
            return shutil.disk_usage(folder).free
        except (OSError, StopIteration):
            return None

    def refresh(self) -> None:
        self._background.run(self._list)

    def close(self) -> None:
        self._background.close()

    # The methods below run on the background thread and only emit signals.

    def _list(self) -> None:
        from engine.hub.download import find_model  # noqa: PLC0415  the hub's library is slow to import

        offers = bundled_offers()
        known = {folder_of(model.name) for model in TRANSLATION_MODELS}
        offers += [folder_offer(path) for path in _folders(self.library) if path.name not in known]
        offers += [
            known_offer(model, is_here=find_model(model.name, self.library) is not None)
            for model in TRANSLATION_MODELS
        ]
        self.listed.emit(offers)


def _folders(library: Path) -> list[Path]:
    """List the models of a library; folders of unfinished downloads begin with a dot."""
    folders = (path.parent for path in library.glob("*/config.json"))
    return sorted(folder for folder in folders if not folder.name.startswith("."))


class ModelsDialog(QDialog):
    """Two languages, and the models that translate between them as cards: choose one, and use it.

    The best model for this computer is the first.

    Signals:
        wanted(ModelChoice): use this model.
    """

    wanted = Signal(object)

    def __init__(self, library: Path, parts: WizardServices, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Translation models"))
        self.service = ModelService(library, parent=self)
        self._check = ChildCommand(self, program=parts.program)
        self.report = MachineReport()
        self._all: list[ModelOffer] = [*bundled_offers(), *known_offers()]
        self._offers = list[ModelOffer]()  # the cards
        self.source, self.target = QComboBox(), QComboBox()
        self._pair = ("", "")  # their values
        self._model: Path | None = None
        self._was_chosen = False  # by the user, so no recommendation replaces it
        self._in_use: ModelChoice | None = None
        self.machine = quiet(self.tr("Checking this computer…"))
        self.machine.setAccessibleDescription(self.tr("This computer"))
        self.retry = push_button(self.tr("Check a&gain"), "refresh-cw")
        self.retry.hide()
        self.cards = OfferList()
        self.message, self.room = paragraph(), quiet()
        self.message.hide()
        self.folder = push_button(self.tr("Choose a f&older…"), "folder-open")
        self.apply = push_button(self.tr("&Use this model"))
        make_primary(self.apply)
        self.area = self._lay_out()
        self._connect()
        self.show_languages(SOURCE_LANGUAGE, "de")

    def open_models(self, now: ModelChoice, in_use: ModelChoice) -> None:
        """Show the models, and select one.

        Args:
            now: the model and languages to begin with.
            in_use: what translates now.
        """
        self._in_use = in_use
        self.show_languages(now.source, now.language)
        self.choose(now.model)
        self.look()
        bring_up(self)

    def end(self) -> None:
        self.close()
        self._check.cancel()
        self.service.close()

    @Slot()
    def look(self) -> None:
        """List the models, and check the computer unless that is done: it takes a while."""
        self.service.refresh()
        if self.report.machine is None and not self._check.is_running:
            self.machine.setText(self.tr("Checking this computer…"))
            self.retry.hide()
            self._check.run(["check", "--json"], _LIMIT_S)

    @property
    def language(self) -> str:
        return str(self.target.currentData())

    @property
    def spoken(self) -> str:
        return str(self.source.currentData())

    @property
    def model(self) -> Path | None:
        """The chosen model as the preferences store it."""
        offer = self.offer
        return self._model if offer is None else offer.choice

    @property
    def offer(self) -> ModelOffer | None:
        number = self.cards.chosen
        return self._offers[number] if 0 <= number < len(self._offers) else None

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
        self._model, self._was_chosen = None, False
        self._show_offers(self._all)

    def _uses(self, model: Path | None) -> bool:
        now = self._in_use
        if now is None or now.server is not None:
            return False
        return (now.model, now.source, now.language) == (model, *self._pair)

    def show_message(self, text: str) -> None:
        self.message.setText(text)
        self.message.setVisible(bool(text))

    def _languages(self) -> QHBoxLayout:
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

    def _lay_out(self) -> QScrollArea:
        """Lay it out; what it says of the selected model never scrolls away."""
        checking = QHBoxLayout()
        checking.addWidget(self.machine, 1)
        checking.addWidget(self.retry)
        content, below = QWidget(), QWidget()
        column = QVBoxLayout(content)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(3 * GAP)
        column.addLayout(self._languages())
        column.addLayout(checking)
        column.addWidget(self.cards)
        column.addStretch(1)
        told, texts = QHBoxLayout(below), QVBoxLayout()
        told.setContentsMargins(0, 0, 0, 0)
        texts.addStretch(1)
        texts.addWidget(self.message)
        texts.addWidget(self.room)
        texts.addStretch(1)
        told.addLayout(texts, 1)
        told.addWidget(self.folder, 0, Qt.AlignmentFlag.AlignTop)
        close = push_button(self.tr("C&lose"))
        close.clicked.connect(self.close)
        top, row = QHBoxLayout(), QHBoxLayout()
        top.addWidget(heading_of(self.windowTitle()))
        row.addStretch(1)
        row.addWidget(self.apply)
        row.addWidget(close)
        area = lay_out_page(self, top, content, row, below=below)
        self.resize(_WIDTH, _HEIGHT)
        return area

    def _connect(self) -> None:
        self.service.listed.connect(self._show_offers)
        self.service.failed.connect(self._show_failure)
        self._check.line_came.connect(self._take_line)
        self._check.ended.connect(self._end_check)
        self.cards.picked.connect(self._select)
        self.apply.clicked.connect(self._use)
        self.folder.clicked.connect(self._ask_folder)
        self.retry.clicked.connect(self.look)
        self.source.currentIndexChanged.connect(self._change_languages)
        self.target.currentIndexChanged.connect(self._change_languages)

    @Slot()
    def _change_languages(self) -> None:
        """Show the models of other languages; a language that was chosen twice is exchanged."""
        pair = (self.spoken, self.language)
        self.show_languages(*(reversed(self._pair) if self.spoken == self.language else pair))

    @Slot(list)
    def _show_offers(self, offers: Sequence[ModelOffer]) -> None:
        """Show the models of the two languages, the recommended one first.

        The chosen one stays selected; the recommended one is, unless the user has chosen.
        """
        self._all = list(offers)
        self._offers = self.report.ranked(offers, self.spoken, self.language)
        best = self.report.recommended(self._offers, self.language, self.spoken)
        if best is not None:
            self._offers.remove(best)
            self._offers.insert(0, best)
            if not self._was_chosen and self.report.machine is not None:
                self._model = best.choice
        choices = [offer.choice for offer in self._offers]
        if self._model is not None and self._model not in choices:
            name = str(self._model)
            own = ModelOffer(choice=self._model, name=name, n_bytes=0, licence="", is_here=True)
            self._offers.append(own)
            choices.append(own.choice)
        pair = (self.spoken, self.language)
        cards = [
            words_of(
                offer,
                self.report,
                *pair,
                is_best=offer is best and self._is_advice(offer),
                is_in_use=self._uses(offer.choice),
            )
            for offer in self._offers
        ]
        self.cards.show_cards(cards, choices.index(self._model) if self._model in choices else 0)
        self._offer()

    def _is_advice(self, offer: ModelOffer) -> bool:
        return self.report.load(offer) is None or self.report.keeps_up(offer) is True

    @Slot(object)
    def _take_line(self, line: Mapping[str, object]) -> None:
        self.report.feed(line)
        if self.report.machine is not None:
            self.machine.setText(self._machine_text(self.report.machine))
        if line.get("kind") in ("fit", "computing"):
            self._show_offers(self._all)

    @Slot(float, bool)
    def take_speed(self, gflops: float, again: bool) -> None:  # noqa: FBT001  what the signal carries
        """Take a measure of this computer's speed; 0 if one is only coming.

        Args:
            gflops: billions of operations a second.
            again: it is measured again; until then what may be too low decides nothing.
        """
        self.report.measures_again = again
        self._take_line({"kind": "computing", "gflops": gflops})

    @Slot(str)
    def _end_check(self, failure: str) -> None:
        if not failure and self.report.failure is not None:
            failure = failure_text(self.report.failure)
        if failure:
            text = self.tr("This computer could not be checked: {}").format(failure)
            self.machine.setText(as_sentence(text))
            self.retry.show()

    def _machine_text(self, machine: Machine) -> str:
        said = self.tr("This computer: {}, %Ln cores; {} of {} memory free.", "", machine.cores)
        text = said.format(
            machine.processor, size_text(machine.free_bytes), size_text(machine.memory_bytes)
        )
        if machine.gpu:
            card = self.tr("Graphics card: {}, {} of {} free.").format(
                machine.gpu, size_text(machine.gpu_free_bytes), size_text(machine.gpu_bytes)
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
        self.show_message("")
        self._offer()
        self.cards.bring_into_sight(self.area)

    def _offer(self) -> None:
        offer, free = self.offer, self.service.free_bytes
        has_room, use = True, self.tr("&Use this model")
        text = "" if free is None else self.tr("{} are free on the disk.").format(size_text(free))
        if offer is not None and not offer.is_here:
            use = self.tr("Download and &use ({})").format(size_text(offer.n_bytes))
            has_room = free is None or offer.n_bytes <= free
        if not has_room:
            text = self.tr("{} Not enough for this model.").format(text)
        notice = source_notice(self.spoken)
        if notice is not None:
            text = f"{text} {as_sentence(worded(notice))}"
        self.room.setText(text.strip())
        self.apply.setText(use)
        self.apply.setEnabled(has_room and not self._uses(self.model))

    @Slot(str)
    def _show_failure(self, message: str) -> None:
        self.show_message(as_sentence(message))

    @Slot()
    def _ask_folder(self) -> None:
        path = ask_folder(self, self.tr("Folder of a translation model"))
        if path:
            self.choose(path)

    @Slot()
    def _use(self) -> None:
        choice = ModelChoice(model=self.model, language=self.language, source=self.spoken)
        self.wanted.emit(choice)
        self.close()
