"""Recipes: a run's settings as a TOML file; keys are the fields of ``FinetuneSettings``.

The command line is laid over a recipe before anything is checked, so both are checked by one rule.
"""

import tomllib
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import cast, get_args, get_origin, get_type_hints

from engine.errors import PolicyError
from training.errors import UsageError
from training.finetuning.settings import FinetuneSettings

FOLDER = Path(__file__).with_name("recipes")
"""Where the recipes that come with the program are."""

Table = dict[str, object]


def recipe_names() -> list[str]:
    """List the recipes that come with the program."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def read_recipe(name: str) -> Table:
    """Read a recipe that comes with the program, or a file.

    Raises:
        UsageError: there is none of that name, or it is no TOML.
    """
    path = Path(name) if name.endswith(".toml") else FOLDER / f"{name}.toml"
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        known = ", ".join(recipe_names())
        msg = f"there is no recipe {name}: name a .toml file or one of {known}"
        raise UsageError(msg) from error
    except (OSError, ValueError) as error:
        msg = f"the recipe {path} cannot be read as TOML ({error}): mend it"
        raise UsageError(msg) from error


def make_settings(table: Table) -> FinetuneSettings:
    """Make settings of a recipe.

    Raises:
        UsageError: a key is not known or missing, or a value is not what it should be.
    """
    try:
        return cast("FinetuneSettings", _make(FinetuneSettings, table, ""))
    except (ValueError, PolicyError) as error:
        raise UsageError(str(error)) from error


def _make(kind: type, table: object, place: str) -> object:
    """Make a dataclass of a table, field by field."""
    if not isinstance(table, dict):
        msg = f"{place or 'a recipe'} should be a table of settings, got {table!r}"
        raise ValueError(msg)  # noqa: TRY004  one kind of error for all that a recipe may hold
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(kind)}
    for key in table:
        if key not in known:
            names = ", ".join(known)
            msg = f"{_inner(place, key)} is no setting: the known ones there are {names}"
            raise ValueError(msg)
    for name, field in known.items():
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and name not in table:
            msg = f"{_inner(place, name)} is needed"
            raise ValueError(msg)
    values = {key: _convert(hints[key], value, _inner(place, key)) for key, value in table.items()}
    return kind(**values)


def _convert(hint: object, value: object, place: str) -> object:
    """Make of a TOML value what a field holds."""
    kinds = get_args(hint)
    match get_origin(hint):
        case origin if origin is UnionType:
            return _convert(next(kind for kind in kinds if kind is not NoneType), value, place)
        case origin if origin is tuple and isinstance(value, list):
            inner = [kinds[0]] * len(value) if kinds[-1] is Ellipsis else kinds
            if len(inner) == len(value):
                return tuple(_convert(*one, place) for one in zip(inner, value, strict=True))
        case origin if origin is Mapping and isinstance(value, dict):
            return {key: _convert(kinds[1], one, _inner(place, key)) for key, one in value.items()}
        case None:
            return _simple(hint, value, place)
    msg = f"{place} should be {_said(hint)}, got {value!r}"
    raise ValueError(msg)


def _simple(hint: object, value: object, place: str) -> object:
    if is_dataclass(hint):
        return _make(cast("type", hint), value, place)
    if hint is Path and isinstance(value, str):
        return Path(value)
    if hint is float and type(value) is int:
        return float(value)
    if type(value) is not hint:  # bool is an int for isinstance, and not for people
        msg = f"{place} should be {_said(hint)}, got {value!r}"
        raise ValueError(msg)
    return value


_SAID: Mapping[object, str] = {
    int: "a whole number", float: "a number", str: "text", bool: "true or false", Path: "a path",
}  # fmt: skip


def _said(hint: object) -> str:
    """Name what a field holds, for people."""
    if hint in _SAID:
        return _SAID[hint]
    inner = [kind for kind in get_args(hint) if kind is not Ellipsis]
    if get_origin(hint) is Mapping:
        return f"a table with {_said(inner[1])} for each key"
    return "a list: " + " and ".join(dict.fromkeys(map(_said, inner)))


def _inner(place: str, key: str) -> str:
    return f"{place}.{key}" if place else key
