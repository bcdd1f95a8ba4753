"""The ``speech-align`` command: brings recordings into a corpus, and finds when words end."""

import argparse
import sys
from pathlib import Path

from training.errors import UsageError


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``speech-align`` to the command line."""
    parser = subparsers.add_parser(
        "speech-align",
        help="bring recordings into a corpus, and find when their words end",
        description="With --pairs and --files: write a table of recordings, and their sound. With "
        "--model and --data: find when each word of a table ends, by the words that the encoder "
        "hears; translations in parts are learnt from these times.",
    )
    parser.add_argument("--pairs", type=Path, metavar="F.tsv", help="file that align wrote")
    parser.add_argument(
        "--files", type=Path, metavar="F.txt", help="a file of sound for each pair, line by line"
    )
    parser.add_argument("--model", type=Path, metavar="DIR", help="of the stage words")
    parser.add_argument("--data", type=Path, metavar="F.tsv", help="table of a corpus")
    parser.add_argument("--out", type=Path, required=True, metavar="F.tsv", help="table")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do it, print how much was done.

    Raises:
        TrainingError: one sentence says what is wrong.
        SurtitleError: likewise.
    """
    brought = arguments.pairs is not None and arguments.files is not None
    timed = arguments.model is not None and arguments.data is not None
    if brought == timed:
        msg = "name either --pairs and --files, or --model and --data"
        raise UsageError(msg)
    if brought:
        from training.research.speech.recordings import bring_recordings  # noqa: PLC0415  PyAV

        n = bring_recordings(arguments.pairs, arguments.files, arguments.out)
        sys.stdout.write(f"{arguments.out}: {n:,} utterances\n")
        return 0
    from training.research.speech.word_times import tell_word_times  # noqa: PLC0415  torch

    n = tell_word_times(arguments.model, arguments.data, arguments.out)
    sys.stdout.write(f"{arguments.out}: {n:,} utterances got the times of their words\n")
    return 0
