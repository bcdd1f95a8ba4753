"""The report of a run of ``align``, as JSON and for a terminal."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from training.data.schedule_statistics import READ_N, Json, LinkStatistics, ScheduleStatistics, mean

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
        """Count a pair that got a schedule."""
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
