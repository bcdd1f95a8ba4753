"""Where the time of each word goes, from its coming to its caption on the screen. Plain, no clock.

A word waits for later words, because the policy does (``wait``); the newest word that a caption
rests on then sets the model to work (``model``); then the caption is painted (``paint``). What
comes before a word is committed, a recogniser tells in sums. Numbers only, nothing of what is said.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from engine.events import Statistics
from engine.utterances import Utterance

STAGES = ("capture", "voice activity", "recognition", "wait", "model", "paint")
"""In the order in which a word goes through them."""

COMMITTED, WHOLE = "committed", "whole"
"""From a word to its caption; and to the screen."""

_REMEMBERED = 20_000  # words, two hours of speech
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


class LatencyRecord:
    """Measure words from where they come to where they are seen.

    Attributes:
        tokens_fed, tokens_recomputed, memory: curves, seconds to a count or to bytes.
        newest: counters of the session as they were told last; None before that.
    """

    def __init__(self) -> None:
        self.clear()

    def clear(self, now_s: float = 0.0) -> None:
        """Begin anew; words on their way now are not measured."""
        self._since_s = now_s
        self._seconds = {
            stage: deque[float](maxlen=_REMEMBERED) for stage in (*STAGES, COMMITTED, WHOLE)
        }
        self._told = dict[str, StageTime]()
        self.tokens_fed, self.tokens_recomputed, self.memory = Curve(), Curve(), Curve()
        self.newest: Statistics | None = None

    def told(self, times: Iterable[StageTime]) -> None:
        """Take what a recogniser says of the stages before words are committed."""
        self._told |= {time.stage: time for time in times}

    def take(self, utterance: Utterance, now_s: float) -> list[Sample]:
        """Take an utterance that changed; return what its words with a new caption add."""
        words = [one for one in utterance.new_captioned if one.committed_at_s >= self._since_s]
        newest_s = max((word.committed_at_s for word in words), default=now_s)
        return [
            self._sample(stage, utterance, seconds)
            for word in words
            for stage, seconds in (
                ("wait", newest_s - word.committed_at_s),
                ("model", now_s - newest_s),
                (COMMITTED, now_s - word.committed_at_s),
            )
        ]

    def count(self, statistics: Statistics, now_s: float) -> None:
        """Take the counters of the session."""
        self.newest = statistics
        self.tokens_fed.add(now_s, statistics.tokens_fed)
        self.tokens_recomputed.add(now_s, statistics.tokens_recomputed)

    def painted(self, utterance: Utterance, now_s: float) -> list[Sample]:
        """Take that an utterance's caption, as far as it was reported, is on the screen."""
        return [
            self._sample(stage, utterance, now_s - since_s)
            for word, captioned_at_s in utterance.take_shown()
            if word.committed_at_s >= self._since_s
            for stage, since_s in (("paint", captioned_at_s), (WHOLE, word.committed_at_s))
        ]

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

    def _sample(self, stage: str, utterance: Utterance, seconds: float) -> Sample:
        seconds = max(0.0, seconds)
        self._seconds[stage].append(seconds)
        return Sample(stage=stage, utterance=utterance.number, seconds=seconds)


EDGES_S = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
"""Where the bars of a histogram end; the last one has no end."""


def histogram(seconds: Iterable[float], edges: Sequence[float] = EDGES_S) -> list[int]:
    """Count times between the edge before and each edge, that edge included; last those above."""
    counts = [0] * (len(edges) + 1)
    for one in seconds:
        counts[next((i for i, edge in enumerate(edges) if one <= edge), len(edges))] += 1
    return counts
