"""The ``calibrate`` command: writes on a model's card how likely its captions are good."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from engine.models.model_card import read_card
from training.errors import UsageError


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``calibrate`` to the command line."""
    parser = subparsers.add_parser(
        "calibrate",
        help="fit a model's confidence to a run of evaluate",
        description="Fit the confidence of a model to runs of evaluate and write it on the model's "
        "card. Every second line is kept back to measure the error of the fit.",
    )
    parser.add_argument("--model", type=Path, required=True, metavar="DIR")
    parser.add_argument("--policy", default="read:3", help="of the runs (%(default)s)")
    parser.add_argument("--run", nargs="+", dest="runs", type=Path, required=True, metavar="RUN")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Fit, write the card, print the curve and its error.

    Raises:
        TrainingError: one sentence says what is wrong.
    """
    from training.evaluation.calibration import (  # noqa: PLC0415  numpy; help is there at once
        calibrate,
        calibration_error,
    )
    from training.evaluation.runs import Sentence, read_run  # noqa: PLC0415  likewise

    sentences: list[Sentence] = []
    for folder in arguments.runs:
        policies = read_run(folder).policies
        if arguments.policy not in policies:
            msg = f"{folder} has {', '.join(policies)}, and not {arguments.policy}: choose --policy"
            raise UsageError(msg)
        sentences += policies[arguments.policy].sentences
    confidence = calibrate(sentences[::2])
    error = calibration_error(confidence, sentences[1::2])
    replace(read_card(arguments.model), confidence=confidence).save(arguments.model)
    sys.stdout.write(
        f"slope {confidence.slope:g}, offset {confidence.offset:g}; expected calibration error "
        f"{error:.3f} on the {len(sentences) // 2:,} sentences kept back\n"
    )
    return 0
