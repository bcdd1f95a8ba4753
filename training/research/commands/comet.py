"""The ``comet`` command: scores a run of ``evaluate`` with COMET."""

import argparse
import sys
from pathlib import Path

from engine.settings import DEVICES
from training.commands.common_arguments import settings_from, split_policies
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
    parser.add_argument(
        "--policies", type=split_policies, metavar="P,P,...", help="of the run (all)"
    )
    parser.add_argument("--model", default=MODEL, metavar="NAME|DIR", help="(%(default)s)")
    parser.add_argument("--device", choices=DEVICES, default="auto", help="(%(default)s)")
    parser.add_argument(
        "--batch", dest="batch_size", type=int, default=16, metavar="N", help="(%(default)s)"
    )
    parser.add_argument(
        "--python", type=Path, default=PYTHON, metavar="FILE", help="one that has COMET"
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Score, write, print."""
    settings = settings_from(arguments, CometSettings)
    sys.stdout.write(table(score_run(settings), settings.model))
    return 0
