"""The ``align`` command: add to each pair how many source words each target word needs."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from training.corpus import SentencePair, read_pairs

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
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Align a prepared file."""
    from training import alignment  # noqa: PLC0415  the aligner is an optional extra

    pairs = list(read_pairs([arguments.source]))
    trusted = 0
    with arguments.out.open("w", encoding="utf-8") as out:
        for pair, (forward, reverse) in zip(pairs, alignment.align(pairs), strict=True):
            needs = ""
            if alignment.agreement(forward, reverse) >= MIN_AGREEMENT:
                links = alignment.symmetrise(forward, reverse)
                counts = alignment.needed_words(links, len(pair.target.split()))
                needs = " ".join(map(str, counts))
                trusted += 1
            out.write("\t".join((pair.source, pair.target, pair.corpus, needs)) + "\n")
    sys.stderr.write(f"{trusted} of {len(pairs)} pairs have a trusted alignment\n")
    return 0


def read_aligned(paths: Iterable[Path]) -> Iterator[AlignedPair]:
    """Read what ``align`` wrote."""
    for path in paths:
        with path.open(encoding="utf-8") as lines:
            for line in lines:
                source, target, corpus, needs = line.rstrip("\n").split("\t")
                counts = tuple(map(int, needs.split())) or None
                yield AlignedPair(SentencePair(source, target, corpus), counts)
