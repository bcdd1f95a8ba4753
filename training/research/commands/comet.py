"""The ``comet`` command: scores a run of ``evaluate`` with COMET."""

import argparse
import sys
from pathlib import Path

from engine.settings import DEVICES
from training.errors import UsageError
from training.research.comparison.comet import MODEL, PYTHON, CometSettings, score_run, table


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``comet`` to the command line."""
    parser = subparsers.add_parser(
        "comet",
        help="score a run of evaluate with COMET",
        description="Score a run of evaluate with COMET, in the environment that "
        "scripts/comet-environment makes. Weights are fetched from huggingface.co once.",
    )
    parser.add_argument("folder", type=Path, metavar="RUN", help="run folder of evaluate")
    parser.add_argument("--policies", metavar="P,P,...", help="of the run (all)")
    parser.add_argument("--model", default=MODEL, metavar="NAME|DIR", help="(%(default)s)")
    parser.add_argument("--device", choices=DEVICES, default="auto", help="(%(default)s)")
    parser.add_argument("--batch", type=int, default=16, metavar="N", help="(%(default)s)")
    parser.add_argument(
        "--python", type=Path, default=PYTHON, metavar="FILE", help="one that has COMET"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Score, write, print."""
    named = arguments.policies
    try:
        settings = CometSettings(
            folder=arguments.folder,
            policies=None if named is None else tuple(named.replace(",", " ").split()),
            model=arguments.model,
            device=arguments.device,
            batch_size=arguments.batch,
            python=arguments.python,
        )
    except ValueError as error:
        raise UsageError(str(error)) from error
    sys.stdout.write(table(score_run(settings), settings.model))
    return 0
