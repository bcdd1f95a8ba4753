"""What a session does on its thread: load, obey commands, translate between them, report.

Nobody else touches it, but for ``commands``, ``finishing`` and ``stopping``.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

from engine.commands import (
    Clear,
    Command,
    Configure,
    EndPassage,
    FeedWords,
    LoadAdapter,
    SetWords,
    UnloadAdapter,
    UseAdapter,
    WordCommand,
)
from engine.errors import FetchCancelledError, SurtitleError, first_line
from engine.events import (
    AdapterChanged,
    CaptionChanged,
    ContextChanged,
    Event,
    Failed,
    LoadProgress,
    Notice,
    PaceChanged,
    Ready,
    Refused,
    Statistics,
)
from engine.loading.device import give_memory_back, is_out_of_memory, share_processor
from engine.messages import Code, Message
from engine.metrics.event_log import EventLog
from engine.session.catch_up import CatchUp
from engine.session.command_queue import CommandQueue
from engine.session.loaded_model import LoadedModel
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import translate_unseen
from engine.translation.passage import Passage

_STATISTICS_S = 0.5  # how often they are told while words wait

_log = logging.getLogger(__name__)


class Worker:
    """One model, one system, and the passages of all lanes."""

    def __init__(
        self,
        model: ModelSettings,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        log: Path | None,
    ) -> None:
        self.commands = CommandQueue()
        self.stopping = threading.Event()
        self.finishing = threading.Event()
        self._settings = model
        self._translation = translation
        self._report = report
        self._log_path = log
        self._waiting_since_s: float | None = None  # the oldest command not yet translated
        self._passages: list[Passage] = []  # that are not translated, or can still change
        self._current: dict[str, Passage] = {}  # of these the one of each lane that words go to
        self._switches = deque[Callable[[], None]]()  # for when nothing is half translated
        self._pace = CatchUp()
        self._slowed = False  # what was left for larger steps may be translated now
        self._told_s = 0.0  # when statistics were told
        self._began = 0.0, 0  # when this translation did, and the rows computed before it

    def run(self) -> None:
        """Load, serve, and turn whatever goes wrong into one sentence."""
        try:
            with EventLog(self._log_path) as log:
                self._log = log
                self._load()
                self._serve()
        except FetchCancelledError:
            _log.info("fetching was cancelled")
        except SurtitleError as error:
            self._report(Failed(message=error.message))
        except OSError as error:
            self._report(Failed(message=Code.FILE_UNUSABLE(reason=str(error))))
        except BaseException as error:  # noqa: BLE001  the one place where anything becomes a message
            _log.exception("the engine stopped")
            self._report(Failed(message=_unexpected(error)))

    def _load(self) -> None:
        start_s = time.monotonic()
        self._model = LoadedModel(self._settings, self._report, self.stopping.is_set)
        share_processor(self._model.weights.n_parameters)
        self._report(LoadProgress(message=Code.MAKING_CACHE(), fraction=0.8))
        self._system = self._model.make_system(self._translation, self._log)
        self._warm_up()
        self._report(
            Ready(
                model=self._model.weights.card.name,
                languages=self._model.languages,
                load_s=time.monotonic() - start_s,
                notices=self._model.notes,
            )
        )
        if self._model.used is not None:
            self._tell_adapters()

    def _warm_up(self) -> None:
        """Translate one word unseen, so that the first real one does not pay for first use."""
        translate_unseen(self._system, "Hello.")
        self._system.conversation.forget_sentences()

    def _serve(self) -> None:
        """Obey commands; translate between them, and stop translating when one comes."""
        while not self.stopping.is_set():
            command = self.commands.take()
            if self._waiting_since_s is None:
                self._waiting_since_s = time.monotonic()
            while command is not None:
                self._obey(command)
                command = None if self.commands.is_empty else self.commands.take()
            self._tell_refused()
            self._translate()
            if self.finishing.is_set() and self.commands.is_empty:
                return

    def _obey(self, command: Command) -> None:
        match command:
            case Configure(translation):
                self._configure(translation)
            case LoadAdapter(folder, use):
                self._load_adapter(folder, use=use)
            case UseAdapter(name):
                self._at_rest(partial(self._switch, name))
            case UnloadAdapter(name):
                self._at_rest(partial(self._unload, name))
            case _:
                self._change_words(command)

    def _change_words(self, command: WordCommand) -> None:
        match command:
            case SetWords(words):
                self._set_words(0, words, "")
            case FeedWords(words, lane):
                self._set_words(None, words, lane)
                if self._current[lane].is_complete:
                    del self._current[lane]  # nobody edits it: so a talk stays a row of short ones
            case EndPassage(lane):
                passage = self._current.pop(lane, None)
                self._tell(passage.finish() if passage else ())
            case Clear():
                for passage in self._current.values():
                    self._tell(passage.drop())

    def _translate(self) -> None:
        """Translate until all is done or a command comes; what waits for a rest happens then."""
        changed_s: float | None = None
        self._began = time.monotonic(), self._system.model.tokens_fed
        for event in self._advance():
            self._report(event)
            self._keep_pace()
            if isinstance(event, CaptionChanged):
                changed_s = time.monotonic()
                if changed_s - max(self._told_s, self._waiting_since_s or 0.0) > _STATISTICS_S:
                    self._report_statistics(changed_s)  # else only when all is done
            if not self.commands.is_empty:
                return
        self._passages = list(self._current.values())  # finished ones cannot be edited any more
        if changed_s is not None:
            self._report_statistics(changed_s)
        self._waiting_since_s = None

    def _advance(self) -> Iterator[Event]:
        """Translate all that is there; do what waits for a rest, and translate again."""
        self._keep_pace()
        yield from self._advance_passages()
        while self._switches and all(passage.is_settled for passage in self._passages):
            self._obey_switches()
            yield from self._advance_passages()

    def _advance_passages(self) -> Iterator[Event]:
        """Translate as far as the words allow, and again with the small steps of who caught up."""
        self._slowed = True
        while self._slowed:
            self._slowed = False
            yield from self._advance_once()
            self._keep_pace()

    def _advance_once(self) -> Iterator[Event]:
        for passage in self._passages:
            while True:
                try:
                    yield from passage.advance()
                    break
                except (SurtitleError, MemoryError, RuntimeError) as error:
                    if not _is_bearable(error):
                        raise
                    yield from self._give_up(passage, error)

    def _give_up(self, passage: Passage, error: Exception) -> Iterator[Event]:
        """Leave one utterance untranslated, so that the next ones are."""
        yield from passage.give_up()
        give_memory_back(self._model.weights.network.device)
        yield Refused(message=Code.SENTENCE_GIVEN_UP(reason=first_line(error)))

    def _keep_pace(self) -> None:
        """Read larger steps while words wait, and tell of it."""
        backlog_words = self._backlog_words
        if not self._pace.update(backlog_words, self._translation.catch_up_words):
            return
        factor = self._system.conversation.haste = self._pace.factor
        self._slowed = factor == 1
        self._log.write("pace", factor=factor, backlog_words=backlog_words)
        self._report(PaceChanged(factor=factor, backlog_words=backlog_words))

    @property
    def _backlog_words(self) -> int:
        return sum(passage.backlog_words for passage in self._passages)

    def _tell_refused(self) -> None:
        n_refused = self.commands.take_refused()
        if n_refused:
            most = self.commands.max_words
            self._report(Refused(message=Code.WORDS_REFUSED(n_words=n_refused, most=most)))

    def _report_statistics(self, changed_s: float) -> None:
        self._told_s = changed_s
        seconds = changed_s - (self._waiting_since_s or changed_s)
        model, counters = self._system.model, self._system.counters
        began_s, n_before = self._began
        n_rows = model.tokens_fed - n_before
        self._report(
            Statistics(
                tokens_fed=model.tokens_fed,
                forwards=model.forwards,
                tokens_recomputed=counters.tokens_recomputed,
                probes=counters.probes,
                cached_rows=model.n_rows,
                ms_per_word=seconds * 1000,
                ms_per_token=(changed_s - began_s) * 1000 / max(1, n_rows),
                loops_cut=counters.loops_cut,
                backlog_words=self._backlog_words,
                context_rows=self._system.conversation.context_rows,
            )
        )

    def _set_words(self, start: int | None, words: Sequence[str], lane: str) -> None:
        """Replace the words of a lane's passage from ``start`` on; None appends."""
        if lane not in self._current:
            self._current[lane] = Passage(self._system, lane, held=bool(self._switches))
            self._passages.append(self._current[lane])
        passage = self._current[lane]
        self._tell(passage.splice(passage.n_words if start is None else start, None, words))

    def _configure(self, translation: TranslationSettings) -> None:
        """Use other settings; wrong ones are refused and the old ones stay."""
        try:
            self._system.configure(self._model.fitted(translation))
        except SurtitleError as error:
            self._report(Refused(message=error.message))
            return
        before, self._translation = self._translation, translation
        if translation.glossary != before.glossary:
            self._report(ContextChanged(rows=self._system.conversation.context_rows))

    def _load_adapter(self, folder: Path, *, use: bool) -> None:
        """Load an adapter now, and let it translate from the next utterance on."""
        try:
            name, doubts = self._model.load_adapter(folder)
        except SurtitleError as error:
            self._report(Refused(message=error.message))
            return
        finally:
            self._system.model.forget_steps()  # the probe exchanged layers
        for doubt in doubts:
            self._report(Notice(message=doubt))
        self._tell_adapters()
        if use:
            self._at_rest(partial(self._switch, name))

    def _at_rest(self, switch: Callable[[], None]) -> None:
        """Do something as soon as no utterance is half translated; none is opened before."""
        self._switches.append(switch)
        for passage in self._passages:
            passage.hold()

    def _obey_switches(self) -> None:
        """Do all that waited for a rest; then open the utterances that waited for it."""
        before = self._system
        while self._switches:
            self._switches.popleft()()
        system = None if self._system is before else self._system
        for passage in self._passages:
            self._tell(passage.resume(system))

    def _switch(self, name: str | None) -> None:
        """Let another adapter translate, with a cache of its own; the old one where it cannot."""
        before = self._model.used
        if name is not None and name == before:
            return
        try:
            self._model.use_adapter(name)
            system = self._model.make_system(self._translation, self._log)
        except (SurtitleError, MemoryError, RuntimeError) as error:
            if not _is_bearable(error):
                raise
            self._model.use_adapter(before)
            self._report(Refused(message=_said(error)))
            return
        system.conversation.go_on_after(self._system.conversation)
        self._system = system
        self._tell_adapters()

    def _unload(self, name: str) -> None:
        try:
            self._model.unload_adapter(name)
        except SurtitleError as error:
            self._report(Refused(message=error.message))
        else:
            self._tell_adapters()

    def _tell_adapters(self) -> None:
        names, used = self._model.adapters, self._model.used
        languages = self._model.languages
        self._report(AdapterChanged(names=names, used=used, languages=languages))

    def _tell(self, events: Iterable[Event]) -> None:
        for event in events:
            self._report(event)


def _unexpected(error: BaseException) -> Message:
    code = Code.OUT_OF_MEMORY if is_out_of_memory(error) else Code.ENGINE_STOPPED
    return code(reason=first_line(error))


def _said(error: Exception) -> Message:
    """Take the message of one of our errors, or the first line of a library's."""
    return (
        error.message
        if isinstance(error, SurtitleError)
        else Code.AS_SAID(sentence=first_line(error))
    )


def _is_bearable(error: Exception) -> bool:
    """Tell an error after which the model is as good as before from one that nobody expected."""
    return isinstance(error, SurtitleError) or is_out_of_memory(error)
