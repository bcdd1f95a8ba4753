"""Carry out commands and caption, one unit of work at a time, on the session's thread.

It imports no model library: ``engine.session.translating`` does what a model can besides.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from engine.errors import SurtitleError
from engine.events import (
    TYPED,
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
    UnloadAdapter,
    UseAdapter,
    UseLanguages,
    WordCommand,
)
from engine.messages import Code, Message
from engine.session.command_queue import CommandQueue
from engine.session.languages import Languages
from engine.settings import TranslationSettings
from engine.text.sentences import source_notice
from engine.translation.captioner import Captioner
from engine.translation.passage import Passage
from engine.translation.targets import Targets, is_bearable

if TYPE_CHECKING:
    from engine.session.loaded_model import LoadedModel


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


class Serving:
    """The passages of all lanes, captioned in all languages.

    Further languages are captioned where the first has nothing to do, and what they left out where
    nothing waits at all.

    Attributes:
        has_work: ``advance`` may have work to do.
        backlog_words: committed source words that are not read yet; any thread may look.
        interrupt: lets what is waited for fail at once; for other threads.
    """

    def __init__(
        self,
        captioner: Captioner,
        translation: TranslationSettings,
        report: Callable[[Event], None],
        wake: Callable[[], None] = lambda: None,
        own: "Callable[[], LoadedModel] | None" = None,
        interrupt: Callable[[], None] = lambda: None,
    ) -> None:
        """Start without words; settings as they were asked for, the rest as for ``Languages``."""
        self.targets = Targets(captioner)
        self.interrupt = interrupt
        self.has_work = False
        self.backlog_words = 0
        self._is_at_rest = False  # since the last command
        self._translation = translation
        self._has_model = own is not None
        self._report = report
        self._passages = Passages(self._new_passage)
        self._languages = Languages(self.targets, translation, report, wake, own)
        self._flushes = deque[int]()  # to report when all is captioned

    def obey_waiting(self, commands: CommandQueue) -> None:
        """Carry out all waiting commands; wait for one if there is none."""
        command = commands.take()
        self._begin_work()
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
            case LoadAdapter() | UseAdapter() | UnloadAdapter() if self._has_model:
                self._report(Refused(message=Code.SERVER_HAS_ITS_ADAPTER()))
            case SetWords() | FeedWords() | EndPassage() | Clear():
                self._change(command)

    def _change(self, command: WordCommand) -> None:
        self._report_all(self._passages.change(command))
        if isinstance(command, Clear):
            self.targets.clear()
            self._report(Cleared())

    def _configure(self, translation: TranslationSettings) -> None:
        """Use other settings; wrong ones are refused and the old ones stay."""
        try:
            notices = self._use(translation)
        except SurtitleError as error:
            if not is_bearable(error):
                raise
            self._report(Refused(message=error.message))
            return
        before, self._translation = self._translation, translation
        self._languages.configure(translation)
        if not self._has_model:
            return
        for notice in notices:
            self._report(Notice(message=notice))
        if translation.source_language != before.source_language:
            self.report_source()
        if translation.glossary != before.glossary:
            self._report(ContextChanged(rows=self.targets.captioner.context_rows))

    def report_source(self) -> None:
        """Report a notice about the source language, if there is one."""
        notice = source_notice(self._translation.source_language)
        if notice is not None:
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
                    self._note(event)
                else:
                    self._report(refusal)
                return
            if passage.is_settled and not self._takes_words(passage):
                self._passages.forget(passage)
        event = self._languages.advance()
        if event is None and not self._finds_more():
            if not self._is_at_rest:
                self._rest()
            event = self.targets.make_up()
            self.has_work, self._is_at_rest = event is not None, True
        if event is not None:
            self._report(event)

    def _keep_pace(self) -> bool:
        """Read larger steps while words wait; report and return a change of the steps."""
        self.backlog_words = self._passages.backlog_words
        limit = self._translation.catch_up_words
        factor = self.targets.first.keep_pace(self.backlog_words, limit)
        if factor is not None:
            self._note_pace(factor)
            self._report(PaceChanged(factor=factor, backlog_words=self.backlog_words))
        return factor is not None

    def _rest(self) -> None:
        """Report that all is captioned, except what further languages left out."""
        while self._flushes:
            self._report(Flushed(number=self._flushes.popleft()))

    def _report_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self._report(event)

    def close(self) -> None:
        self._languages.close()

    # what a kind of session does besides

    def _new_passage(self, lane: str) -> Passage:
        return Passage(self.targets, lane)

    def _use(self, translation: TranslationSettings) -> Iterable[Message]:
        """Configure the captioner; return notices about that."""
        self.targets.captioner.configure(translation)
        return ()

    def _begin_work(self) -> None:
        """Note that a command has come."""

    def _note(self, event: Event) -> None:  # noqa: ARG002  another kind looks at it
        self._keep_pace()

    def _note_pace(self, factor: int) -> None:
        """Note other steps."""

    def _takes_words(self, passage: Passage) -> bool:
        return self._passages.takes_words(passage)

    def _finds_more(self) -> bool:
        """Begin further work where no passage has any; return whether there is some."""
        return self._keep_pace()  # words left for larger steps may be translated now
