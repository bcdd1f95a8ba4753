"""Parse untrusted JSON: bounded, without repeated keys, each value of the required type.

An object is read key by key (``JsonObject``), or into a dataclass whose fields declare what they
hold (``read_object``). Every error is a ``FaultError`` whose detail continues a sentence:
``'slot_length' should be a whole number from 1 to 1024, got 'wide'``. Unknown keys are ignored.
"""

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Self,
    TypeGuard,
    TypeVar,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

from engine.untrusted.faults import Fault, FaultError, refuse
from engine.untrusted.plain_files import open_plain

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_Kind = TypeVar("_Kind", bound="DataclassInstance")

MOST = 2**31 - 1
"""The largest count in these files."""

_SHA256 = re.compile("[0-9a-f]{64}")
_MOST_DIGITS = 1000  # Python converts longer ones neither from text nor to it
_SHOWN = 100  # characters of a wrong value in a message


def shown(value: object) -> str:
    """Quote a value for a message: short, and without control characters of a terminal."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def parse_json(content: bytes) -> object:
    """Parse UTF-8 text; raise ValueError if it is no JSON."""
    try:
        text = content.decode()
        values = cast(
            "object",
            json.loads(
                text,
                object_pairs_hook=_unique,
                parse_constant=_refuse_constant,
                parse_int=_whole,
                parse_float=_finite,
            ),
        )
        if "\\ud" in text.lower():  # half a surrogate pair fits no file and no terminal
            json.dumps(values, ensure_ascii=False).encode()
    except RecursionError:
        refuse("is nested too deeply")
    except UnicodeError:
        refuse("is no UTF-8 text")
    except json.JSONDecodeError as error:
        detail = f"is no JSON (line {error.lineno}, column {error.colno})"
        raise FaultError(detail) from error
    return values


class JsonObject:
    """Read values from a JSON object, each as the requested type.

    Every method raises ``ValueError`` for a value of another type, and for a missing one without a
    default. A default never replaces null.
    """

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Parse UTF-8 text that holds one object; raise ValueError if it does not."""
        values = parse_json(content)
        if not isinstance(values, dict):
            refuse(f"should hold an object, got {shown(values)}")
        return cls(values)

    @classmethod
    def read(cls, path: Path, limit: int) -> Self:
        """Read a file of at most ``limit`` bytes.

        Raises:
            OSError: it cannot be read, or is no plain file.
            ValueError: it is longer, or as for ``parse``.
        """
        with open_plain(path) as file:
            content = file.read(limit + 1)
        if len(content) > limit:
            refuse(Fault.OVERSIZED(detail=f"is longer than {limit} bytes"))
        return cls.parse(content)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    @property
    def values(self) -> Mapping[str, object]:
        return self._values

    def text(
        self, key: str, default: str | None = None, *, least: int = 0, most: int = MOST
    ) -> str:
        """Return a text of at most ``most`` characters; an empty one only where ``least`` is 0."""
        value = self._take(key, default)
        if isinstance(value, str) and least <= len(value) <= most:
            return value
        expected = "text" if most == MOST else f"text of at most {most} characters"
        raise _wrong(key, expected + ", and not empty" * (least > 0), value)

    def sha256(self, key: str) -> str:
        value = self._take(key, None)
        if isinstance(value, str) and _SHA256.fullmatch(value):
            return value
        raise _wrong(key, "64 lower-case hexadecimal digits", value)

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        value = self._take(key, default)
        if isinstance(value, bool):
            return value
        raise _wrong(key, "true or false", value)

    def integer(
        self, key: str, *, least: int = 0, most: int = MOST, default: int | None = None
    ) -> int:
        value = self._take(key, default)
        if _is_whole(value) and least <= value <= most:
            return value
        raise _wrong(key, f"a whole number from {least} to {most}", value)

    def size(self, key: str, default: int | None = None, *, most: int = MOST) -> int:
        """Return a whole number from 1; a default replaces null, too."""
        if default is not None and self._values.get(key) is None:
            return default
        return self.integer(key, least=1, most=most)

    def number(self, key: str, *, least: float = -math.inf, most: float = math.inf) -> float:
        value = self._take(key, None)
        if _is_whole(value) and abs(value) <= MOST:
            value = float(value)
        if not isinstance(value, float) or not math.isfinite(value):
            raise _wrong(key, "a number", value)
        if not least <= value <= most:
            raise _wrong(key, f"a number from {least} to {most}", value)
        return value

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        values = self._list(key, default)
        texts = tuple(value for value in values if isinstance(value, str))
        if len(texts) == len(values):
            return texts
        raise _wrong(key, "a list of texts", values)

    def integers(
        self, key: str, *, least: int = 0, most: int = MOST, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        values = self._list(key, default)
        numbers = tuple(value for value in values if _is_whole(value) and least <= value <= most)
        if len(numbers) == len(values):
            return numbers
        raise _wrong(key, f"a list of whole numbers from {least} to {most}", values)

    def inner(self, key: str) -> "JsonObject":
        value = self._take(key, None)
        if isinstance(value, dict):
            return JsonObject(value)
        raise _wrong(key, "an object", value)

    def inners(self, key: str) -> "list[JsonObject]":
        """Return a list of objects; an empty one if the key is missing."""
        values = self._list(key, ())
        objects = [JsonObject(value) for value in values if isinstance(value, dict)]
        if len(objects) == len(values):
            return objects
        raise _wrong(key, "a list of objects", values)

    def check_supported(self, supported: Mapping[str, tuple[object, ...]]) -> None:
        """Refuse other values than these; the first of each is that of a missing key."""
        for key, values in supported.items():
            value = self._values.get(key, values[0])
            if not any(
                value is known or (isinstance(value, str) and value == known) for known in values
            ):
                detail = f"sets {shown(key)} to {shown(value)}, which is not supported"
                refuse(Fault.UNSUPPORTED(detail=detail))

    def _take(self, key: str, default: object) -> object:
        if key in self._values:
            return self._values[key]
        if default is None:
            refuse(f"lacks {shown(key)}")
        return default

    def _list(self, key: str, default: tuple[object, ...] | None) -> list[object]:
        value = self._take(key, default)
        if isinstance(value, list | tuple):
            return list(value)
        raise _wrong(key, "a list", value)


@dataclass(frozen=True, slots=True)
class Between:
    """Bounds of a field: of its number or numbers, or of the characters of its text."""

    least: int = 0
    most: int = MOST


SHA256, NEEDED = "SHA256", "NEEDED"
"""Marks of a field: it is a hash; it must be there although the dataclass has a default."""

_hints = cache(get_type_hints)


def read_object(kind: "type[_Kind]", content: JsonObject, **given: object) -> "_Kind":
    """Make a dataclass of an object, field by field; keys that are no fields are ignored.

    A field is of a type that ``JsonObject`` reads, of another dataclass, or a tuple or a mapping of
    these. Its annotation may add bounds, marks, and functions that return its value or refuse it:
    ``Annotated[str, Between(1, 64), check_name]``. One that may be None is so where it is missing.
    Fields that are ``given`` are not read.

    Raises:
        ValueError: a value is missing, or is not what its field holds.
    """
    hints, values = _hints(kind, include_extras=True), dict(given)
    for field in fields(kind):
        hint, default = hints[field.name], field.default
        has_default = default is not MISSING or field.default_factory is not MISSING
        written = content.values.get(field.name)
        is_default = has_default and type(written) is type(default) and written == default
        if field.name in given or (is_default and NEEDED not in get_args(hint)):
            continue
        if field.name in content or not has_default or NEEDED in get_args(hint):
            values[field.name] = _read(hint, content, field.name)
    return kind(**values)


def _read(hint: object, content: JsonObject, key: str) -> object:
    marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
    hint = get_args(hint)[0] if marks else hint
    if NoneType in get_args(hint):
        inner = get_args(hint)[0]  # None is written last
        return None if content.values.get(key) is None else _read(inner, content, key)
    value = content.sha256(key) if SHA256 in marks else _typed(hint, marks, content, key)
    for mark in marks:
        value = mark(value) if callable(mark) else value
    return value


def _typed(hint: object, marks: tuple[object, ...], content: JsonObject, key: str) -> object:
    within = next((mark for mark in marks if isinstance(mark, Between)), None)
    least, most = (0, MOST) if within is None else (within.least, within.most)
    lowest, highest = (-math.inf, math.inf) if within is None else (least, most)
    simple: Mapping[object, Callable[[], object]] = {
        str: lambda: content.text(key, least=least, most=most),
        bool: lambda: content.flag(key),
        int: lambda: content.integer(key, least=least, most=most),
        float: lambda: content.number(key, least=lowest, most=highest),
        tuple[str, ...]: lambda: content.texts(key),
        tuple[int, ...]: lambda: content.integers(key, least=least, most=most),
    }
    if hint in simple:
        return simple[hint]()
    kind = get_args(hint)
    if get_origin(hint) is tuple:
        return tuple(read_object(kind[0], inner) for inner in content.inners(key))
    inner = content.inner(key)
    if get_origin(hint) is Mapping:
        return {name: _read(kind[1], inner, name) for name in inner.values}
    return read_object(cast("type[DataclassInstance]", hint), inner)


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong(key: str, expected: str, value: object) -> FaultError:
    return FaultError(f"{shown(key)} should be {expected}, got {shown(value)}")


def _unique(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Refuse a repeated key: two readers could take different values."""
    values: dict[str, object] = {}
    for key, value in pairs:
        if key in values:
            refuse(f"names {shown(key)} twice")
        values[key] = value
    return values


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        refuse(f"holds a number of {len(text)} digits")
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        refuse(f"holds {shown(text)}, which is too large a number")
    return value


def _refuse_constant(name: str) -> object:
    refuse(f"holds {name}, which is no number of JSON")


def read_table(
    kind: "type[_Kind]", table: object, path: str = "", *, others_ignored: bool = False
) -> "_Kind":
    """Make a dataclass of a table, field by field.

    Args:
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
    if hint in _KIND_NAMES:
        return _KIND_NAMES[hint]
    inner = [kind for kind in get_args(hint) if kind is not Ellipsis]
    if get_origin(hint) is Mapping:
        return f"a table with {kind_name(inner[1])} for each key"
    return "a list: " + " and ".join(dict.fromkeys(map(kind_name, inner)))


def _inner(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key
