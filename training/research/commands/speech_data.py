"""The ``speech-data`` command: lets synthetic voices say aligned pairs."""

import argparse
import sys
from pathlib import Path

from training.errors import UsageError


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
    parser.add_argument("--train", type=int, default=25_000, metavar="N", help="(%(default)s)")
    parser.add_argument("--dev", type=int, default=500, metavar="N", help="(%(default)s)")
    parser.add_argument("--test", type=int, default=500, metavar="N", help="(%(default)s)")
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

    try:
        settings = SpeechDataSettings(
            pairs=arguments.pairs,
            out=arguments.out,
            engines=tuple(arguments.engines.split(",")),
            held_back=arguments.held_back,
            n_train=arguments.train,
            n_dev=arguments.dev,
            n_test=arguments.test,
            takes=arguments.takes,
            max_words=arguments.max_words,
            workers=arguments.workers,
            seed=arguments.seed,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    for split, n_utterances in make_speech_data(settings).items():
        sys.stdout.write(f"{settings.out / split}.tsv: {n_utterances:,} utterances\n")
    return 0
