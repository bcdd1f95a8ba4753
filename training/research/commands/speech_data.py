"""The ``speech-data`` command: lets synthetic voices say aligned pairs."""

import argparse
import sys
from pathlib import Path

from training.commands.common_arguments import settings_from


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``speech-data`` to the command line."""
    parser = subparsers.add_parser(
        "speech-data",
        help="let synthetic voices say aligned pairs",
        description="Write a corpus of spoken pairs: DIR/train.tsv, dev.tsv and test.tsv, with "
        "sound beside them, by voices of espeak-ng, festival and flite, at several speeds and "
        "pitches, in rooms with echo and noise. Run it again to go on after a stop.",
    )
    parser.add_argument(
        "--pairs", type=Path, required=True, metavar="F.tsv", help="file that align wrote"
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--engines",
        default="espeak-ng,festival,flite",
        metavar="E,E,...",
        help="whose voices speak (%(default)s)",
    )
    parser.add_argument(
        "--held-back",
        default="flite/*",
        metavar="PATTERN",
        help="voices of the test utterances, which say nothing else (%(default)s)",
    )
    for split, n in (("train", 25_000), ("dev", 500), ("test", 500)):
        parser.add_argument(
            f"--{split}", dest=f"n_{split}", type=int, default=n, metavar="N", help="(%(default)s)"
        )
    parser.add_argument(
        "--takes", type=int, default=1, metavar="N", help="voices for each sentence (%(default)s)"
    )
    parser.add_argument(
        "--max-words", type=int, default=14, metavar="N", help="of a source (%(default)s)"
    )
    parser.add_argument("--workers", type=int, default=1, metavar="N", help="(%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="(%(default)s)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make the corpus, print how much it is.

    Raises:
        TrainingError: one sentence says what is wrong.
    """
    from training.research.speech.speech_data import (  # noqa: PLC0415  PyAV; help is there at once
        SpeechDataSettings,
        make_speech_data,
    )

    engines = tuple(arguments.engines.split(","))
    settings = settings_from(arguments, SpeechDataSettings, engines=engines)
    for split, n_utterances in make_speech_data(settings).items():
        sys.stdout.write(f"{settings.out / split}.tsv: {n_utterances:,} utterances\n")
    return 0
