"""Run the training commands: ``surtitle-train COMMAND`` or ``python -m training COMMAND``.

Each command is a module with ``add_parser`` and ``run``, which takes the parsed arguments and
returns the exit code, or raises a TrainingError or SurtitleError. Heavy libraries are imported when
a command runs, so that help appears at once.
"""

import argparse
import sys

from engine.errors import SurtitleError
from engine.libraries import keep_caches_in
from training.commands import (
    align,
    augment,
    calibrate,
    evaluate,
    export,
    finetune,
    prepare,
    pretrain,
)
from training.commands.launch import cache_folder
from training.errors import TrainingError, UsageError
from training.research.commands import (
    calibrate_lag,
    comet,
    compare,
    convert,
    policy_head,
    record_scores,
    seqpo,
)

_COMMANDS = (
    prepare, augment, align, pretrain, finetune, seqpo, export, evaluate, compare, record_scores,
    convert, comet, calibrate, calibrate_lag, policy_head,
)  # fmt: skip


def main(argv: list[str] | None = None) -> int:
    """Run one command.

    Args:
        argv: the command line without the program's name; None for that of the process.

    Returns:
        the exit code: 0, 1 for a failure, 2 for wrong usage; a failure is one sentence on stderr.
    """
    parser = argparse.ArgumentParser(
        prog="surtitle-train", description="Prepare data, train and measure models for Surtitle."
    )
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in _COMMANDS:
        command.add_parser(subparsers)
    arguments = parser.parse_args(argv)
    keep_caches_in(cache_folder())
    try:
        exit_code: int = arguments.run(arguments)
    except (TrainingError, SurtitleError) as error:
        sys.stderr.write(f"surtitle-train {arguments.command}: {error}\n")
        return 2 if isinstance(error, UsageError) else 1
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
