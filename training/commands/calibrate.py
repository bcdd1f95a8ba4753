"""The ``calibrate`` command: writes on a model's card how likely its captions are good."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from engine.encoder_decoder.original import is_encoder_decoder
from engine.encoder_decoder.record import save_calibration
from engine.models.model_card import read_card
from training.errors import UsageError


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``calibrate`` to the command line."""
    parser = subparsers.add_parser(
        "calibrate",
        help="fit a model's confidence to a run of evaluate",
        description="Fit the confidence of a model to runs of evaluate and write it on the model's "
        "card, with the confidence below which captions are marked as doubtful. Every second line "
        "is kept back to measure the error of the fit.",
    )
    parser.add_argument("--model", type=Path, required=True, metavar="DIR")
    parser.add_argument("--policy", default="read:3", help="of the runs (%(default)s)")
    parser.add_argument("--run", nargs="+", dest="runs", type=Path, required=True, metavar="RUN")
    parser.add_argument(
        "--threshold",
        type=float,
        default=0.5,
        metavar="P",
        help="mark captions that are less likely good than this (%(default)s)",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Fit, write the card, print the curve and its error.

    Raises:
        TrainingError: one sentence says what is wrong.
    """
    if not 0 <= arguments.threshold <= 1:
        msg = f"--threshold is a probability from 0 to 1, got {arguments.threshold}"
        raise UsageError(msg)
    from training.evaluation.calibration import (  # noqa: PLC0415  numpy; help is there at once
        calibrate,
        calibration_error,
        is_good,
        marked,
    )
    from training.evaluation.runs import Sentence, read_run  # noqa: PLC0415  likewise

    sentences: list[Sentence] = []
    for folder in arguments.runs:
        policies = read_run(folder).policies
        if arguments.policy not in policies:
            msg = f"{folder} has {', '.join(policies)}, and not {arguments.policy}: choose --policy"
            raise UsageError(msg)
        sentences += policies[arguments.policy].sentences
    calibration, fresh = calibrate(sentences[::2], arguments.threshold), sentences[1::2]
    if is_encoder_decoder(arguments.model):
        save_calibration(arguments.model, calibration)
    else:
        replace(read_card(arguments.model), calibration=calibration).save(arguments.model)
    sys.stdout.write(
        f"slope {calibration.slope:g}, offset {calibration.offset:g}; of the {len(fresh):,} "
        "sentences kept back:\n"
        f"{calibration_error(calibration, fresh):10.3f}  expected calibration error\n"
    )
    for name, part in zip(("marked", "unmarked"), marked(calibration, fresh), strict=True):
        good = sum(map(is_good, part)) / max(1, len(part))
        sys.stdout.write(f"{len(part):10,}  {name}, of which {good:.0%} good\n")
    return 0
