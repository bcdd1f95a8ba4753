"""Convert runs for scorers of other projects: ``surtitle-research convert``."""

import argparse
from collections.abc import Callable, Mapping
from pathlib import Path

from training.research.interop import simuleval_log, simulstream_log

_WRITERS: Mapping[str, Callable[[Path, str, Path], None]] = {
    "simuleval": simuleval_log.convert_run,
    "simulstream": simulstream_log.convert_run,
}
"""Writers by format; their arguments are run folder, policy and output folder."""


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add ``convert`` to the command line."""
    parser = subparsers.add_parser(
        "convert",
        help="write a run in the format of SimulEval or simulstream",
        description="Write a run so that the scorers of another program can score it.",
    )
    parser.add_argument("--to", choices=_WRITERS, required=True, help="format")
    parser.add_argument("--run", dest="folder", type=Path, required=True, metavar="DIR")
    parser.add_argument("--policy", required=True, metavar="P", help="of the run, e.g. read:3")
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder to write")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Run the command."""
    _WRITERS[arguments.to](arguments.folder, arguments.policy, arguments.out)
    return 0
