"""Run one of a program's commands; what commands share: how values are read, tables of scores.

Each command is a module with ``add_parser`` and ``run``, which takes the parsed arguments and
returns the exit code, or raises a TrainingError or SurtitleError. Heavy libraries are imported when
a command runs, so that help appears at once.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import Protocol, TypeVar

from engine.errors import SurtitleError
from engine.files import own_folder
from engine.libraries import keep_caches_in
from training.errors import TrainingError, UsageError

T = TypeVar("T")


class Command(Protocol):
    """A module of a command."""

    def add_parser(self, subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
        """Add the command, and set its function ``run``."""


def run_command(
    program: str, description: str, commands: Sequence[Command], argv: Sequence[str] | None
) -> int:
    """Run one command.

    Args:
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


def settings_from(arguments: argparse.Namespace, kind: type[T], **others: object) -> T:
    """Make settings of the arguments that are named like their fields, and of others.

    Args:
        arguments: of a command; what is named like no field is left out.
        others: fields that are no argument, or of which the argument is a part.
    """
    names = {field.name for field in fields(kind)} & vars(arguments).keys()  # type: ignore[arg-type]
    try:
        return kind(**{name: getattr(arguments, name) for name in names} | others)
    except ValueError as error:
        raise UsageError(str(error)) from error


def split_policies(text: str) -> tuple[str, ...]:
    """Split at commas and spaces; a policy named twice is measured once."""
    return tuple(dict.fromkeys(text.replace(",", " ").split()))


def named_values(texts: Iterable[str], form: str = "NAME=VALUE") -> list[tuple[str, str]]:
    """Split texts at their first equals sign; names may hold dots."""
    pairs = list[tuple[str, str]]()
    for text in texts:
        name, equals, value = text.partition("=")
        if not (name and equals and value):
            msg = f"{form} was expected, got {text!r}"
            raise UsageError(msg)
        pairs.append((name, value))
    return pairs


Cell = str | int | float | None


def draw_table(columns: Sequence[str], rows: Sequence[Mapping[str, Cell]]) -> str:
    """Return a table, aligned to the right, with the names of columns above.

    Args:
        columns: names of the values shown; rows may have more.
        rows: a float is shown with two decimals, None as a dash.
    """
    cells = [list(columns), *([_shown(row[name]) for name in columns] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "".join(
        "  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) + "\n"
        for line in cells
    )


def _shown(value: Cell) -> str:
    if value is None:
        return "-"
    return f"{value:.2f}" if isinstance(value, float) else str(value)
