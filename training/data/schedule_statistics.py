"""Statistics of read-n data: of its links, and of its schedules.

Both classes count pair by pair and return JSON values; shares are from 0 to 1, lengths in words.
``training.data.aligned_pairs`` writes them beside the data.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import groupby
from operator import itemgetter

import numpy as np
from numpy.typing import NDArray

from engine.metrics.latency import length_adaptive_average_lagging
from training.data.read_schedule import read_n_delays, read_write_runs
from training.data.word_alignment import Link, agreement

READ_N = (1, 3, 5, 7, 9)
"""Values of n whose lagging is reported; 1 is the schedule itself."""

BINS = 24
"""Parts of a sentence in the grid of a figure."""

Json = float | str | Mapping[str, "Json"] | None
Grid = NDArray[np.float64]


@dataclass(slots=True)
class LinkStatistics:
    """Counts of the links of aligned pairs, trusted or not."""

    n_either: int = 0  # links of either direction
    n_both: int = 0
    n_kept: int = 0
    n_monotone: int = 0  # pairs
    n_source_words: int = 0
    n_target_words: int = 0
    n_linked_source_words: int = 0
    n_linked_target_words: int = 0
    agreements: list[float] = field(default_factory=list)

    def count(
        self, directions: tuple[set[Link], set[Link]], links: set[Link], lengths: tuple[int, int]
    ) -> None:
        """Count a pair.

        Args:
            directions: source to target, target to source.
            links: joined from both.
            lengths: words of source and target.
        """
        forward, reverse = directions
        self.n_either += len(forward | reverse)
        self.n_both += len(forward & reverse)
        self.n_kept += len(links)
        self.n_monotone += is_monotone(links)
        self.n_source_words += lengths[0]
        self.n_target_words += lengths[1]
        self.n_linked_source_words += len({source for source, _ in links})
        self.n_linked_target_words += len({target for _, target in links})
        self.agreements.append(agreement(forward, reverse))

    def as_json(self) -> dict[str, Json]:
        """Return all statistics.

        ``monotone_pairs`` is the share of pairs without crossing links; ``agreement`` counts pairs
        by tenths, with a bin of its own for full agreement.
        """
        tenths = Counter(int(10 * agreement) for agreement in self.agreements)
        return {
            "links": self.n_kept,
            "links_in_both_directions": share(self.n_both, self.n_either),
            "linked_source_words": share(self.n_linked_source_words, self.n_source_words),
            "linked_target_words": share(self.n_linked_target_words, self.n_target_words),
            "monotone_pairs": share(self.n_monotone, len(self.agreements)),
            "mean_agreement": share(sum(self.agreements), len(self.agreements)),
            "agreement": {f"{tenth / 10}": tenths[tenth] for tenth in range(11)},
        }


@dataclass(slots=True)
class ScheduleStatistics:
    """Counts of schedules.

    Attributes:
        grid: float64, shape (BINS, BINS); for each part of the targets (row) the distribution of
            the needed source words over parts of the sources (column). Every pair adds 1 in all.
    """

    n_pairs: int = 0
    first_reads: Counter[int] = field(default_factory=Counter)  # words before the first write
    read_runs: Counter[int] = field(default_factory=Counter)  # words -> runs
    write_runs: Counter[int] = field(default_factory=Counter)
    laal: dict[int, float] = field(default_factory=lambda: dict.fromkeys(READ_N, 0.0))  # sums
    grid: Grid = field(default_factory=lambda: np.zeros((BINS, BINS)))

    def count(self, needs: Sequence[int], n_source: int) -> None:
        """Count the schedule of a pair with target words."""
        self.n_pairs += 1
        self.first_reads[needs[0]] += 1
        for run in read_write_runs(needs, n_source):
            self.read_runs[run.n_read] += 1
            self.write_runs[run.n_written] += 1
        for n in READ_N:
            delays = read_n_delays(needs, n, n_source)
            self.laal[n] += length_adaptive_average_lagging(delays, n_source, len(needs))
        asked_for = n_source * _overlaps(n_source)[np.asarray(needs) - 1]
        self.grid += _overlaps(len(needs)).T @ asked_for

    def mean_laal(self, n: int) -> float | None:
        """Return the LAAL of a model that reads ``n`` at a time and writes all it may."""
        return share(self.laal[n], self.n_pairs)

    def as_json(self) -> dict[str, Json]:
        """Return means over pairs, and counts by words; an empty mean is None."""
        return {
            "mean_first_read": mean(self.first_reads),
            "laal": self.mean_laal(1),
            "laal_of_read_n": {str(n): self.mean_laal(n) for n in READ_N[1:]},
            "runs_per_pair": share(self.read_runs.total(), self.n_pairs),
            "mean_read_run": mean(self.read_runs),
            "mean_write_run": mean(self.write_runs),
            "first_reads": _by_words(self.first_reads),
            "read_runs": _by_words(self.read_runs),
            "write_runs": _by_words(self.write_runs),
        }


def is_monotone(links: set[Link]) -> bool:
    """Return whether no two links cross."""
    furthest = -1  # target word linked to an earlier source word
    for _, of_one_word in groupby(sorted(links), key=itemgetter(0)):
        targets = [target for _, target in of_one_word]  # rising
        if targets[0] < furthest:
            return False
        furthest = targets[-1]
    return True


def share(part: float, whole: float) -> float | None:
    """Divide and round to four digits; None if ``whole`` is 0."""
    return round(part / whole, 4) if whole else None


def mean(counts: Counter[int]) -> float | None:
    """Return the mean of counted values, or None without values."""
    return share(sum(value * n for value, n in counts.items()), counts.total())


def _by_words(counts: Counter[int]) -> dict[str, int]:
    return {str(n_words): counts[n_words] for n_words in sorted(counts)}


@lru_cache(maxsize=512)
def _overlaps(n_words: int) -> Grid:
    """Return the share of a sentence that each word covers in each part: shape (n_words, BINS)."""
    edges = np.linspace(0, 1, BINS + 1)
    starts = np.arange(n_words)[:, None] / n_words
    ends = np.minimum(edges[1:], starts + 1 / n_words)
    covered: Grid = np.clip(ends - np.maximum(edges[:-1], starts), 0, None)
    return covered
