"""Make dataclasses of the tables of a TOML or JSON file; each value must have its field's type."""

import math
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import TYPE_CHECKING, TypeVar, cast, get_args, get_origin, get_type_hints

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_Kind = TypeVar("_Kind", bound="DataclassInstance")


_hints = cache(get_type_hints)  # evaluates text; a run's sentences are tables of one kind


def read_table(
    kind: "type[_Kind]", table: object, path: str = "", *, others_ignored: bool = False
) -> "_Kind":
    """Make a dataclass of a table, field by field.

    Args:
        kind: the dataclass.
        table: as parsed.
        path: of the table in the file, for messages; empty at the top.
        others_ignored: keys that are no fields are left out instead of refused.

    Raises:
        ValueError: a key is unknown or missing, or a value has another type.
    """
    if not isinstance(table, dict):
        msg = f"{path or 'the file'} should be a table of settings, got {table!r}"
        raise ValueError(msg)  # noqa: TRY004  one kind of error for every fault of a file
    hints = _hints(kind)
    known = {field.name: field for field in fields(kind)}
    for key in table:
        if key not in known and not others_ignored:
            names = ", ".join(known)
            msg = f"{_inner(path, key)} is no setting: the known ones there are {names}"
            raise ValueError(msg)
    for name, field in known.items():
        needed = field.default is MISSING and field.default_factory is MISSING
        if needed and name not in table:
            msg = f"{_inner(path, name)} is needed"
            raise ValueError(msg)
    return kind(
        **{
            key: read_value(hints[key], value, _inner(path, key))
            for key, value in table.items()
            if key in known
        }
    )


def read_value(hint: object, value: object, path: str) -> object:
    """Convert a parsed value to the type of a field; raise ValueError if it has another."""
    kinds = get_args(hint)
    match get_origin(hint):
        case origin if origin is UnionType and value is None and NoneType in kinds:
            return None
        case origin if origin is UnionType:
            return read_value(next(kind for kind in kinds if kind is not NoneType), value, path)
        case origin if origin is tuple and isinstance(value, list):
            inner = [kinds[0]] * len(value) if kinds[-1] is Ellipsis else kinds
            if len(inner) == len(value):
                return tuple(read_value(*item, path) for item in zip(inner, value, strict=True))
        case origin if origin is Mapping and isinstance(value, dict):
            return {
                key: read_value(kinds[1], item, _inner(path, key)) for key, item in value.items()
            }
        case None:
            return _simple(hint, value, path)
    msg = f"{path} should be {kind_name(hint)}, got {value!r}"
    raise ValueError(msg)


def _simple(hint: object, value: object, path: str) -> object:
    if is_dataclass(hint):
        return read_table(cast("type[DataclassInstance]", hint), value, path)
    if hint is float and type(value) is int:
        value = float(str(value))  # of an int beyond all floats: infinite, and no OverflowError
    if hint is Path and isinstance(value, str) and value and "\0" not in value:
        return Path(value)
    is_number = type(value) is not float or math.isfinite(value)
    if type(value) is not hint or not is_number:  # for isinstance a bool is an int
        msg = f"{path} should be {kind_name(hint)}, got {value!r}"
        raise ValueError(msg)
    return value


_KIND_NAMES: Mapping[object, str] = {
    int: "a whole number", float: "a number", str: "text", bool: "true or false", Path: "a path",
}  # fmt: skip


def kind_name(hint: object) -> str:
    """Return the type of a field in words."""
    if hint in _KIND_NAMES:
        return _KIND_NAMES[hint]
    inner = [kind for kind in get_args(hint) if kind is not Ellipsis]
    if get_origin(hint) is Mapping:
        return f"a table with {kind_name(inner[1])} for each key"
    return "a list: " + " and ".join(dict.fromkeys(map(kind_name, inner)))


def _inner(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
