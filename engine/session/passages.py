"""The passages of all lanes, changed by the commands that carry words."""

from collections.abc import Callable, Iterator

from engine.commands import Clear, EndPassage, FeedWords, SetWords, WordCommand
from engine.events import Event
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
            case Clear():
                return [event for one in self._passages for event in one.drop()]

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
