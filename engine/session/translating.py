"""Carry out commands and translate by a model, one unit of work at a time."""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from engine.errors import SurtitleError, message_of
from engine.events import (
    CaptionChanged,
    Command,
    Event,
    LoadAdapter,
    LoadProgress,
    Notice,
    Ready,
    Refused,
    Statistics,
    UnloadAdapter,
    UseAdapter,
)
from engine.messages import Code, Message
from engine.metrics.event_log import EventLog
from engine.session.command_queue import CommandQueue
from engine.session.loaded_model import LoadedModel
from engine.session.serving import Serving
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.conversation import Conversation
from engine.translation.feed import translate_unseen
from engine.translation.passage import Passage
from engine.translation.spoken import SoundPassage, as_spoken, hear_silence
from engine.translation.targets import is_bearable

_STATISTICS_S = 0.5  # how often they are reported while words wait


@contextmanager
def loaded(
    model: ModelSettings,
    translation: TranslationSettings,
    report: Callable[[Event], None],
    log: Path | None,
    cancelled: Callable[[], bool],
    wake: Callable[[], None],
) -> "Iterator[Translating]":
    """Load a model to translate by, and log until the end; report how that goes.

    ``wake`` as for ``Languages``.
    """
    with EventLog(log) as event_log:
        start_s = time.monotonic()
        weights = LoadedModel(model, report, cancelled)
        weights.weights.share_processor()
        report(LoadProgress(message=Code.MAKING_CACHE(), fraction=0.8))
        serving = Translating(weights, translation, report, event_log, wake)
        warm_up(serving.system)  # so that the first real word is not slow
        serving.system.forget_sentences()
        report(
            Ready(
                model=weights.weights.card.name,
                languages=weights.languages,
                load_s=time.monotonic() - start_s,
                notices=(*weights.notes, *weights.resolved(translation).notices),
                makes_drafts=weights.makes_drafts,
            )
        )
        if weights.used is not None:
            report(weights.adapters_changed)
        serving.report_source()
        yield serving


def warm_up(system: Conversation) -> None:
    """Translate something that nobody sees."""
    spoken = as_spoken(system)
    if spoken is None:
        translate_unseen(system, "Hello.")
    else:
        hear_silence(spoken)


class Translating(Serving):
    """One model, one system, which a switch of adapters replaces, and the passages of all lanes."""

    def __init__(
        self,
        model: LoadedModel,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        event_log: EventLog,
        wake: Callable[[], None] = lambda: None,
    ) -> None:
        self.system = model.make_system(translation, event_log)
        super().__init__(self.system, translation, report, wake, lambda: model)
        self._model = model
        self._event_log = event_log
        self._switches = deque[Callable[[], None]]()  # to run when no utterance is half translated
        self._waiting_since_s: float | None = None  # the oldest command not yet translated
        self._changed_s: float | None = None  # the newest caption change since the last command
        self._reported_s = 0.0  # the newest statistics

    def obey_waiting(self, commands: CommandQueue) -> None:
        super().obey_waiting(commands)
        self._changed_s = None

    def _begin_work(self) -> None:
        if self._waiting_since_s is None:
            self._waiting_since_s = time.monotonic()

    def _obey(self, command: Command) -> None:
        match command:
            case LoadAdapter(folder, use):
                self._load_adapter(folder, use=use)
            case UseAdapter(name):
                self._at_rest(partial(self._switch, name))
            case UnloadAdapter(name):
                self._at_rest(partial(self._unload, name))
            case _:
                super()._obey(command)

    def _new_passage(self, lane: str) -> Passage:
        make = Passage if as_spoken(self.system) is None else SoundPassage
        return make(self.targets, lane, held=bool(self._switches))

    def _use(self, translation: TranslationSettings) -> Iterable[Message]:
        """Configure; a policy that the system cannot follow is replaced, with a notice."""
        self.system.configure(self._model.suited(translation))
        return self._policy_notices(translation)

    # translating

    def _note(self, event: Event) -> None:
        super()._note(event)
        self._time_change(event)

    def _note_pace(self, factor: int) -> None:
        self._event_log.write("pace", factor=factor, backlog_words=self.backlog_words)

    def _finds_more(self) -> bool:
        if super()._finds_more():
            return True
        is_settled = all(passage.is_settled for passage in self._passages)
        if self._switches and is_settled and self.targets.is_settled:
            self._obey_switches()
            return True
        return False

    def _takes_words(self, passage: Passage) -> bool:
        """Whether words may still come into a passage, or wait in it for a switch of adapters."""
        return bool(self._switches) or super()._takes_words(passage)

    def _rest(self) -> None:
        super()._rest()
        if self._changed_s is not None:
            self._report_statistics(self._changed_s)
        self._waiting_since_s = None

    def _time_change(self, event: Event) -> None:
        """Note when a caption changed; report statistics regularly during long translations."""
        if isinstance(event, CaptionChanged):
            self._changed_s = time.monotonic()
            since_s = max(self._reported_s, self._waiting_since_s or 0.0)
            if self._changed_s - since_s > _STATISTICS_S:
                self._report_statistics(self._changed_s)

    def _report_statistics(self, changed_s: float) -> None:
        self._reported_s = changed_s
        seconds = changed_s - (self._waiting_since_s or changed_s)
        model, counters = self.system.model, self.system.counters
        self._report(
            Statistics(
                tokens_fed=model.tokens_fed,
                forwards=model.forwards,
                tokens_recomputed=counters.tokens_recomputed,
                probes=counters.probes,
                cached_rows=model.n_rows,
                ms_per_word=seconds * 1000,
                loops_cut=counters.loops_cut,
                backlog_words=self._passages.backlog_words,
                context_rows=self.system.context_rows,
            )
        )

    # adapters

    def _load_adapter(self, folder: Path, *, use: bool) -> None:
        try:
            name, doubts = self._model.load_adapter(folder)
        except SurtitleError as error:
            self._report(Refused(message=error.message))
            return
        finally:
            self.system.model.forget_steps()  # the probe changed layers
        for doubt in doubts:
            self._report(Notice(message=doubt))
        self._report(self._model.adapters_changed)
        if use:
            self._at_rest(partial(self._switch, name))

    def _at_rest(self, switch: Callable[[], None]) -> None:
        """Run ``switch`` once no utterance is half translated; none is opened before."""
        self._switches.append(switch)
        for passage in self._passages:
            passage.hold()

    def _obey_switches(self) -> None:
        """Run the waiting switches; then open the utterances that were held."""
        before = self.system
        while self._switches:
            self._switches.popleft()()
        if self.system is not before:
            for passage in self._passages:
                passage.make_final()
            self.targets.first.go_on_with(self.system)
            self._languages.follow_switch()
        for passage in self._passages:
            self._report_all(passage.resume())

    def _switch(self, name: str | None) -> None:
        """Translate by another adapter, with a new cache; keep the current one on failure."""
        before = self._model.used
        if name is not None and name == before:
            return
        try:
            self._model.use_adapter(name)
            system = self._model.make_system(self._translation, self._event_log)
        except (SurtitleError, MemoryError, RuntimeError) as error:
            if not is_bearable(error):
                raise
            self._model.use_adapter(before)
            self._report(Refused(message=message_of(error)))
            return
        system.go_on_after(self.system)
        self.system = system
        for notice in self._policy_notices(self._translation):
            self._report(Notice(message=notice))
        self._report(self._model.adapters_changed)

    def _policy_notices(self, translation: TranslationSettings) -> list[Message]:
        """Return a notice if the model cannot follow the policy of the settings."""
        notices = self._model.resolved(translation).notices
        return [notice for notice in notices if notice.code is Code.POLICY_REPLACED]

    def _unload(self, name: str) -> None:
        try:
            self._model.unload_adapter(name)
        except SurtitleError as error:
            self._report(Refused(message=error.message))
        else:
            self._report(self._model.adapters_changed)
