"""The ``align`` command: add to each pair how many source words each target word needs."""

import argparse
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from training import alignment
from training.corpus import SentencePair, read_pairs, replacing
from training.errors import CorpusError

MIN_AGREEMENT = 0.5
"""Pairs whose two alignments agree less are kept without numbers: read-n does not train on them."""


@dataclass(frozen=True, slots=True)
class AlignedPair:
    """A pair with its read-n schedule.

    Attributes:
        pair: the sentences.
        needs: source words each target word needs; None where the alignment is not trusted.
    """

    pair: SentencePair
    needs: tuple[int, ...] | None


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``align`` to the command line."""
    parser = subparsers.add_parser("align", help="word-align prepared pairs for read-n training")
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="F.tsv")
    parser.add_argument("--out", type=Path, required=True, metavar="OUT.tsv")
    parser.add_argument(
        "--ratio", action="store_true", help="spread the target evenly instead; needs no aligner"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Align a prepared file."""
    pairs = list(read_pairs([arguments.source]))
    schedule = _even_needs(pairs) if arguments.ratio else _aligned_needs(pairs)
    trusted = 0
    with replacing(arguments.out) as fresh, fresh.open("w", encoding="utf-8") as out:
        for pair, needs in zip(pairs, schedule, strict=True):
            trusted += needs is not None
            numbers = " ".join(map(str, needs or ()))
            out.write("\t".join((pair.source, pair.target, pair.corpus, numbers)) + "\n")
    sys.stderr.write(f"{trusted} of {len(pairs)} pairs have a trusted alignment\n")
    return 0


def _aligned_needs(pairs: Sequence[SentencePair]) -> Iterator[tuple[int, ...] | None]:
    for pair, (forward, reverse) in zip(pairs, alignment.align(pairs), strict=True):
        if alignment.agreement(forward, reverse) < MIN_AGREEMENT:
            yield None
        else:
            links = alignment.symmetrise(forward, reverse)
            yield alignment.needed_words(links, len(pair.target.split()))


def _even_needs(pairs: Sequence[SentencePair]) -> Iterator[tuple[int, ...]]:
    for pair in pairs:
        yield alignment.ratio_needs(len(pair.source.split()), len(pair.target.split()))


def read_aligned(paths: Iterable[Path]) -> Iterator[AlignedPair]:
    """Read what ``align`` wrote.

    Raises:
        CorpusError: a line is not of its making.
    """
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for number, line in enumerate(lines, start=1):
                try:
                    yield _parse(line)
                except ValueError as error:
                    msg = (
                        f"line {number} of {path} is no aligned pair ({error}): "
                        "make the file with surtitle-train align"
                    )
                    raise CorpusError(msg) from error


def _parse(line: str) -> AlignedPair:
    fields = line.rstrip("\n").split("\t")
    if len(fields) != 4:
        msg = f"4 columns were expected, got {len(fields)}"
        raise ValueError(msg)
    source, target, corpus, numbers = fields
    needs = tuple(map(int, numbers.split())) or None
    n_words = len(target.split())
    if needs is not None and len(needs) != n_words:
        msg = f"{n_words} target words need as many numbers, got {len(needs)}"
        raise ValueError(msg)
    return AlignedPair(SentencePair(source, target, corpus), needs)
