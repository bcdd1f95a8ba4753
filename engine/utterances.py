"""Track a session by its events: the words that are fed, and the utterances they become.

Plain Python: no clock, no thread. Words are counted, not searched: the words fed in a lane return
in that lane's utterances, in the same order.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from engine.events import (
    CaptionChanged,
    Confidence,
    Event,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)

TYPED = ""
"""The lane of typed words in the window; in the terminal it may be that of the only source."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FedWord:
    """A committed word on its way through the session.

    Attributes:
        committed_at_s: when it became certain, by the clock of all these times.
        spoken_at_s: when its end was spoken; None if it was typed, or this is not known yet.
        start_s: its start on the lane's timeline.
        end_s: its end on the lane's timeline.
        ends_passage: whether it is the last of its passage.
    """

    text: str = ""
    committed_at_s: float
    spoken_at_s: float | None = None
    start_s: float = 0.0
    end_s: float = 0.0
    ends_passage: bool = False


@dataclass(slots=True, kw_only=True)
class Utterance:
    """The current state of an utterance; only the tracker changes it.

    Attributes:
        key: unique while the program runs.
        number: its number in the session; another session starts from 0 again.
        lane: the speaker, if there are two.
        before_key: key of the utterance that followed it when it was opened; None: it was the last.
        words: its source.
        caption: its translation so far.
        pieces: each change of the caption: its length in characters, and the words it is based on.
        ended: whether its translation is complete.
        confidence: how sure the model is of the complete caption; None if it is not known.
        begun_at_s: start of its first word; when that was typed, if it is typed.
        said_until_s: end of its last word; None if it is typed.
        fed: its words as they were fed; fewer than ``words`` if the lane was not fed here.
        captioned_at_s: when each of the first of them got its caption.
        new_captioned: those of them that got their caption by the last event.
    """

    key: int
    number: int
    lane: str
    before_key: int | None
    begun_at_s: float
    said_until_s: float | None = None
    words: tuple[str, ...] = ()
    caption: str = ""
    pieces: list[tuple[int, int]] = field(default_factory=list)
    ended: bool = False
    confidence: Confidence | None = None
    fed: list[FedWord] = field(default_factory=list)
    captioned_at_s: list[float] = field(default_factory=list)
    new_captioned: Sequence[FedWord] = ()
    _n_shown: int = 0
    _is_cleared: bool = False

    @property
    def source(self) -> str:
        """Its words as a text."""
        return " ".join(self.words)

    def take_shown(self) -> list[tuple[FedWord, float]]:
        """Note that the caption was painted; return the new words, and when each was captioned."""
        n_before, self._n_shown = self._n_shown, len(self.captioned_at_s)
        new = slice(n_before, self._n_shown)
        return list(zip(self.fed[new], self.captioned_at_s[new], strict=True))


class UtteranceTracker:
    """Feed it words before the session, and every event after.

    Invariant: each fed word waits in its lane or is in one utterance, until that one has ended or
    is dropped.
    """

    def __init__(self, *, n_ended_kept: int = 1000) -> None:
        """Start empty; the newest ``n_ended_kept`` ended utterances can still change."""
        self._n_ended_kept = n_ended_kept
        self._waiting: dict[str, deque[FedWord]] = {}  # by lane: words no utterance has yet
        self._n_fed = Counter[str]()
        self._utterances: dict[int, Utterance] = {}  # by number, in the order they were opened
        self._next_key = 0

    def new_key(self) -> int:
        """Return an unused key."""
        self._next_key += 1
        return self._next_key - 1

    # words

    def feed(self, lane: str, words: Iterable[FedWord]) -> None:
        """Take words that are sent to the session, and count the words of this lane."""
        waiting = self._waiting.setdefault(lane, deque())
        n_before = len(waiting)
        waiting.extend(words)
        self._n_fed[lane] += len(waiting) - n_before

    def withdraw(self, lane: str, n_words: int | None = None) -> None:
        """Remove the newest words that no utterance has yet; None for all of them."""
        waiting = self._waiting.get(lane, deque())
        for _ in range(len(waiting) if n_words is None else min(n_words, len(waiting))):
            waiting.pop()

    def end_passage(self, lane: str) -> None:
        """Note that the passage of a lane ended after the newest word."""
        newest_first: list[deque[FedWord] | list[FedWord]] = [self._waiting.get(lane, deque())]
        newest_first += [it.fed for it in reversed(self._utterances.values()) if it.lane == lane]
        for words in newest_first:
            if words:
                words[-1] = replace(words[-1], ends_passage=True)
                return

    def n_fed(self, lane: str) -> int:
        """Return the number of words that were ever fed."""
        return self._n_fed[lane]

    def n_waiting(self, lane: str) -> int:
        """Return the number of words that no utterance has yet."""
        return len(self._waiting.get(lane, ()))

    def fed_at_s(self, lane: str, n_newest: int) -> float | None:
        """Return when the first of the newest words was fed; None if an utterance has it."""
        waiting = self._waiting.get(lane, deque())
        return waiting[-n_newest].committed_at_s if 0 < n_newest <= len(waiting) else None

    @property
    def n_uncaptioned(self) -> int:
        """The number of words in all lanes without a caption."""
        placed = (len(one.fed) - len(one.captioned_at_s) for one in self._utterances.values())
        return sum(map(len, self._waiting.values())) + sum(placed)

    @property
    def all_ended(self) -> bool:
        """Whether every word is in an utterance whose translation is complete."""
        is_placed = not any(self._waiting.values())
        return is_placed and all(one.ended for one in self._utterances.values() if one.fed)

    def unplaced(self, lane: str, n_left_out: int = 0) -> Iterator[tuple[tuple[str, ...], bool]]:
        """Yield the words without an utterance by passage, and whether each passage has ended.

        The newest ``n_left_out`` words are left out.
        """
        passage: list[str] = []
        for word in list(self._waiting.get(lane, ()))[: self.n_waiting(lane) - n_left_out]:
            passage.append(word.text)
            if word.ends_passage:
                yield tuple(passage), True
                passage = []
        if passage:
            yield tuple(passage), False

    # utterances

    @property
    def lanes(self) -> list[str]:
        """The lanes of recognised words."""
        return [lane for lane in self._waiting if lane != TYPED]

    @property
    def open(self) -> list[Utterance]:
        """The utterances whose translation is not complete."""
        return [one for one in self._utterances.values() if not (one.ended or one._is_cleared)]

    @property
    def unshown(self) -> list[Utterance]:
        """The utterances with captioned words that were not painted yet."""
        return [one for one in self._utterances.values() if one._n_shown < len(one.captioned_at_s)]

    def __getitem__(self, number: int) -> Utterance:
        """Return an utterance by its number in the session."""
        return self._utterances[number]

    def with_key(self, key: int) -> Utterance | None:
        """Return the utterance with a key, if it can still change."""
        newest_first = reversed(self._utterances.values())
        return next((one for one in newest_first if one.key == key), None)

    def take(self, event: Event, now_s: float) -> Utterance | None:
        """Take an event of the session; return its utterance, or None.

        None for events without an utterance, and for utterances that were cleared or forgotten.

        Raises:
            ValueError: the event keeps more of a caption than there is.
        """
        if isinstance(event, UtteranceOpened):
            return self._open(event, now_s)
        if not isinstance(
            event, SourceChanged | CaptionChanged | UtteranceEnded | UtteranceDropped
        ):
            return None
        utterance = self._utterances.get(event.utterance)
        if utterance is None:
            return None
        utterance.new_captioned = ()
        match event:
            case SourceChanged(words=words):
                utterance.words, utterance.ended, utterance.confidence = words, False, None
                self._place(utterance, now_s)
            case CaptionChanged():
                _write(utterance, event)
                _caption(utterance, event.n_read, now_s)
            case UtteranceEnded(confidence=confidence):
                utterance.ended, utterance.confidence = True, confidence
                _caption(utterance, len(utterance.fed), now_s)
                self._forget_oldest()
            case UtteranceDropped():
                del self._utterances[event.utterance]
        return None if utterance._is_cleared else utterance

    def clear(self) -> None:
        """Track the current utterances further, but do not return them any more."""
        for utterance in self._utterances.values():
            utterance._is_cleared = True

    def restart(self) -> None:
        """Prepare for another session, which numbers from the start again.

        Recognised words of unfinished utterances wait again; the window sets typed ones.
        """
        for _, one in sorted(self._utterances.items(), reverse=True):
            if not one.ended and one.lane in self._waiting and one.lane != TYPED:
                self._waiting[one.lane].extendleft(reversed(one.fed))
        self._utterances.clear()

    def _open(self, event: UtteranceOpened, now_s: float) -> Utterance:
        follower = None if event.before is None else self._utterances.get(event.before)
        utterance = self._utterances[event.utterance] = Utterance(
            key=self.new_key(),
            number=event.utterance,
            lane=event.lane,
            before_key=None if follower is None else follower.key,
            begun_at_s=now_s,
        )
        return utterance

    def _place(self, utterance: Utterance, now_s: float) -> None:
        """Set the new words of an utterance; words made by an edit have the current time."""
        waiting, n_words = self._waiting.get(utterance.lane), len(utterance.words)
        if waiting is None:
            return
        fed = utterance.fed[:n_words]
        while len(fed) < n_words:
            fed.append(waiting.popleft() if waiting else FedWord(committed_at_s=now_s))
        _set_words(utterance, fed)
        del utterance.captioned_at_s[n_words:]
        utterance._n_shown = min(utterance._n_shown, len(utterance.captioned_at_s))

    def _forget_oldest(self) -> None:
        ended = [number for number, one in self._utterances.items() if one.ended]
        for number in ended[: -self._n_ended_kept]:
            del self._utterances[number]


def _set_words(utterance: Utterance, words: list[FedWord]) -> None:
    utterance.fed = words
    if words:
        first, last = words[0], words[-1]
        if first.spoken_at_s is not None:
            utterance.begun_at_s = first.spoken_at_s - (first.end_s - first.start_s)
        else:  # it may have waited
            utterance.begun_at_s = min(utterance.begun_at_s, first.committed_at_s)
        utterance.said_until_s = last.spoken_at_s


def _write(utterance: Utterance, change: CaptionChanged) -> None:
    if change.kept > len(utterance.caption):
        msg = (
            f"{change.kept} characters were to stay of a caption that has {len(utterance.caption)}"
        )
        raise ValueError(msg)
    utterance.caption = utterance.caption[: change.kept] + change.text
    utterance.pieces = [piece for piece in utterance.pieces if piece[0] <= change.kept]
    utterance.pieces.append((len(utterance.caption), change.n_read))
    utterance.ended, utterance.confidence = False, None


def _caption(utterance: Utterance, n_read: int, now_s: float) -> None:
    utterance.new_captioned = utterance.fed[len(utterance.captioned_at_s) : n_read]
    utterance.captioned_at_s += [now_s] * len(utterance.new_captioned)
