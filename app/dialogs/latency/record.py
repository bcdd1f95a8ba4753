"""The data of the latency window: lags of words and the newest counters. No Qt, no clock."""

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from engine.metrics.word_lags import WordLags

if TYPE_CHECKING:
    from engine.events import Statistics


class LatencyRecord:
    """All measurements since the start, or since ``clear``.

    Attributes:
        lags: of words.
        memory_bytes: of this program; None before it was measured.
        newest: the newest counters of the session; None before the first.
    """

    def __init__(self) -> None:
        self.lags = WordLags()
        self.clear()

    def clear(self, now_s: float = 0.0) -> None:
        """Reset everything; words now in progress are not measured."""
        self.lags.clear(now_s)
        self.newest: Statistics | None = None
        self.memory_bytes: int | None = None


EDGES_S = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
"""Upper edges of the bars of a histogram; one more bar has no upper edge."""


def histogram(seconds: Iterable[float], edges: Sequence[float] = EDGES_S) -> list[int]:
    """Count the times up to each edge, that edge included; the last count is of those above."""
    counts = [0] * (len(edges) + 1)
    for value in seconds:
        counts[bisect_left(edges, value)] += 1
    return counts
