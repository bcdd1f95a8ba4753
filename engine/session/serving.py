"""Carry out commands and caption, one unit of work at a time, on the session's thread.

It imports no model library: ``engine.session.translating`` does what needs a model.
"""

from collections import deque
from collections.abc import Callable, Iterable, Iterator

from engine.commands import (
    Clear,
    Command,
    Configure,
    EndPassage,
    FeedWords,
    Flush,
    MakeUp,
    SetWords,
    Skip,
    UseLanguages,
    WordCommand,
)
from engine.events import Cleared, Event, Flushed, Refused
from engine.messages import Code
from engine.session.command_queue import CommandQueue
from engine.session.further_languages import FurtherLanguages
from engine.settings import TranslationSettings
from engine.translation.passage import Passage
from engine.words import TYPED


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
        """Carry out a command; return what changed."""
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
        """Return whether words may still come into a passage."""
        return passage in self._current.values()

    def forget(self, passage: Passage) -> None:
        """Forget a passage that nothing can change any more."""
        self._passages.remove(passage)
        passage.forget()

    def _of(self, lane: str) -> Passage:
        """Return the passage of a lane that takes words."""
        if lane not in self._current:
            self._current[lane] = self._begin(lane)
            self._passages.append(self._current[lane])
        return self._current[lane]


class Serving:
    """The passages of all lanes, whose captions are made by a captioner.

    Further languages are captioned where that one has nothing to do, and what they left out where
    nothing waits at all.

    Attributes:
        has_work: ``advance`` may have work to do.
        backlog_words: committed source words that are not read yet; any thread may look.
    """

    def __init__(
        self,
        begin: Callable[[str], Passage],
        report: Callable[[Event], None],
        further: FurtherLanguages,
    ) -> None:
        """Start without words.

        Args:
            begin: makes the passage of a lane.
            report: receives the events.
            further: languages beside the one of the passages.
        """
        self.has_work = False
        self.backlog_words = 0
        self._is_at_rest = False  # since the last command
        self._report = report
        self._passages = Passages(begin)
        self._further = further
        self._flushes = deque[int]()  # to report when all is captioned

    def obey_waiting(self, commands: CommandQueue) -> None:
        """Carry out all waiting commands; wait for one if there is none."""
        command = commands.take()
        self._begin_work()
        while command is not None:
            self._obey(command)
            command = None if commands.is_empty else commands.take()
        self._further.take_loaded(self._passages)
        n_refused = commands.take_refused()
        if n_refused:
            message = Code.WORDS_REFUSED(n_words=n_refused, most=commands.max_words)
            self._report(Refused(message=message))
        self.has_work, self._is_at_rest = True, False

    def _obey(self, command: Command) -> None:
        match command:
            case Configure(translation):
                self._configure(translation)
            case UseLanguages(further):
                self._further.use(further, self._passages)
            case MakeUp():
                self._further.owe(command)
            case Skip(typed):
                self._skip(typed=typed)
            case Flush(number):
                self._flushes.append(number)
            case SetWords() | FeedWords() | EndPassage() | Clear():
                self._report_all(self._passages.change(command))
                if isinstance(command, Clear):
                    self._further.captions.clear()
                    self._report(Cleared())

    def _skip(self, *, typed: bool) -> None:
        """Leave whole sentences that wait without a caption."""
        skipped = (one.skip() for one in self._passages if typed or one.was_heard)
        left = [number for numbers in skipped for number in numbers]
        if typed:  # heard words alone leave it to the further languages to keep up
            self._further.captions.skip(left)

    def advance(self) -> None:
        """Do one unit of work: extend one caption, or what waits for all to be settled.

        ``has_work`` is False once nothing is left to do.
        """
        for passage in self._passages:
            event = self._advance(passage)
            if event is not None:
                self._report(event)
                self._note(event)
                return
            if passage.is_settled and not self._takes_words(passage):
                self._passages.forget(passage)
        event = self._further.advance()
        if event is None and not self._finds_more():
            if not self._is_at_rest:
                self._rest()
            event = self._further.captions.make_up()
            self.has_work, self._is_at_rest = event is not None, True
        if event is not None:
            self._report(event)

    def interrupt(self) -> None:
        """Let what is waited for fail at once; for other threads."""

    def _rest(self) -> None:
        """Report that all is captioned, but for what further languages left out."""
        while self._flushes:
            self._report(Flushed(number=self._flushes.popleft()))

    def _report_all(self, events: Iterable[Event]) -> None:
        for event in events:
            self._report(event)

    def close(self) -> None:
        """End what loads."""
        self._further.close()

    # what depends on the captioner

    def _configure(self, translation: TranslationSettings) -> None:
        """Use other settings."""
        raise NotImplementedError

    def _begin_work(self) -> None:
        """Note that a command has come."""

    def _advance(self, passage: Passage) -> Event | None:
        return passage.advance()

    def _note(self, event: Event) -> None:
        """Note what was reported of a passage."""

    def _takes_words(self, passage: Passage) -> bool:
        """Whether words may still come into a passage."""
        return self._passages.takes_words(passage)

    def _finds_more(self) -> bool:
        """Begin further work where no passage has any; return whether there is some."""
        return False
