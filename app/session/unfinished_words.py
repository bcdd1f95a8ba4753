"""Which words, typed or heard, no session has captioned yet. Plain Python, no clock.

Each word has a number of its own in its lane, so what a session has ended is known by the numbers
of the words in its utterances.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from engine.events import TYPED, Command, EndPassage, FedWord, FeedWords, SetWords, n_same_ends
from engine.utterances import Utterance


class TypedLine:
    """The typed words before Enter; one that does not change keeps its number and its time."""

    def __init__(self) -> None:
        self._words: tuple[FedWord, ...] = ()
        self._n_words = 0  # of all lines
        self._captioned = frozenset[int]()  # by sessions before, which have the words no more

    def change(self, texts: Sequence[str], now_s: float) -> SetWords:
        """Follow a change of the line; return what the session is to have of it."""
        before = [word.text for word in self._words]
        n_head, n_tail = n_same_ends(before, texts)
        fresh = [
            FedWord(text, number=number, committed_at_s=now_s)
            for number, text in enumerate(
                texts[n_head : len(texts) - n_tail], start=self._n_words + 1
            )
        ]
        self._n_words += len(fresh)
        self._words = (*self._words[:n_head], *fresh, *self._words[len(before) - n_tail :])
        if not self._captioned <= _numbers(self._words):
            self._captioned = frozenset()  # a correction; no session can change what it was
        words = (word for word in self._words if word.number not in self._captioned)
        return SetWords(tuple(words))

    def end(self) -> None:
        self._words, self._captioned = (), frozenset()

    def go_on(self, waiting: Iterable[Command]) -> None:
        """Let another session caption what waits; the rest of the line has its caption."""
        typed = (one for one in waiting if isinstance(one, SetWords))
        left = {number for one in typed for number in _numbers(one.words)}
        self._captioned = _numbers(self._words) - left


def append(commands: list[Command], command: Command) -> None:
    """Append a command; the words of a typed passage replace those of before."""
    if isinstance(command, SetWords):
        for place in range(len(commands) - 1, -1, -1):  # many lines of before may be there
            before = commands[place]
            if isinstance(before, SetWords):
                del commands[place]
            if isinstance(before, SetWords) or before == EndPassage(TYPED):
                break
    commands.append(command)


def unfinished(commands: Sequence[Command], ended: Iterable[Utterance]) -> list[Command]:
    """Leave out words of utterances that ended with just these, and ends of empty passages."""
    fed, done = set[tuple[str, int]](), set[tuple[str, int]]()
    for command in commands:
        if isinstance(command, SetWords | FeedWords):
            fed |= {(command.lane, number) for number in _numbers(command.words)}
    for utterance in ended:
        its = {(utterance.lane, number) for number in _numbers(utterance.words)}
        done |= its if its <= fed else set()
    rest, lanes = list[Command](), set[str]()
    for command in commands:
        if isinstance(command, SetWords | FeedWords):
            lane = command.lane
            words = tuple(word for word in command.words if (lane, word.number) not in done)
            rest += [replace(command, words=words)] if words else []
            lanes |= {lane} if words else set()
        elif not isinstance(command, EndPassage) or command.lane in lanes:
            rest.append(command)
    return rest


def _numbers(words: Iterable[FedWord]) -> frozenset[int]:
    return frozenset(word.number for word in words)
