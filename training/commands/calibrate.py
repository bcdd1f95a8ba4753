"""The ``calibrate`` command: writes on a card how likely captions are good."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from engine.models.adapters.adapter import write_adapter_card
from engine.models.encoder_decoder.original import is_encoder_decoder
from engine.models.encoder_decoder.record import save_calibration
from engine.models.model_card import Calibration, read_card
from training.errors import UsageError
from training.evaluation.named_card import add_owner, check_owner, read_named_card


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``calibrate`` to the command line."""
    parser = subparsers.add_parser(
        "calibrate",
        help="fit a model's confidence to a run of evaluate",
        description="Fit the confidence of a model, or of its base with an adapter, to runs of "
        "evaluate and write it on the card, with the confidence below which captions are marked "
        "as doubtful. Every second line is kept back to measure the error of the fit.",
    )
    add_owner(parser)
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

    runs = [read_run(folder) for folder in arguments.runs]
    check_owner(runs, arguments.adapter)
    sentences: list[Sentence] = []
    for one in runs:
        if arguments.policy not in one.policies:
            known = ", ".join(one.policies)
            msg = f"{one.folder} has {known}, and not {arguments.policy}: choose --policy"
            raise UsageError(msg)
        sentences += one.policies[arguments.policy].sentences
    calibration, fresh = calibrate(sentences[::2], arguments.threshold), sentences[1::2]
    save(arguments.model, arguments.adapter, calibration)
    sys.stdout.write(
        f"slope {calibration.slope:g}, offset {calibration.offset:g}; of the {len(fresh):,} "
        "sentences kept back:\n"
        f"{calibration_error(calibration, fresh):10.3f}  expected calibration error\n"
    )
    for name, part in zip(("marked", "unmarked"), marked(calibration, fresh), strict=True):
        good = sum(map(is_good, part)) / max(1, len(part))
        sys.stdout.write(f"{len(part):10,}  {name}, of which {good:.0%} good\n")
    return 0


def save(model: Path | None, adapter: Path | None, calibration: Calibration) -> None:
    """Write a calibration on the card of an adapter, or else of a model folder.

    Raises:
        SurtitleError: the card cannot be read or written.
        UsageError: the adapter has none.
    """
    if adapter is not None:
        write_adapter_card(adapter, replace(read_named_card(adapter), calibration=calibration))
        return
    assert model is not None  # one of the two is named
    if is_encoder_decoder(model):
        save_calibration(model, calibration)
    else:
        replace(read_card(model), calibration=calibration).save(model)
