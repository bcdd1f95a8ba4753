"""Pairs with their read-n schedules; docs/read_n_data.md describes the file format."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, repeat
from pathlib import Path
from typing import TYPE_CHECKING

from training.data import word_alignment
from training.data.corpus import SentencePair, read_lines
from training.data.read_schedule import needed_words, ratio_needs
from training.data.word_alignment import Link
from training.errors import CorpusError

if TYPE_CHECKING:
    from training.data.align_report import Report

MIN_AGREEMENT = 0.5
"""Pairs with less agreement are kept without a schedule: read-n does not train on them."""


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A pair with its read-n schedule.

    Attributes:
        pair: the sentences.
        needs: source words each target word needs; None if the alignment is not trusted.
    """

    pair: SentencePair
    needs: tuple[int, ...] | None

    def as_line(self) -> str:
        """Return the line that ``read_aligned`` reads."""
        numbers = " ".join(map(str, self.needs or ()))
        return "\t".join((self.pair.source, self.pair.target, self.pair.corpus, numbers)) + "\n"


def schedule(pairs: Sequence[SentencePair], report: "Report") -> Iterator[AlignedPair]:
    """Yield each pair with its schedule, if it can have one, and count it."""
    ratio = report.min_agreement is None
    directions = repeat(None, len(pairs)) if ratio else word_alignment.align(pairs)
    for pair, both in zip(pairs, directions, strict=True):
        lengths = len(pair.source.split()), len(pair.target.split())
        needs = _needs_or_reason(both, lengths, report)
        if isinstance(needs, str):
            report.count_dropped(pair.corpus, needs)
            yield AlignedPair(pair, None)
        else:
            report.count_scheduled(pair.corpus, needs, lengths[0])
            yield AlignedPair(pair, needs)


def _needs_or_reason(
    directions: tuple[set[Link], set[Link]] | None, lengths: tuple[int, int], report: "Report"
) -> tuple[int, ...] | str:
    """Return a schedule, or the reason why the pair has none."""
    if 0 in lengths:
        return "a side has no words"
    if directions is None or report.min_agreement is None:
        return ratio_needs(*lengths)
    links = word_alignment.symmetrise(*directions)
    report.links.count(directions, links, lengths)
    if not links:
        return "no word has a link"
    if word_alignment.agreement(*directions) < report.min_agreement:
        return "the two directions agree too little"
    return needed_words(links, *lengths)


def read_aligned(paths: Iterable[Path]) -> Iterator[AlignedPair]:
    """Read files of ``align``.

    Raises:
        CorpusError: a file cannot be read, or a line is no aligned pair.
    """
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
