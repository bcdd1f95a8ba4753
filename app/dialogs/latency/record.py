"""The data of the latency window: lags of words, counters and memory over time. No Qt, no clock."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence

from engine.events import Statistics
from engine.metrics.word_lags import WordLags

_POINTS = 720  # of a curve


class Curve:
    """Values over time; a long curve drops every second point and then samples more rarely."""

    def __init__(self, most: int = _POINTS) -> None:
        self.points: list[tuple[float, float]] = []
        self._most = most
        self._step, self._n_skipped = 1, 0

    def add(self, at_s: float, value: float) -> None:
        """Append a value."""
        self._n_skipped += 1
        if self._n_skipped < self._step and self.points:
            return
        self._n_skipped = 0
        self.points.append((at_s, value))
        if len(self.points) > self._most:
            self.points = self.points[::2]
            self._step *= 2


class LatencyRecord:
    """All measurements since the start, or since ``clear``.

    Attributes:
        lags: of words.
        tokens_fed, tokens_recomputed, memory: curves, seconds to a count or to bytes.
        newest: the newest counters of the session; None before the first.
    """

    def __init__(self) -> None:
        self.lags = WordLags()
        self.clear()

    def clear(self, now_s: float = 0.0) -> None:
        """Reset everything; words now in progress are not measured."""
        self.lags.clear(now_s)
        self.tokens_fed, self.tokens_recomputed, self.memory = Curve(), Curve(), Curve()
        self.newest: Statistics | None = None

    def count(self, statistics: Statistics, now_s: float) -> None:
        """Record the counters of the session."""
        self.newest = statistics
        self.tokens_fed.add(now_s, statistics.tokens_fed)
        self.tokens_recomputed.add(now_s, statistics.tokens_recomputed)


EDGES_S = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
"""Upper edges of the bars of a histogram; one more bar has no upper edge."""


def histogram(seconds: Iterable[float], edges: Sequence[float] = EDGES_S) -> list[int]:
    """Count the times up to each edge, that edge included; the last count is of those above."""
    counts = [0] * (len(edges) + 1)
    for value in seconds:
        counts[bisect_left(edges, value)] += 1
    return counts
