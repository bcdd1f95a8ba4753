"""Carry out commands and caption, one unit of work at a time, on the session's thread.

It imports no model library: ``engine.session.loaded_model`` loads one and makes its captioner.
"""

import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from engine.errors import SurtitleError, message_of
from engine.events import (
    TYPED,
    CaptionChanged,
    Clear,
    Cleared,
    Command,
    Configure,
    ContextChanged,
    EndPassage,
    Event,
    FeedWords,
    Flush,
    Flushed,
    LoadAdapter,
    MakeUp,
    Notice,
    PaceChanged,
    Refused,
    SetWords,
    Skip,
    Statistics,
    UnloadAdapter,
    UseAdapter,
    UseLanguages,
    WordCommand,
)
from engine.messages import Code
from engine.metrics.event_log import EventLog
from engine.session.languages import Languages
from engine.settings import TranslationSettings
from engine.text.sentences import source_notice
from engine.translation.captioner import Captioner
from engine.translation.passage import Passage
from engine.translation.targets import Targets, is_bearable

if TYPE_CHECKING:
    from engine.remote.captioner import RemoteCaptioner
    from engine.session.loaded_model import LoadedModel
    from engine.session.session import CommandQueue
    from engine.translation.conversation import Conversation

_STATISTICS_S = 0.5  # how often they are reported while words wait


class Passages:
    """Passages whose captions are not complete, or can still change.

    Invariant: each lane has at most one passage that takes words.
    """

    def __init__(self, begin: Callable[[str], Passage]) -> None:
        """Start empty; ``begin`` makes the passage of a lane."""
        self._begin = begin
        self._passages: list[Passage] = []
        self._current: dict[str, Passage] = {}  # the one of each lane that takes words

    def __iter__(self) -> Iterator[Passage]:
        """Iterate over a copy, from the oldest passage to the newest."""
        return iter(tuple(self._passages))

    @property
    def backlog_words(self) -> int:
        """Words that are committed and not read yet."""
        return sum(passage.backlog_words for passage in self._passages)

    def change(self, command: WordCommand) -> list[Event]:
        match command:
            case SetWords(words):
                return self._of(TYPED).splice(0, None, words)
            case FeedWords(words, lane):
                passage = self._of(lane)
                events = passage.splice(passage.n_words, None, words)
                if passage.is_complete:
                    del self._current[lane]  # never edited, so a talk is many short passages
                return events
            case EndPassage(lane):
                return self._current.pop(lane).finish() if lane in self._current else []
            case Clear(spares):
                dropped = [one for one in self._passages if one.lane != spares]
                return [event for one in dropped for event in one.drop()]

    def takes_words(self, passage: Passage) -> bool:
        return passage in self._current.values()

    def forget(self, passage: Passage) -> None:
        self._passages.remove(passage)
        passage.forget()

    def _of(self, lane: str) -> Passage:
        if lane not in self._current:
            self._current[lane] = self._begin(lane)
            self._passages.append(self._current[lane])
        return self._current[lane]


@dataclass(slots=True)
class Local:
    """A model of this computer, and the captioner by it, which a switch of adapters replaces.

    ``passage`` is the kind of passages that it captions.
    """

    model: "LoadedModel"
    system: "Conversation"
    log: EventLog
    passage: type[Passage] = Passage


class Serving:
    """The passages of all lanes, captioned in all languages.

    Further languages are captioned where the first has nothing to do, and what they left out where
    nothing waits at all. A switch of adapters waits until no utterance is half translated.

    Attributes:
        has_work: ``advance`` may have work to do.
        backlog_words: committed source words that are not read yet; any thread may look.
    """

    def __init__(
        self,
        captioner: Captioner,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        wake: Callable[[], None] = lambda: None,
        by: "Local | RemoteCaptioner | None" = None,
    ) -> None:
        """Start without words.

        Args:
            captioner: of the first language.
            translation: as it was asked for.
            report: gets the events.
            wake: as for ``Languages``.
            by: what has the model of the captioner; another computer's is its captioner itself.
        """
        self.targets = Targets(captioner)
        self.has_work = False
        self.backlog_words = 0
        self._is_at_rest = False  # since the last command
        self._translation = translation
        self._local = by if isinstance(by, Local) else None
        self._server = None if isinstance(by, Local) else by
        self._own: LoadedModel | RemoteCaptioner | None = (
            self._server if self._local is None else self._local.model
        )
        self._report = report
        if self._server is not None:
            self._server.notify = lambda message: report(Notice(message=message))
        self._passages = Passages(self._new_passage)
        self._languages = Languages(self.targets, translation, report, wake, self._own)
        self._flushes = deque[int]()  # to report when all is captioned
        self._switches = deque[Callable[[], None]]()  # to run when no utterance is half translated
        self._waiting_since_s: float | None = None  # the oldest command not yet translated
        self._changed_s: float | None = None  # the newest caption change since the last command
        self._reported_s = 0.0  # the newest statistics

    def obey_waiting(self, commands: "CommandQueue") -> None:
        """Carry out all waiting commands; wait for one if there is none."""
        command = commands.take()
        if self._waiting_since_s is None:
            self._waiting_since_s = time.monotonic()
        while command is not None:
            self._obey(command)
            command = None if commands.is_empty else commands.take()
        self._languages.take_loaded()
        n_refused = commands.take_refused()
        if n_refused:
            message = Code.WORDS_REFUSED(n_words=n_refused, most=commands.max_words)
            self._report(Refused(message=message))
        self.has_work, self._is_at_rest = True, False
        self._keep_pace()
        self._changed_s = None

    def _obey(self, command: Command) -> None:
        match command:
            case Configure(translation):
                self._configure(translation)
            case UseLanguages(further):
                self._languages.use(further, self._passages)
            case MakeUp():
                self._languages.owe(command)
            case Skip(typed):
                self._skip(typed=typed)
            case Flush(number):
                self._flushes.append(number)
            case LoadAdapter() | UseAdapter() | UnloadAdapter():
                self._obey_about_adapters(command)
            case SetWords() | FeedWords() | EndPassage() | Clear():
                self._change(command)

    def _change(self, command: WordCommand) -> None:
        self._report_all(self._passages.change(command))
        if isinstance(command, Clear):
            self.targets.clear()
            self._report(Cleared())

    def _new_passage(self, lane: str) -> Passage:
        kind = Passage if self._local is None else self._local.passage
        return kind(self.targets, lane, held=bool(self._switches))

    def _configure(self, translation: TranslationSettings) -> None:
        """Use other settings; wrong ones are refused and the old ones stay."""
        own, captioner = self._own, self.targets.captioner
        try:
            captioner.configure(translation if own is None else own.suited(translation))
        except SurtitleError as error:
            if not is_bearable(error):
                raise
            self._report(Refused(message=error.message))
            return
        before, self._translation = self._translation, translation
        self._languages.configure(translation)
        if own is None:
            return
        self._report_policy()
        if translation.source_language != before.source_language:
            self.report_source()
        if translation.glossary != before.glossary:
            self._report(ContextChanged(rows=captioner.context_rows))

    def report_source(self) -> None:
        """Report a notice about the source language, if there is one."""
        notice = source_notice(self._translation.source_language)
        if notice is not None:
            self._report(Notice(message=notice))

    def _report_policy(self) -> None:
        """Report a notice if the model cannot follow the policy of the settings."""
        local = self._local
        notices = () if local is None else local.model.resolved(self._translation).notices
        for notice in notices:
            if notice.code is Code.POLICY_REPLACED:
                self._report(Notice(message=notice))

    def _skip(self, *, typed: bool) -> None:
        skipped = (one.skip() for one in self._passages if typed or one.was_heard)
        left = [number for numbers in skipped for number in numbers]
        if typed:  # heard words alone leave it to the further languages to keep up
            self.targets.skip(left)

    def advance(self) -> None:
        """Do one unit of work: extend one caption, or what waits for all to be settled.

        ``has_work`` is False once nothing is left to do.
        """
        for passage in self._passages:
            event = passage.advance()
            if event is not None:
                self._report(event)
                refusal = self.targets.first.take_refusal()
                if refusal is None:
                    self._keep_pace()
                    self._time_change(event)
                else:
                    self._report(refusal)
                return
            may_grow = self._switches or self._passages.takes_words(passage)
            if passage.is_settled and not may_grow:
                self._passages.forget(passage)
        event = self._languages.advance()
        if event is None and not self._finds_more():
            if not self._is_at_rest:
                self._rest()
            event = self.targets.make_up()
            self.has_work, self._is_at_rest = event is not None, True
        if event is not None:
            self._report(event)

    def _finds_more(self) -> bool:
        """Begin further work where no passage has any; return whether there is some."""
        if self._keep_pace():  # words left for larger steps may be translated now
            return True
        is_settled = all(passage.is_settled for passage in self._passages)
        if self._switches and is_settled and self.targets.is_settled:
            self._obey_switches()
            return True
        return False

    def _keep_pace(self) -> bool:
        """Read larger steps while words wait; report and return a change of the steps."""
        self.backlog_words = self._passages.backlog_words
        limit = self._translation.catch_up_words
        factor = self.targets.first.keep_pace(self.backlog_words, limit)
        if factor is not None:
            if self._local is not None:
                self._local.log.write("pace", factor=factor, backlog_words=self.backlog_words)
            self._report(PaceChanged(factor=factor, backlog_words=self.backlog_words))
        return factor is not None

    def _rest(self) -> None:
        """Report that all is captioned, except what further languages left out."""
        while self._flushes:
            self._report(Flushed(number=self._flushes.popleft()))
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
        if self._local is None:
            return
        self._reported_s = changed_s
        seconds = changed_s - (self._waiting_since_s or changed_s)
        system = self._local.system
        model, counters = system.model, system.counters
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
                context_rows=system.context_rows,
            )
        )

    def _report_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self._report(event)

    def interrupt(self) -> None:
        """Let what is waited for fail at once; for other threads."""
        if self._server is not None:
            self._server.interrupt()

    def close(self) -> None:
        self._languages.close()

    # adapters

    def _obey_about_adapters(self, command: LoadAdapter | UseAdapter | UnloadAdapter) -> None:
        local = self._local
        if local is None:
            if self._server is not None:
                self._report(Refused(message=Code.SERVER_HAS_ITS_ADAPTER()))
            return
        match command:
            case LoadAdapter(folder, use):
                self._load_adapter(local, folder, use=use)
            case UseAdapter(name):
                self._at_rest(partial(self._switch, local, name))
            case UnloadAdapter(name):
                self._at_rest(partial(self._unload, local.model, name))

    def _load_adapter(self, local: Local, folder: Path, *, use: bool) -> None:
        try:
            name, doubts = local.model.load_adapter(folder)
        except SurtitleError as error:
            self._report(Refused(message=error.message))
            return
        finally:
            local.system.model.forget_steps()  # the probe changed layers
        for doubt in doubts:
            self._report(Notice(message=doubt))
        self._report(local.model.adapters_changed)
        if use:
            self._at_rest(partial(self._switch, local, name))

    def _at_rest(self, switch: Callable[[], None]) -> None:
        """Run ``switch`` once no utterance is half translated; none is opened before."""
        self._switches.append(switch)
        for passage in self._passages:
            passage.hold()

    def _obey_switches(self) -> None:
        """Run the waiting switches; then open the utterances that were held."""
        while self._switches:
            self._switches.popleft()()
        if self._local is not None and self._local.system is not self.targets.captioner:
            for passage in self._passages:
                passage.make_final()
            self.targets.first.go_on_with(self._local.system)
            self._languages.follow_switch()
        for passage in self._passages:
            self._report_all(passage.resume())

    def _switch(self, local: Local, name: str | None) -> None:
        """Translate by another adapter, with a new cache; keep the current one on failure."""
        model, before = local.model, local.model.used
        if name is not None and name == before:
            return
        try:
            model.use_adapter(name)
            system = model.make_system(self._translation, local.log)
        except (SurtitleError, MemoryError, RuntimeError) as error:
            if not is_bearable(error):
                raise
            model.use_adapter(before)
            self._report(Refused(message=message_of(error)))
            return
        system.go_on_after(local.system)
        local.system = system
        self._report_policy()
        self._report(model.adapters_changed)

    def _unload(self, model: "LoadedModel", name: str) -> None:
        try:
            model.unload_adapter(name)
        except SurtitleError as error:
            self._report(Refused(message=error.message))
        else:
            self._report(model.adapters_changed)
