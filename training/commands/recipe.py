"""Recipes: a run's settings as a TOML file; keys are the fields of ``TrainSettings``.

Arguments override a recipe before anything is checked, so the same rules check both. An argument is
named by the path of its setting, so there is no table that maps one to the other.
"""

import argparse
import re
import shlex
import sys
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import fields
from pathlib import Path
from types import NoneType, UnionType
from typing import TypeVar, cast, get_args, get_origin, get_type_hints

from engine.errors import PolicyError
from engine.files import own_folder
from engine.settings import DEVICES
from engine.untrusted.strict_json import kind_name, read_object
from training.commands.command_line import named_values
from training.errors import UsageError
from training.settings import FALLS, PRECISIONS, TrainSettings

Table = dict[str, object]
S = TypeVar("S", bound=TrainSettings)


def recipe_names(folder: Path) -> list[str]:
    return sorted(path.stem for path in folder.glob("*.toml"))


def read_recipe(name: str, folder: Path) -> Table:
    """Read a recipe that comes with a command, or a file."""
    path = Path(name) if name.endswith(".toml") else folder / f"{name}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        known = ", ".join(recipe_names(folder))
        msg = f"there is no recipe {name}: name a .toml file or one of {known}"
        raise UsageError(msg) from error
    except (OSError, ValueError) as error:
        msg = f"the recipe {path} cannot be read as TOML ({error}): mend it"
        raise UsageError(msg) from error


def add_recipe(parser: argparse.ArgumentParser, folder: Path, standard: str | None) -> None:
    """Add the folder of a run, and its recipe; without a standard one it must be named."""
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="run folder")
    names = f"one of {', '.join(recipe_names(folder))}, or a file"
    parser.add_argument(
        "--recipe",
        default=standard,
        required=standard is None,
        metavar="NAME|F.toml",
        help=f"{names} (%(default)s)" if standard else names,
    )


def add_arguments(
    parser: argparse.ArgumentParser, folder: Path, standard: str
) -> "argparse._ArgumentGroup":
    """Add the arguments of both kinds of run; each stores under the path of its setting.

    Returns:
        the argument group "training".
    """
    add_recipe(parser, folder, standard)
    add_setting(parser, "--data", "data", "files that align wrote", metavar="LANG=F.tsv")
    add_setting(parser, "--weight", "weights", "copies in an epoch", metavar="CORPUS=W")
    add_setting(parser, "--name", "name", "of the model")
    slots = "slot lengths to draw from; captions use the first"
    add_setting(parser, "--slot", "slot_lengths", slots, metavar="N,N,...")
    add_setting(parser, "--max-length", "max_length", "tokens; longer pairs are left out")
    machine = parser.add_argument_group("machine")
    add_setting(machine, "--device", "device", choices=DEVICES)
    add_setting(machine, "--precision", "precision", choices=PRECISIONS)
    add_setting(machine, "--checkpoint-steps", "checkpoint_steps", "between two checkpoints")
    add_setting(machine, "--stop-after", "stop_after_steps", "pause; run again to go on")
    group = parser.add_argument_group("training")
    add_setting(group, "--rate", "optimisation.rate", "highest learning rate of AdamW")
    add_setting(group, "--warm-up", "optimisation.warm_up_steps", "in which the rate rises")
    fall = "of the rate: with the steps' root, linearly to 0, or late in the run"
    add_setting(group, "--fall", "optimisation.fall", fall, choices=FALLS)
    add_setting(group, "--epochs", "optimisation.epochs", "times every pair is used")
    add_setting(group, "--batch-tokens", "optimisation.batch_tokens", "rows in a step")
    add_setting(group, "--seed", "optimisation.seed")
    return group


def add_setting(  # noqa: PLR0913  each is one fact of an argument
    group: "argparse._ActionsContainer",
    option: str,
    path: str,
    words: str = "",
    *,
    metavar: str | None = None,
    choices: Sequence[str] | None = None,
    settings: type[TrainSettings] = TrainSettings,
) -> None:
    """Add an argument of the type of a setting, stored under the setting's path."""
    kind = _kind_of(settings, path)
    if kind is bool:
        group.add_argument(option, dest=path, action="store_true", default=None, help=words)
        return
    group.add_argument(
        option,
        dest=path,
        type=cast("type", kind) if kind in {int, float, Path} else str,
        nargs="+" if get_origin(kind) is Mapping else None,
        metavar=metavar if metavar or choices else re.split(r"[._]", path)[-1].upper(),
        choices=choices,
        help=words,
    )


def _kind_of(settings: type[TrainSettings], path: str) -> object:
    """Return the type of the setting at a path, without None."""
    kind: object = settings
    for name in path.split("."):
        kind = get_type_hints(kind)[name]
        if isinstance(kind, UnionType):
            kind = next(member for member in get_args(kind) if member is not NoneType)
    return kind


_NOTHING: Table = {}


def settings_of(
    program: str,
    arguments: argparse.Namespace,
    folder: Path,
    kind: type[S],
    changes: Table = _NOTHING,
    base: str = "",
) -> S:
    """Read the recipe that the arguments name, override it by them, and note the command.

    Models from the hub are where those of the program are, unless the recipe names another place.

    Args:
        arguments: those of ``add_arguments``, and others named by paths of settings.
        folder: of the command's recipes.
        changes: settings by their paths, which override all others.
        base: where the recipe names none.
    """
    usual: Table = {"models": str(own_folder("data") / "models"), "base": base}
    table = usual | read_recipe(arguments.recipe, folder)
    noted: Table = {"commands": [shlex.join([program, *sys.argv[1:]])]}
    known = {field.name for field in fields(kind)}
    for path, value in (vars(arguments) | noted | changes).items():
        if value is not None and path.partition(".")[0] in known:
            _put(table, path, _read(_kind_of(kind, path), value))
    settings = make_settings(table, kind)
    _check_files(settings)
    return settings


def _put(table: Table, path: str, value: object) -> None:
    """Store a value under a path of keys; a table updates an existing table."""
    *outer, key = path.split(".")
    for name in outer:
        inner = table.setdefault(name, {})
        if not isinstance(inner, dict):
            msg = f"{name} should be a table of settings, got {inner!r}"
            raise UsageError(msg)
        table = inner
    old = table.get(key)
    if isinstance(value, dict) and isinstance(old, dict):
        old.update(value)
    else:
        table[key] = str(value) if isinstance(value, Path) else value


def _read(kind: object, value: object) -> object:
    """Turn the text of an argument into what a recipe would hold."""
    if get_origin(kind) is Mapping and isinstance(value, list):
        return {name: _read(get_args(kind)[1], text) for name, text in named_values(value)}
    if not isinstance(value, str):
        return value
    if get_origin(kind) is tuple:
        return [_read(get_args(kind)[0], part.strip()) for part in value.split(",")]
    if kind not in {int, float}:
        return value
    try:
        return kind(value)
    except ValueError as error:
        msg = f"{kind_name(kind)} was expected, got {value!r}"
        raise UsageError(msg) from error


def _check_files(settings: TrainSettings) -> None:
    if not settings.languages:
        msg = "there is nothing to train on: name files with --data LANG=F.tsv"
        raise UsageError(msg)
    begin_with = settings.begin_with
    if begin_with is not None and not (begin_with / "checkpoint").is_dir():
        msg = f"--begin-with names a folder that pretrain wrote; {begin_with} has no checkpoint"
        raise UsageError(msg)
    for language in settings.dev.sets:
        if language not in settings.languages:
            msg = f"the dev set of {language!r} is of no language that is trained"
            raise UsageError(msg)
    needed = [(path, "make it with surtitle-train align") for path in settings.data.values()]
    for paths in settings.dev.sets.values():
        needed += [(path, "name two files with --dev") for path in paths]
    for path, remedy in needed:
        if not path.is_file():
            msg = f"{path} was to be read and does not exist: {remedy}"
            raise UsageError(msg)


def make_settings(table: Table, kind: type[S]) -> S:
    try:
        return read_object(kind, table, exact=True)
    except (ValueError, PolicyError) as error:
        raise UsageError(str(error)) from error
