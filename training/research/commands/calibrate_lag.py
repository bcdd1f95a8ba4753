"""The ``calibrate-lag`` command: writes on a card how much adaptive policies lag."""

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from engine.models.adaptive_card import AdaptiveCard
from training.evaluation.named_card import add_owner, change_adaptive, check_owner


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``calibrate-lag`` to the command line."""
    parser = subparsers.add_parser(
        "calibrate-lag",
        help="write on a card how much adaptive policies lag",
        description="Write on the card of a model, or of an adapter, by how many words its "
        "adaptive policies lag in runs of evaluate on development data. Windows then offer them as "
        "timings, told in words.",
    )
    add_owner(parser)
    parser.add_argument("--run", nargs="+", dest="runs", type=Path, required=True, metavar="RUN")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Write the card, print the lags.

    Raises:
        TrainingError: one sentence says what is wrong.
        SurtitleError: likewise.
    """
    from training.evaluation.lags import measured_lags  # noqa: PLC0415  numpy; help is there at once
    from training.evaluation.runs import read_run  # noqa: PLC0415  likewise

    runs = [read_run(folder) for folder in arguments.runs]
    check_owner(runs, arguments.adapter)
    lags = measured_lags(runs)
    change_adaptive(
        arguments.model,
        arguments.adapter,
        lambda adaptive: replace(adaptive or AdaptiveCard(), lags=lags),
    )
    for tau, lag in lags.items():
        sys.stdout.write(f"{lag:10.2f}  words behind with adaptive:{tau}\n")
    return 0
