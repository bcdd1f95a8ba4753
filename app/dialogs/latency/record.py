"""What the latency window shows: times of words, counters and memory over time. Plain, no clock."""

from collections.abc import Iterable, Sequence

from engine.events import Statistics
from engine.metrics.word_lags import WordLags

_POINTS = 720  # of a curve


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
    """Keep what was measured since the start, or since it was cleared.

    Attributes:
        lags: of words.
        tokens_fed, tokens_recomputed, memory: curves, seconds to a count or to bytes.
        newest: counters of the session as they were reported last; None before that.
    """

    def __init__(self) -> None:
        self.lags = WordLags()
        self.clear()

    def clear(self, now_s: float = 0.0) -> None:
        """Begin anew; words on their way now are not measured."""
        self.lags.clear(now_s)
        self.tokens_fed, self.tokens_recomputed, self.memory = Curve(), Curve(), Curve()
        self.newest: Statistics | None = None

    def count(self, statistics: Statistics, now_s: float) -> None:
        """Take the counters of the session."""
        self.newest = statistics
        self.tokens_fed.add(now_s, statistics.tokens_fed)
        self.tokens_recomputed.add(now_s, statistics.tokens_recomputed)


EDGES_S = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
"""Where the bars of a histogram end; the last one has no end."""


def histogram(seconds: Iterable[float], edges: Sequence[float] = EDGES_S) -> list[int]:
    """Count times between the edge before and each edge, that edge included; last those above."""
    counts = [0] * (len(edges) + 1)
    for one in seconds:
        counts[next((i for i, edge in enumerate(edges) if one <= edge), len(edges))] += 1
    return counts
