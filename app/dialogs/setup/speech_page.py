"""The page of the setup wizard that offers speech models and downloads the chosen one."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import Signal, Slot
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from app.dialogs.setup.offers import Fact, OfferList, OfferWords, words_of_card
from app.dialogs.setup.pages import WizardPage
from app.look.icons import icon
from app.look.style_sheet import GAP, make_primary
from app.look.widgets.desktop import ask_folder
from app.look.widgets.dialog_text import (
    as_sentence,
    exchange,
    paragraph,
    push_button,
    size_text,
)
from app.look.widgets.names import speech_name, speech_words
from app.main_window.banner import DownloadBar
from app.session.listening_service import ListeningService
from engine.hub.catalogue import (
    MOONSHINE,
    SPEECH_BYTES,
    SPEECH_CHOICES,
    SPEECH_MODELS,
    STREAMING_MODELS,
    WHISPER_MODELS,
    standard_speech_model,
)
from engine.speech.speed import ENOUGH, FAST

_LICENCES = {MOONSHINE: "MIT"}
_LICENCES |= {one.name: one.licence for one in SPEECH_CHOICES}
_LICENCES |= {name: one.licence for name, one in STREAMING_MODELS.items()}


class DownloadRow(QWidget):
    """A message, the buttons Download and Choose a folder, and the progress of a download.

    After a failure the button Download says *Try again*: the download resumes.
    """

    def __init__(self) -> None:
        super().__init__()
        self.message = paragraph()
        keeping = self.message.sizePolicy()
        keeping.setRetainSizeWhenHidden(True)  # else what is below moves when a sentence comes
        self.message.setSizePolicy(keeping)
        self.bar = DownloadBar()
        self.bar.setFrameShape(DownloadBar.Shape.NoFrame)
        self.bar.cancel.setAutoDefault(False)
        self.bar.setFocusProxy(self.bar.cancel)
        self.download = push_button()
        self.download.setIcon(icon("download", "on_accent", before_text=True))
        make_primary(self.download)
        self.folder = push_button(self.tr("Choose a f&older…"), "folder-open")
        row = QHBoxLayout()
        row.setSpacing(2 * GAP)
        row.addWidget(self.download)
        row.addWidget(self.bar, 1)
        row.addStretch(0)
        row.addWidget(self.folder)
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(2 * GAP)
        column.addWidget(self.message)
        column.addLayout(row)
        self.show_message("")

    def show_message(self, text: str, *, again: bool = False) -> None:
        """Show a sentence; no download is running."""
        self.download.setText(self.tr("&Try again") if again else self.tr("&Download"))
        self.message.setText(text)
        self.message.setVisible(bool(text))
        exchange(self.bar, self.download)

    def show_contact(self, text: str) -> None:
        """Show that a download begins, without any byte so far."""
        self.message.hide()
        exchange(self.download, self.bar)
        self.bar.show_stage(text, None)

    def show_failure(self, message: str) -> None:
        """Show why a download ended; an empty message means that the user cancelled it."""
        stopped = self.tr("Download stopped. It will resume from here next time.")
        self.show_message(as_sentence(message) or stopped, again=bool(message))


class SpeechPage(WizardPage):
    """Speech models with size and speed, a folder of one's own, and the download.

    Nothing is recommended, selected or downloaded before the speed of this computer is known.

    Signals:
        chosen(str): this speech model, or its folder, is here and shall be used.
        changed(): whether a usable model is selected may have changed.
        selected(): its card is to be in sight.
    """

    chosen = Signal(str)
    changed = Signal()
    selected = Signal()

    def __init__(self, service: ListeningService) -> None:
        super().__init__()
        self.title = self.tr("Speech model")
        self._service = service
        self._found = dict[str, str | None]()
        self._fetched = set[str]()  # what was looked up before may be reported later
        self._given_up = dict[str, str]()  # folders that could not be loaded, and why
        self._others = list[str]()  # that not everybody is offered
        self._own = ""  # a model that is not among them
        self.recognizer = ""  # name or folder of the selected one
        self._asked = ""  # a folder that is looked into; selected once a model was found there
        self._in_use = standard_speech_model()
        self._fetching = ""
        self._has_failed = False  # the last download
        if self._in_use == MOONSHINE:
            text = self.tr(
                "A speech model for English comes with Surtitle. Others know more languages or are "
                "more exact; they are downloaded once from huggingface.co, after that no internet "
                "is needed."
            )
        else:
            text = self.tr(
                "To caption speech, Surtitle needs a speech model. Download it once from "
                "huggingface.co; after that no internet is needed. The first three are more exact: "
                "words appear a second or two after they were said."
            )
        self.add_text(text)
        at_once = self.tr("Words appear as they are said. English only.")
        purposes = (
            self.tr("Misses more words."),
            self.tr("For most computers."),
            self.tr("For fast computers."),
        )
        self._purposes = {
            choice.name: text for choice, text in zip(SPEECH_CHOICES, purposes, strict=True)
        } | dict.fromkeys(STREAMING_MODELS, at_once)
        if standard_speech_model() == MOONSHINE:
            along = self.tr("English. Words appear about a second after they were said.")
            self._purposes = {MOONSHINE: along} | self._purposes
        self.cards = OfferList()
        self.column.addWidget(self.cards)
        self.row = DownloadRow()  # the wizard puts it below, where it never scrolls away
        self.column.addStretch(1)
        self._connect()
        self._describe()

    @property
    def is_here(self) -> bool:
        return self._found.get(self.recognizer, "") is None

    @property
    def is_fetching(self) -> bool:
        return bool(self._fetching)

    @property
    def wish(self) -> str:
        """The selected model where neither it nor the one in use is here; else empty.

        The main window then offers it, too.
        """
        is_free = not (self._fetching or self.is_here or self._is_found(self._in_use))
        is_other = self.recognizer in SPEECH_MODELS and self.recognizer != self._in_use
        return self.recognizer if is_free and is_other else ""

    def show_in_use(self, recognizer: str, *, shows_all: bool) -> None:
        """Select the model in use, unless another is being downloaded.

        The standard one is in use where nobody chose: it has to be here, or be recommended.

        Args:
            shows_all: every known model is offered; a newcomer is offered few.
        """
        self._in_use, self._others = recognizer, []
        if shows_all:
            self._others = [name for name in WHISPER_MODELS if name not in self._purposes]
        is_standard = recognizer == standard_speech_model() and not self._is_found(recognizer)
        if not (self.is_fetching or is_standard):
            self.choose(recognizer)

    def choose(self, recognizer: str) -> None:
        """Select a model; one that is not among them gets a line of its own."""
        is_other = recognizer != self.recognizer
        self.recognizer = recognizer
        self._own = self._own if recognizer in self._known else recognizer
        self._describe()
        if is_other:
            self._take_choice()
        self.selected.emit()

    def give_up(self, recognizer: str, failure: str) -> None:
        """Note that a folder could not be loaded: from the next time on this page says so."""
        if recognizer not in SPEECH_MODELS:
            self._given_up[recognizer] = failure

    def enter(self) -> None:
        self._found |= self._given_up
        self._describe()
        self._service.look_up(self._listed)
        self._service.measure_speed()

    def _connect(self) -> None:
        service, row = self._service, self.row
        service.looked_up.connect(self._take_found)
        service.speed_measured.connect(self._recommend)
        service.progressed.connect(self._show_progress)
        service.fetched.connect(self._take_fetched)
        service.fetch_failed.connect(self._take_failure)
        self.cards.picked.connect(self._select)
        row.download.clicked.connect(self._fetch)
        row.bar.cancel.clicked.connect(service.cancel_fetch)
        row.folder.clicked.connect(self._ask_folder)

    @property
    def _known(self) -> list[str]:
        return [*self._purposes, *self._others]

    @property
    def _listed(self) -> list[str]:
        known = self._known
        return [*known, self._own] if self._own and self._own not in known else known

    def _describe(self) -> None:
        best, listed = self._service.pace.recommended, self._listed
        cards = [self._card(name, is_best=name == best) for name in listed]
        self.cards.show_cards(
            cards, listed.index(self.recognizer) if self.recognizer in listed else -1
        )
        self._offer()

    def _card(self, name: str, *, is_best: bool) -> OfferWords:
        licence = _LICENCES.get(name, "")
        sentences = (self._purpose(name), self._speed(name))
        facts = [" ".join(filter(None, sentences))]
        facts += [size_text(SPEECH_BYTES[name])] if name in SPEECH_BYTES else []
        if name in SPEECH_MODELS and self._is_found(name):
            facts.append(self.tr("already here"))
        return words_of_card(
            speech_words(name) or (name if name in WHISPER_MODELS else self.tr("Another model")),
            [Fact(fact) for fact in facts],
            "",
            tip=f"{name} · {self.tr('{} licence').format(licence)}" if licence else name,
            is_best=is_best,
        )

    def _purpose(self, name: str) -> str:
        if name in WHISPER_MODELS and name not in self._purposes:
            return self.tr("More exact: words appear a second or two later")
        return self._purposes.get(name, Path(name).name)

    def _speed(self, name: str) -> str:
        pace = self._service.pace
        choice = next((one for one in SPEECH_CHOICES if one.name == name), None)
        if choice is None:
            return ""
        if pace.fell_behind(choice.name):
            return self.tr("Captions fell behind speech on this computer.")
        load = pace.load_of(choice)
        if load is None:  # as long as the answers
            measuring = self.tr("Speed on this computer: being measured.")
            return "" if pace.is_measured else measuring
        if load < FAST:
            return self.tr("Fast on this computer.")
        if load < ENOUGH:
            return self.tr("Fast enough on this computer.")
        return self.tr("Probably too slow for this computer.")

    def _is_found(self, name: str) -> bool:
        return self._found.get(name, "") is None

    def _offer(self) -> None:
        is_known = bool(self._service.pace.recommended)
        is_ours = not self.is_here and self.recognizer in SPEECH_MODELS
        self.row.download.setEnabled(is_known and is_ours)
        if not self._fetching and not self._has_failed:
            text = as_sentence(self._found.get(self.recognizer, "") or "")
            if self.is_here:
                text = self.tr("This speech model is on this computer.")
            elif not is_known:
                text = self.tr("The speed of this computer is being measured: about 5 s.")
            self.row.show_message(text)
        self.changed.emit()

    def _use(self, recognizer: str) -> None:
        self._in_use = recognizer
        self.chosen.emit(recognizer)

    @Slot()
    def _select(self) -> None:
        self.recognizer = self._listed[self.cards.chosen]
        self._take_choice()
        self.selected.emit()

    def _take_choice(self) -> None:
        self._has_failed = False
        self._offer()
        if self.is_here and self.recognizer != self._in_use:
            self._use(self.recognizer)

    @Slot(dict)
    def _take_found(self, found: Mapping[str, str | None]) -> None:
        self._found |= {name: found[name] for name in found if name not in self._fetched}
        self._found |= self._given_up
        if self._asked in found:
            self._take_folder(self._asked)
        if not self.recognizer and self._is_found(self._in_use):
            self.choose(self._in_use)
        self._describe()

    def _take_folder(self, folder: str) -> None:
        """Select the folder that was asked for, or say why it cannot be used; nothing changes."""
        self._asked = ""
        obstacle = self._found.pop(folder)
        if obstacle is None:
            self.choose(folder)
            self._found[folder] = None  # afterwards, so that it is chosen once
            self._use(folder)
        else:
            self._has_failed = True
            self.row.show_message(as_sentence(obstacle))

    @Slot()
    def _recommend(self) -> None:
        best = self._service.pace.recommended
        if best and not self.recognizer:
            self.choose(best)
        self._describe()

    @Slot()
    def _fetch(self) -> None:
        self._fetching, self._has_failed = self.recognizer, False
        self.cards.setEnabled(False)
        self.row.show_contact(self.tr("Contacting huggingface.co…"))
        self._service.fetch(self._fetching)
        self.changed.emit()

    @Slot(str, object, object)
    def _show_progress(self, recognizer: str, done: int, total: int) -> None:
        if recognizer == self._fetching:
            self.row.bar.show_progress(speech_name(recognizer), done, total)

    @Slot(str)
    def _take_fetched(self, recognizer: str) -> None:
        self._found[recognizer] = None
        self._fetched.add(recognizer)
        if recognizer != self._fetching:
            self._describe()
            return
        self._end_fetch()
        self._describe()
        self._use(recognizer)

    @Slot(str)
    def _take_failure(self, message: str) -> None:
        if self._fetching:
            self._end_fetch()
            self._has_failed = True
            self.row.show_failure(message)
            self.changed.emit()

    def _end_fetch(self) -> None:
        self._fetching = ""
        self.cards.setEnabled(True)

    @Slot()
    def _ask_folder(self) -> None:
        path = ask_folder(self, self.tr("Folder of a speech model"))
        if path:
            self._asked = str(path)
            self._given_up.pop(self._asked, None)  # it may have been mended
            self._service.look_up([self._asked])
