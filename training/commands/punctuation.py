"""The ``punctuation`` command: teaches case and punctuation for recognisers that write neither."""

import argparse
import random
import sys
from pathlib import Path

from training.errors import CorpusError


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``punctuation`` to the command line."""
    parser = subparsers.add_parser(
        "punctuation",
        help="teach case and punctuation for speech models that write neither",
        description="Learn from sentences which words begin with a capital, and what stands behind "
        "a word. The program uses LANG.npz in assets/punctuation.",
    )
    parser.add_argument("--from", dest="source", type=Path, required=True, metavar="F.txt")
    parser.add_argument("--out", type=Path, required=True, metavar="LANG.npz")
    parser.add_argument("--passes", type=int, default=2)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Learn, and write the weights."""
    import numpy as np  # noqa: PLC0415  help must not wait for it

    from training.trainer.punctuation import examples, sentences, teach  # noqa: PLC0415  likewise

    try:
        lines = arguments.source.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{arguments.source} cannot be read as UTF-8 text ({error}): name a file of sentences"
        raise CorpusError(msg) from error
    rng = random.Random(1)
    rng.shuffle(lines)
    given = examples(sentences(lines), rng)
    weights, scale = teach(given, arguments.passes)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(arguments.out, weights=weights, scale=np.float64(scale))
    size = arguments.out.stat().st_size
    sys.stdout.write(f"{len(given.marks):,} words; {size:,} bytes in {arguments.out}\n")
    return 0
