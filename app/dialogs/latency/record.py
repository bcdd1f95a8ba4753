"""Where the time of each word goes, from its coming to its caption on the screen. Plain, no clock.

A word waits for later words, because the policy does (``wait``); the newest word that a caption
rests on then sets the model to work (``model``); then the caption is painted (``paint``). What
comes before a word is committed, a recogniser tells in sums. Numbers only, nothing of what is said.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from engine.events import (
    CaptionChanged,
    Event,
    SourceChanged,
    Statistics,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)

STAGES = ("capture", "voice activity", "recognition", "wait", "model", "paint")
"""In the order in which a word goes through them."""

COMMITTED, WHOLE = "committed", "whole"
"""From a word to its caption; and to the screen."""

_REMEMBERED = 20_000  # words, two hours of speech
_UTTERANCES = 32  # whose captions may still be painted
_POINTS = 720  # of a curve


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One word came through one stage.

    Attributes:
        stage: one of ``STAGES``, or ``COMMITTED`` or ``WHOLE``.
        utterance: whose word it is.
        seconds: that it took.
    """

    stage: str
    utterance: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StageTime:
    """How long a stage takes; ``n_words`` is 0 where nothing is known of it.

    Attributes:
        median_s: seconds; of a recogniser's stage as it tells.
        p95_s: seconds that 95 % of the words stay within.
    """

    stage: str
    n_words: int = 0
    median_s: float = 0.0
    p95_s: float = 0.0


class Curve:
    """Values over time; as it grows long, every second point is left out and fewer are taken."""

    def __init__(self, most: int = _POINTS) -> None:
        self.points: list[tuple[float, float]] = []
        self._most = most
        self._step, self._n_skipped = 1, 0

    def add(self, at_s: float, value: float) -> None:
        """Take a value."""
        self._n_skipped += 1
        if self._n_skipped < self._step and self.points:
            return
        self._n_skipped = 0
        self.points.append((at_s, value))
        if len(self.points) > self._most:
            self.points = self.points[::2]
            self._step *= 2


@dataclass(slots=True)
class _Utterance:
    lane: str
    came_s: list[float] = field(default_factory=list)  # of each word
    captioned_s: list[float] = field(default_factory=list)  # of the first so many words
    n_painted: int = 0


class LatencyRecord:
    """Follow words from where they come to where they are seen.

    Attributes:
        tokens_fed, tokens_recomputed, memory: curves, seconds to a count or to bytes.
        newest: counters of the session as they were told last; None before that.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Begin anew; words on their way are forgotten."""
        self._waiting = dict[str, deque[float]]()  # by lane: words that no utterance has yet
        self._utterances = dict[int, _Utterance]()
        self._seconds = {
            stage: deque[float](maxlen=_REMEMBERED) for stage in (*STAGES, COMMITTED, WHOLE)
        }
        self._told = dict[str, StageTime]()
        self.tokens_fed, self.tokens_recomputed, self.memory = Curve(), Curve(), Curve()
        self.newest: Statistics | None = None

    def forget_utterances(self) -> None:
        """Forget which utterances there are: another session numbers them anew."""
        self._utterances.clear()

    def words_came(self, n_words: int, now_s: float, lane: str = "") -> None:
        """Take that words were committed, typed or heard, and go to the session now."""
        self._waiting.setdefault(lane, deque()).extend([now_s] * n_words)

    def words_withdrawn(self, n_words: int, lane: str = "") -> None:
        """Take that the newest words were taken back before the session had them."""
        waiting = self._waiting.get(lane, deque())
        for _ in range(min(n_words, len(waiting))):
            waiting.pop()

    def told(self, times: Iterable[StageTime]) -> None:
        """Take what a recogniser says of the stages before words are committed."""
        self._told |= {time.stage: time for time in times}

    def take(self, event: Event, now_s: float) -> list[Sample]:
        """Take an event of the session; return what it adds."""
        match event:
            case UtteranceOpened():
                self._utterances[event.utterance] = _Utterance(event.lane)
                for old in list(self._utterances)[:-_UTTERANCES]:
                    del self._utterances[old]
            case SourceChanged():
                self._place(event, now_s)
            case CaptionChanged():
                return self._caption(event.utterance, event.n_read, now_s)
            case UtteranceEnded():
                return self._caption(event.utterance, None, now_s)
            case UtteranceDropped():
                self._utterances.pop(event.utterance, None)
            case Statistics():
                self.newest = event
                self.tokens_fed.add(now_s, event.tokens_fed)
                self.tokens_recomputed.add(now_s, event.tokens_recomputed)
        return []

    def painted(self, utterance: int, now_s: float) -> list[Sample]:
        """Take that an utterance's caption, as far as it was told, is on the screen."""
        found = self._utterances.get(utterance)
        if found is None:
            return []
        samples = list[Sample]()
        for number in range(found.n_painted, len(found.captioned_s)):
            samples += [
                self._sample("paint", utterance, now_s - found.captioned_s[number]),
                self._sample(WHOLE, utterance, now_s - found.came_s[number]),
            ]
        found.n_painted = len(found.captioned_s)
        return samples

    def stages(self) -> list[StageTime]:
        """Tell of every stage what is known."""
        return [self._told.get(stage) or self.summed(stage) for stage in STAGES]

    def summed(self, stage: str) -> StageTime:
        """Sum up a stage, or ``COMMITTED`` or ``WHOLE``."""
        seconds = sorted(self._seconds[stage])
        if not seconds:
            return StageTime(stage=stage)
        return StageTime(
            stage=stage,
            n_words=len(seconds),
            median_s=seconds[(len(seconds) - 1) // 2],
            p95_s=seconds[-(-95 * len(seconds) // 100) - 1],
        )

    def seconds(self, stage: str) -> Sequence[float]:
        """Give all times of a stage that are remembered."""
        return self._seconds[stage]

    def _place(self, event: SourceChanged, now_s: float) -> None:
        """Give an utterance's new words the times at which they came."""
        found = self._utterances.get(event.utterance)
        if found is None:
            return
        waiting, n_words = self._waiting.get(found.lane, deque()), len(event.words)
        del found.came_s[n_words:]
        del found.captioned_s[n_words:]
        found.n_painted = min(found.n_painted, len(found.captioned_s))
        while len(found.came_s) < n_words:
            found.came_s.append(waiting.popleft() if waiting else now_s)

    def _caption(self, utterance: int, n_read: int | None, now_s: float) -> list[Sample]:
        """Let the caption rest on so many words; None for all of them."""
        found = self._utterances.get(utterance)
        if found is None:
            return []
        n_read = len(found.came_s) if n_read is None else min(n_read, len(found.came_s))
        samples, start = list[Sample](), len(found.captioned_s)
        newest_s = max(found.came_s[start:n_read], default=now_s)
        for came_s in found.came_s[start:n_read]:
            found.captioned_s.append(now_s)
            samples += [
                self._sample("wait", utterance, newest_s - came_s),
                self._sample("model", utterance, now_s - newest_s),
                self._sample(COMMITTED, utterance, now_s - came_s),
            ]
        return samples

    def _sample(self, stage: str, utterance: int, seconds: float) -> Sample:
        seconds = max(0.0, seconds)
        self._seconds[stage].append(seconds)
        return Sample(stage=stage, utterance=utterance, seconds=seconds)


EDGES_S = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
"""Where the bars of a histogram end; the last one has no end."""


def histogram(seconds: Iterable[float], edges: Sequence[float] = EDGES_S) -> list[int]:
    """Count times between the edge before and each edge, that edge included; last those above."""
    counts = [0] * (len(edges) + 1)
    for one in seconds:
        counts[next((i for i, edge in enumerate(edges) if one <= edge), len(edges))] += 1
    return counts
