"""The report of a run of ``align``: statistics of links and schedules, as JSON and for a terminal.

They are counted pair by pair; shares are from 0 to 1, lengths in words.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter

from engine.metrics.latency import length_adaptive_average_lagging
from training.data.alignment import Link, agreement, read_n_delays, read_write_runs

READ_N = (1, 3, 5, 7, 9)
"""Values of n whose lagging is reported; 1 is the schedule itself."""

Json = float | str | Mapping[str, "Json"] | None


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
    """Counts of schedules."""

    n_pairs: int = 0
    first_reads: Counter[int] = field(default_factory=Counter)  # words before the first write
    read_runs: Counter[int] = field(default_factory=Counter)  # words -> runs
    write_runs: Counter[int] = field(default_factory=Counter)
    laal: dict[int, float] = field(default_factory=lambda: dict.fromkeys(READ_N, 0.0))  # sums

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


_LAST = 6  # words of a run in the table: longer runs are counted together


@dataclass(slots=True)
class Report:
    """Counts of pairs; pairs = scheduled + all dropped."""

    min_agreement: float | None  # None: schedules come from the lengths alone
    links: LinkStatistics = field(default_factory=LinkStatistics)
    schedules: ScheduleStatistics = field(default_factory=ScheduleStatistics)
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> pairs
    pairs_by_corpus: Counter[str] = field(default_factory=Counter)
    scheduled_by_corpus: Counter[str] = field(default_factory=Counter)

    def count_scheduled(self, corpus: str, needs: Sequence[int], n_source: int) -> None:
        self.pairs_by_corpus[corpus] += 1
        self.scheduled_by_corpus[corpus] += 1
        self.schedules.count(needs, n_source)

    def count_dropped(self, corpus: str, reason: str) -> None:
        """Count a pair without a schedule."""
        self.pairs_by_corpus[corpus] += 1
        self.dropped[reason] += 1

    def as_json(self) -> dict[str, Json]:
        """Return all counts, reasons and corpora by descending count."""
        return {
            "aligner": None if self.min_agreement is None else "eflomal",
            "min_agreement": self.min_agreement,
            "pairs": self.pairs_by_corpus.total(),
            "scheduled": self.scheduled_by_corpus.total(),
            "dropped": dict(self.dropped.most_common()),
            "links": None if self.min_agreement is None else self.links.as_json(),
            "schedule": self.schedules.as_json(),
            "corpora": {
                corpus: {"pairs": n_pairs, "scheduled": self.scheduled_by_corpus[corpus]}
                for corpus, n_pairs in self.pairs_by_corpus.most_common()
            },
        }

    def as_table(self) -> str:
        """Return the most important numbers as a table for a terminal."""
        return "".join(f"{number:>10}  {text}\n" for number, text in self._lines())

    def _lines(self) -> Iterator[tuple[str, str]]:
        yield f"{self.pairs_by_corpus.total():,}", "pairs"
        yield f"{self.scheduled_by_corpus.total():,}", "have a read-n schedule"
        yield f"{self.dropped.total():,}", "have none, and train the other policies only"
        for reason, n_pairs in self.dropped.most_common():
            yield f"{n_pairs:,}", f"  {reason}"
        if self.min_agreement is not None:
            yield from self._link_lines()
        if self.schedules.n_pairs:
            yield from self._schedule_lines()

    def _link_lines(self) -> Iterator[tuple[str, str]]:
        links = self.links.as_json()
        yield _shown(links["mean_agreement"]), "agreement of the two directions, on average"
        yield _shown(links["linked_source_words"]), "of source words have a link"
        yield _shown(links["linked_target_words"]), "of target words have a link"
        yield _shown(links["monotone_pairs"]), "of pairs have no links that cross"

    def _schedule_lines(self) -> Iterator[tuple[str, str]]:
        schedules = self.schedules
        yield _shown(mean(schedules.first_reads)), "words read before the first is written"
        for n in READ_N:
            how = "written as soon as they may be" if n == 1 else f"read {n} at a time"
            yield _shown(schedules.mean_laal(n)), f"LAAL of words {how}"
        for verb, runs in (("read", schedules.read_runs), ("written", schedules.write_runs)):
            yield _shown(mean(runs)), f"words {verb} at a stretch ({_spread(runs)})"


def _shown(value: Json) -> str:
    return "-" if value is None else f"{value:.2f}"


def _spread(runs: Counter[int]) -> str:
    """Return the shares of runs by number of words; long runs are counted together."""
    lengths = Counter[int]()
    for n_words, n_runs in runs.items():
        lengths[min(n_words, _LAST)] += n_runs
    shares = ((n_words, 100 * n_runs / runs.total()) for n_words, n_runs in sorted(lengths.items()))
    return ", ".join(
        f"{n_words}{'+' if n_words == _LAST else ''}: {percent:.0f} %"
        for n_words, percent in shares
    )
