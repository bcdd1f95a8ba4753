"""Word alignment becomes the read-n schedule of a pair.

Links between source and target words of the same meaning come from eflomal (Östling and Tiedemann
2016, https://ufal.mff.cuni.cz/pbml/106/art-ostling-tiedemann.pdf), run in both directions; these
are joined by grow-diag-final-and (Koehn et al. 2005). Only whitespace words are aligned, the unit
that policies count. A schedule is the tuple ``needs``: for each target word, the number of source
words it needs, from 1 and never falling. It comes from the links (``needed_words``) or, without an
aligner, from the lengths alone (``ratio_needs``). docs/read_n_data.md describes the file format.
"""

import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, pairwise, repeat
from pathlib import Path
from statistics import fmean
from subprocess import CalledProcessError

from training.data.corpus import SentencePair, read_lines
from training.errors import CorpusError, TrainingError

Link = tuple[int, int]
"""Source word and target word, both from 0."""

_NEIGHBOURS = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))
_STEM_LETTERS = 6  # enough to distinguish words, few enough to pool inflected forms
_PUNCTUATION = ".,;:!?…\"'“”„‚‘’«»()[]{}-–—"


def aligner_form(text: str) -> str:
    """Fold a sentence for the aligner: lower case, no punctuation, the same number of words."""
    return " ".join(_fold(word) for word in text.split())


def _fold(word: str) -> str:
    bare = word.lower().strip(_PUNCTUATION)
    return (bare or word)[:_STEM_LETTERS]


def align(pairs: Sequence[SentencePair]) -> Iterator[tuple[set[Link], set[Link]]]:
    """Align all pairs in both directions; yield (source to target, target to source) links.

    The aligner seeds itself, so two runs differ in some links. A pair with a side that is empty or
    has over 1,023 words gets no links.
    """
    try:
        from eflomal import Aligner  # noqa: PLC0415  an optional extra: surtitle[align]
    except ImportError as error:
        msg = "word alignment needs eflomal: install it with pip install 'surtitle[align]'"
        raise TrainingError(msg) from error
    with tempfile.TemporaryDirectory() as folder:
        forward, reverse = Path(folder, "forward"), Path(folder, "reverse")
        try:
            Aligner().align(
                [aligner_form(pair.source) for pair in pairs],
                [aligner_form(pair.target) for pair in pairs],
                links_filename_fwd=str(forward),
                links_filename_rev=str(reverse),
            )
            ahead, back = (one.read_text("utf-8").splitlines() for one in (forward, reverse))
        except (CalledProcessError, OSError, ValueError) as error:
            raise _failed(str(error)) from error
    if not len(ahead) == len(back) == len(pairs):
        reason = f"{len(pairs)} pairs gave {len(ahead)} and {len(back)} lines of links"
        raise _failed(reason)
    yield from zip(map(parse_links, ahead), map(parse_links, back), strict=True)


def _failed(reason: str) -> TrainingError:
    return TrainingError(
        f"eflomal was to align all pairs and failed ({reason}): see that there is memory and "
        "room for temporary files, or use --ratio"
    )


def parse_links(line: str) -> set[Link]:
    """Read links in Pharaoh's form: ``0-0 1-2``."""
    links = set[Link]()
    for link in line.split():
        source, target = link.split("-")
        links.add((int(source), int(target)))
    return links


def agreement(forward: set[Link], reverse: set[Link]) -> float:
    """Return the agreement of the directions: links in both over links in either, 0 to 1."""
    either = len(forward | reverse)
    return len(forward & reverse) / either if either else 0.0


def symmetrise(forward: set[Link], reverse: set[Link]) -> set[Link]:
    """Join two directions by grow-diag-final-and (Koehn et al. 2005, IWSLT)."""
    joined = _Symmetrised(forward & reverse)
    joined.grow_diagonally(forward | reverse)
    for direction in (forward, reverse):  # final-and: both sides still free
        for link in sorted(direction):
            if link[0] not in joined.sources and link[1] not in joined.targets:
                joined.add(link)
    return joined.links


class _Symmetrised:
    """Links, and the words of either side that have a link."""

    def __init__(self, links: set[Link]) -> None:
        self.links = set[Link]()
        self.sources = set[int]()
        self.targets = set[int]()
        for link in links:
            self.add(link)

    def add(self, link: Link) -> None:
        self.links.add(link)
        self.sources.add(link[0])
        self.targets.add(link[1])

    def grow_diagonally(self, union: set[Link]) -> None:
        """Add neighbours of links from the union, if a side is still free, until none is left."""
        grown = True
        while grown:
            grown = False
            for source, target in sorted(self.links):
                for step_source, step_target in _NEIGHBOURS:
                    link = (source + step_source, target + step_target)
                    free = link[0] not in self.sources or link[1] not in self.targets
                    if free and link in union and link not in self.links:
                        self.add(link)
                        grown = True


def needed_words(links: Iterable[Link], n_source: int, n_target: int) -> tuple[int, ...]:
    """Return how many source words must be read before each target word may be written.

    g(y) is the running maximum of the largest source word aligned to y, including the first word
    (after Wang et al. 2024, Conversational SimulMT, https://arxiv.org/abs/2402.10552). A word
    without a link, mostly an article, a pronoun or a particle, waits for the next linked word, or
    for the whole source if there is none; docs/experiments.md has gains and costs.

    Args:
        links: in any order.

    Returns:
        ``n_target`` counts from 1 to ``n_source``, never falling.
    """
    largest = [0] * n_target
    for source, target in links:
        largest[target] = max(largest[target], source + 1)
    following = n_source
    for target in reversed(range(n_target)):
        largest[target] = following = largest[target] or following
    return tuple(accumulate(largest, max))


def ratio_needs(n_source: int, n_target: int) -> tuple[int, ...]:
    """Spread the target evenly over the source: a schedule without an aligner."""
    return tuple(max(1, -(-(target + 1) * n_source // n_target)) for target in range(n_target))


MIN_AGREEMENT = 0.5
"""Pairs with less agreement are kept without a schedule: read-n does not train on them."""


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A pair with its read-n schedule.

    Attributes:
        needs: source words each target word needs; None if the alignment is not trusted.
    """

    pair: SentencePair
    needs: tuple[int, ...] | None

    def as_line(self) -> str:
        """Return the line that ``read_aligned`` reads."""
        numbers = " ".join(map(str, self.needs or ()))
        return "\t".join((self.pair.source, self.pair.target, self.pair.corpus, numbers)) + "\n"


@dataclass(slots=True)
class Report:
    """Counts of pairs; those of all corpora = scheduled + all dropped."""

    min_agreement: float | None  # None: schedules come from the lengths alone
    agreements: list[float] = field(default_factory=list)  # of the pairs whose words are aligned
    dropped: Counter[str] = field(default_factory=Counter)  # reason -> pairs
    pairs: Counter[str] = field(default_factory=Counter)  # by corpus
    scheduled: Counter[str] = field(default_factory=Counter)  # likewise

    def as_json(self) -> dict[str, object]:
        """Return all counts, reasons and corpora by descending count."""
        return {
            "aligner": None if self.min_agreement is None else "eflomal",
            "min_agreement": self.min_agreement,
            "mean_agreement": fmean(self.agreements) if self.agreements else None,
            "pairs": self.pairs.total(),
            "scheduled": self.scheduled.total(),
            "dropped": dict(self.dropped.most_common()),
            "corpora": {
                corpus: {"pairs": n_pairs, "scheduled": self.scheduled[corpus]}
                for corpus, n_pairs in self.pairs.most_common()
            },
        }

    def as_table(self) -> str:
        lines = [
            (f"{self.pairs.total():,}", "pairs"),
            (f"{self.scheduled.total():,}", "have a read-n schedule"),
            (f"{self.dropped.total():,}", "have none, and train the other policies only"),
            *((f"{n_pairs:,}", f"  {reason}") for reason, n_pairs in self.dropped.most_common()),
        ]
        if self.agreements:
            mean = f"{fmean(self.agreements):.2f}"
            lines.append((mean, "agreement of the two directions, on average"))
        return "".join(f"{number:>10}  {text}\n" for number, text in lines)


def schedule(pairs: Sequence[SentencePair], report: Report) -> Iterator[AlignedPair]:
    """Yield each pair with its schedule, if it can have one, and count it."""
    ratio = report.min_agreement is None
    directions = repeat(None, len(pairs)) if ratio else align(pairs)
    for pair, both in zip(pairs, directions, strict=True):
        needs = _needs_or_reason(both, (len(pair.source.split()), len(pair.target.split())), report)
        report.pairs[pair.corpus] += 1
        if isinstance(needs, str):
            report.dropped[needs] += 1
            yield AlignedPair(pair, None)
        else:
            report.scheduled[pair.corpus] += 1
            yield AlignedPair(pair, needs)


def _needs_or_reason(
    directions: tuple[set[Link], set[Link]] | None, lengths: tuple[int, int], report: Report
) -> tuple[int, ...] | str:
    if 0 in lengths:
        return "a side has no words"
    if directions is None or report.min_agreement is None:
        return ratio_needs(*lengths)
    report.agreements.append(agreement(*directions))
    links = symmetrise(*directions)
    if not links:
        return "no word has a link"
    if report.agreements[-1] < report.min_agreement:
        return "the two directions agree too little"
    return needed_words(links, *lengths)


def read_aligned(paths: Iterable[Path]) -> Iterator[AlignedPair]:
    """Read files of ``align``."""
    for path in paths:
        for number, line in enumerate(read_lines(path), start=1):
            try:
                yield _parse(line.decode())
            except ValueError as error:
                msg = (
                    f"line {number} of {path} is no aligned pair ({error}): "
                    "make the file with surtitle-train align"
                )
                raise CorpusError(msg) from error


def _parse(line: str) -> AlignedPair:
    fields = line.split("\t")
    if len(fields) != 4:
        msg = f"4 columns were expected, got {len(fields)}"
        raise ValueError(msg)
    source, target, corpus, numbers = fields
    needs = tuple(map(int, numbers.split())) or None
    if needs is not None:
        _check(needs, len(source.split()), len(target.split()))
    return AlignedPair(SentencePair(source, target, corpus), needs)


def _check(needs: tuple[int, ...], n_source: int, n_target: int) -> None:
    if len(needs) != n_target:
        msg = f"{n_target} target words need as many numbers, got {len(needs)}"
        raise ValueError(msg)
    if not 1 <= needs[0] <= needs[-1] <= n_source or any(a > b for a, b in pairwise(needs)):
        msg = f"numbers rise from 1 to at most {n_source} source words, got {needs}"
        raise ValueError(msg)
