"""Carry out commands and translate by a model, one unit of work at a time."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from engine.commands import Command, LoadAdapter, UnloadAdapter, UseAdapter
from engine.errors import SurtitleError, first_line, message_of
from engine.events import (
    CaptionChanged,
    ContextChanged,
    Event,
    LoadProgress,
    Notice,
    PaceChanged,
    Ready,
    Refused,
    Statistics,
)
from engine.messages import Code
from engine.metrics.event_log import EventLog
from engine.runtime.processor import is_out_of_memory
from engine.session.catch_up import CatchUp
from engine.session.command_queue import CommandQueue
from engine.session.further_languages import FurtherLanguages
from engine.session.loaded_model import LoadedModel
from engine.session.serving import Serving
from engine.settings import ModelSettings, TranslationSettings
from engine.text.sentences import source_notice
from engine.translation.base import AnySystem
from engine.translation.feed import translate_unseen
from engine.translation.passage import Passage
from engine.translation.sound.sound_passage import SoundPassage
from engine.translation.sound.spoken import as_spoken, hear_silence

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

    ``wake`` as for ``FurtherLanguages``.
    """
    with EventLog(log) as event_log:
        start_s = time.monotonic()
        weights = LoadedModel(model, report, cancelled)
        weights.weights.share_processor()
        report(LoadProgress(message=Code.MAKING_CACHE(), fraction=0.8))
        further = FurtherLanguages(translation, report, wake, lambda: weights)
        serving = Translating(weights, translation, report, event_log, further)
        warm_up(serving.system)  # so that the first real word is not slow
        serving.system.conversation.forget_sentences()
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


def warm_up(system: AnySystem) -> None:
    """Translate something that nobody sees."""
    spoken = as_spoken(system)
    if spoken is None:
        translate_unseen(system, "Hello.")
    else:
        hear_silence(spoken)


class Translating(Serving):
    """One model, one system, and the passages of all lanes.

    Attributes:
        system: translates; replaced by a switch of adapters.
    """

    def __init__(
        self,
        model: LoadedModel,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        event_log: EventLog,
        further: FurtherLanguages,
    ) -> None:
        super().__init__(self._begin_passage, report, further)
        self.system = model.make_system(translation, event_log)
        self._model = model
        self._translation = translation
        self._event_log = event_log
        self._switches = deque[Callable[[], None]]()  # to run when no utterance is half translated
        self._catch_up = CatchUp()
        self._waiting_since_s: float | None = None  # the oldest command not yet translated
        self._changed_s: float | None = None  # the newest caption change since the last command
        self._reported_s = 0.0  # the newest statistics

    def obey_waiting(self, commands: CommandQueue) -> None:
        """Carry out all waiting commands; wait for one if there is none."""
        super().obey_waiting(commands)
        self._changed_s = None
        self._keep_pace()

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

    def _begin_passage(self, lane: str) -> Passage:
        spoken = as_spoken(self.system)
        if spoken is not None:
            return SoundPassage(spoken, lane, held=bool(self._switches))
        reads_any = not self._translation.reads_english
        return Passage(
            self.system,
            lane,
            held=bool(self._switches),
            reads_any_script=reads_any,
            further=self._further.captions,
        )

    def _configure(self, translation: TranslationSettings) -> None:
        """Use other settings; wrong ones are refused and the old ones stay.

        A policy that the system cannot follow is replaced, with a notice.
        """
        try:
            self.system.configure(self._model.suited(translation))
        except SurtitleError as error:
            self._report(Refused(message=error.message))
            return
        before, self._translation = self._translation, translation
        self._further.configure(translation)
        self._report_policy()
        if translation.source_language != before.source_language:
            self.report_source()
        if translation.glossary != before.glossary:
            self._report(ContextChanged(rows=self.system.conversation.context_rows))

    def report_source(self) -> None:
        """Report what is to be known of the source language."""
        notice = source_notice(self._translation.source_language)
        if notice is not None:
            self._report(Notice(message=notice))

    # translating

    def _advance(self, passage: Passage) -> Event | None:
        """Extend a caption, or leave an utterance untranslated so that the next ones are."""
        try:
            return super()._advance(passage)
        except (SurtitleError, MemoryError, RuntimeError) as error:
            if not _is_bearable(error):
                raise
            self._report(passage.give_up())
            self._model.weights.give_memory_back()
            return Refused(message=Code.SENTENCE_GIVEN_UP(reason=first_line(error)))

    def _note(self, event: Event) -> None:
        if not isinstance(event, Refused):
            self._keep_pace()
        self._time_change(event)

    def _finds_more(self) -> bool:
        if self._keep_pace():
            return True  # words left for larger steps may be translated now
        is_settled = all(passage.is_settled for passage in self._passages)
        if self._switches and is_settled and self._further.captions.is_settled:
            self._obey_switches()
            return True
        return False

    def _takes_words(self, passage: Passage) -> bool:
        """Whether words may still come into a passage, or wait in it for a switch of adapters."""
        return bool(self._switches) or super()._takes_words(passage)

    def _rest(self) -> None:
        """Report that all is translated, and what that cost."""
        super()._rest()
        if self._changed_s is not None:
            self._report_statistics(self._changed_s)
        self._waiting_since_s = None

    def _keep_pace(self) -> bool:
        """Read larger steps while words wait; report and return a change of the steps."""
        backlog_words = self.backlog_words = self._passages.backlog_words
        if not self._catch_up.update(backlog_words, self._translation.catch_up_words):
            return False
        factor = self.system.conversation.haste = self._catch_up.factor
        self._event_log.write("pace", factor=factor, backlog_words=backlog_words)
        self._report(PaceChanged(factor=factor, backlog_words=backlog_words))
        return True

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
                context_rows=self.system.conversation.context_rows,
            )
        )

    # adapters

    def _load_adapter(self, folder: Path, *, use: bool) -> None:
        """Load an adapter now, and with ``use`` translate the next utterances by it."""
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
        system = None if self.system is before else self.system
        if system is not None:
            self._further.follow_switch()
        for passage in self._passages:
            self._report_all(passage.resume(system))

    def _switch(self, name: str | None) -> None:
        """Translate by another adapter, with a new cache; keep the current one on failure."""
        before = self._model.used
        if name is not None and name == before:
            return
        try:
            self._model.use_adapter(name)
            system = self._model.make_system(self._translation, self._event_log)
        except (SurtitleError, MemoryError, RuntimeError) as error:
            if not _is_bearable(error):
                raise
            self._model.use_adapter(before)
            self._report(Refused(message=message_of(error)))
            return
        system.conversation.go_on_after(self.system.conversation)
        self.system = system
        self._report_policy()
        self._report(self._model.adapters_changed)

    def _report_policy(self) -> None:
        """Report that the model cannot follow the policy of the settings, if so."""
        for notice in self._model.resolved(self._translation).notices:
            if notice.code is Code.POLICY_REPLACED:
                self._report(Notice(message=notice))

    def _unload(self, name: str) -> None:
        try:
            self._model.unload_adapter(name)
        except SurtitleError as error:
            self._report(Refused(message=error.message))
        else:
            self._report(self._model.adapters_changed)


def _is_bearable(error: Exception) -> bool:
    """Return whether the session can continue after an error; others are unexpected."""
    return isinstance(error, SurtitleError) or is_out_of_memory(error)
