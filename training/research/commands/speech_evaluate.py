"""The ``speech-evaluate`` command: measures a translator that reads sound, in milliseconds."""

import argparse
import sys
from pathlib import Path

from engine.layout.registry import LAYOUTS
from training.commands.common_arguments import settings_from, split_policies
from training.evaluation.plots import table

COLUMNS = (
    "policy", "bleu", "chrf", "laal_ms", "laal_ca_ms", "forwards_per_utterance",
    "ms_per_block_mean", "n_empty",
)  # fmt: skip


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``speech-evaluate`` to the command line."""
    parser = subparsers.add_parser(
        "speech-evaluate",
        help="measure a translator that reads sound, in milliseconds",
        description="Translate a spoken corpus as it would be heard live; write a run folder that "
        "compare reads, with BLEU, chrF, LAAL in milliseconds with and without computing, and what "
        "a block costs. adaptive:TAU asks the policy head after each block, read:N reads N blocks "
        "at a time, offline all of them.",
    )
    parser.add_argument("--model", type=Path, required=True, metavar="DIR")
    parser.add_argument(
        "--data", type=Path, required=True, metavar="F.tsv", help="table that speech-data wrote"
    )
    parser.add_argument(
        "--to", dest="language", required=True, metavar="LANG", help="target, for example de"
    )
    parser.add_argument(
        "--policies",
        type=split_policies,
        default=("adaptive:0.1", "adaptive:0.3", "adaptive:0.5", "read:3", "offline"),
        metavar="P,P,...",
    )
    parser.add_argument(
        "--cascade",
        action="store_true",
        help="translate the words that the encoder writes; policies then count words",
    )
    parser.add_argument("--layout", default="slots", choices=tuple(LAYOUTS), help="(%(default)s)")
    parser.add_argument(
        "--piece-ms", type=int, default=160, metavar="N", help="sound that comes at once"
    )
    parser.add_argument("--limit", type=int, metavar="N", help="only the first N utterances")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="run folder")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print a table.

    Raises:
        TrainingError: one sentence says what is wrong.
        SurtitleError: likewise.
    """
    from training.research.speech.evaluate_speech import (  # noqa: PLC0415  torch; help is there at once
        SpeechRunSettings,
        evaluate_speech,
    )

    rows = evaluate_speech(settings_from(arguments, SpeechRunSettings))
    sys.stdout.write(table.draw(COLUMNS, rows))
    sys.stdout.write(f"{rows[0]['bleu_signature']}\n{rows[0]['chrf_signature']}\n")
    return 0
