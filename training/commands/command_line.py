"""Run one of a program's commands.

Each command is a module with ``add_parser`` and ``run``, which takes the parsed arguments and
returns the exit code, or raises a TrainingError or SurtitleError. Heavy libraries are imported when
a command runs, so that help appears at once.
"""

import argparse
import sys
from collections.abc import Sequence
from typing import Protocol

from engine.errors import SurtitleError
from engine.folders import own_folder
from engine.libraries import keep_caches_in
from training.errors import TrainingError, UsageError


class Command(Protocol):
    """A module of a command."""

    def add_parser(self, subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
        """Add the command, and set its function ``run``."""


def run_command(
    program: str, description: str, commands: Sequence[Command], argv: Sequence[str] | None
) -> int:
    """Run one command.

    Args:
        program: its name.
        description: for the help.
        commands: in the order of the help.
        argv: the command line without the program's name; None for that of the process.

    Returns:
        the exit code: 0, 1 for a failure, 2 for wrong usage; a failure is one sentence on stderr.
    """
    parser = argparse.ArgumentParser(prog=program, description=description)
    subparsers = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for command in commands:
        command.add_parser(subparsers)
    arguments = parser.parse_args(argv)
    keep_caches_in(own_folder("cache", "cache"))
    try:
        exit_code: int = arguments.run(arguments)
    except (TrainingError, SurtitleError) as error:
        sys.stderr.write(f"{program} {arguments.command}: {error}\n")
        return 2 if isinstance(error, UsageError) else 1
    return exit_code
