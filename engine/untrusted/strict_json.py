"""Read the JSON of strangers: bounded, without repeated keys, each value of the required type.

An object is read key by key (``JsonObject``), or any table into a dataclass whose fields declare
what they hold (``read_object``). Every error is a ``FaultError`` whose detail continues a sentence:
``'slot_length' should be a whole number from 1 to 1024, got 'wide'``.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import NoneType
from typing import (
    TYPE_CHECKING,
    Annotated,
    NoReturn,
    Self,
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


@dataclass(frozen=True, slots=True)
class Between:
    """Bounds of a field: of its number or numbers, or of the characters of its text."""

    least: float = 0
    most: float = MOST


Count = Annotated[int, Between()]

NEEDED = "NEEDED"
"""Marks a field that must be there although the dataclass has a default."""


@dataclass(frozen=True, slots=True)
class Form:
    """The form that a text must have: a pattern of all of it, and that in words."""

    pattern: str
    words: str


SHA256 = Form("[0-9a-f]{64}", "64 lower-case hexadecimal digits")


@dataclass(frozen=True, slots=True)
class JsonObject:
    """Read values from a JSON object, each as the requested type.

    Every method raises ``ValueError`` for a value of another type, and for a missing one without a
    default. A default never replaces null.
    """

    values: Mapping[str, object]

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
        return key in self.values

    def text(self, key: str, default: str | None = None, *, most: int = MOST) -> str:
        return cast("str", self._get(key, str, default, Between(0, most)))

    def sha256(self, key: str) -> str:
        return cast("str", self._get(key, str, None, SHA256))

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        return cast("bool", self._get(key, bool, default))

    def integer(
        self, key: str, *, least: int = 0, most: int = MOST, default: int | None = None
    ) -> int:
        return cast("int", self._get(key, int, default, Between(least, most)))

    def size(self, key: str, default: int | None = None, *, most: int = MOST) -> int:
        """Return a whole number from 1; a default replaces null, too."""
        if default is not None and self.values.get(key) is None:
            return default
        return self.integer(key, least=1, most=most)

    def number(self, key: str) -> float:
        return cast("float", self._get(key, float, None))

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        return cast("tuple[str, ...]", self._get(key, tuple[str, ...], default))

    def integers(self, key: str, *, most: int = MOST) -> tuple[int, ...]:
        return cast("tuple[int, ...]", self._get(key, tuple[int, ...], None, Between(0, most)))

    def inner(self, key: str) -> "JsonObject":
        return JsonObject(cast("Mapping[str, object]", self._get(key, dict, None)))

    def inners(self, key: str) -> "list[JsonObject]":
        """Return a list of objects; an empty one if the key is missing."""
        found = self._get(key, tuple[dict, ...], ())  # type: ignore[type-arg]
        return [JsonObject(one) for one in cast("tuple[Mapping[str, object], ...]", found)]

    def check_supported(self, supported: Mapping[str, tuple[object, ...]]) -> None:
        """Refuse other values than these; the first of each is that of a missing key."""
        for key, values in supported.items():
            value = self.values.get(key, values[0])
            if not any(
                value is known or (isinstance(value, str) and value == known) for known in values
            ):
                detail = f"sets {shown(key)} to {shown(value)}, which is not supported"
                refuse(Fault.UNSUPPORTED(detail=detail))

    def _get(self, key: str, hint: object, default: object, *marks: object) -> object:
        if key in self.values:
            return read_value(hint, self.values[key], key, marks)
        if default is None:
            refuse(f"lacks {shown(key)}")
        return default


_hints = cache(get_type_hints)


def read_object(
    kind: "type[_Kind]",
    values: object,
    path: str = "",
    *,
    exact: bool = False,
    given: Mapping[str, object] | None = None,
) -> "_Kind":
    """Make a dataclass of a table, field by field; keys that are no fields are ignored.

    A field is text, a number, a truth or a path, another dataclass, or a tuple or a mapping of
    these. Its annotation may add bounds, a form, a tuple of the values it may have, and functions
    that return its value or refuse it: ``Annotated[str, Between(1, 64), check_name]``. One that may
    be None is so where it is missing.

    Args:
        path: of the table in the file, for messages; empty at the top.
        exact: a person wrote it: keys that are no fields are refused, and none may be missing.
        given: fields that are not read.

    Raises:
        ValueError: a value is missing, or is not what its field holds.
    """
    table = cast("Mapping[str, object]", read_value(dict, values, path or "it", exact=exact))
    hints, made = _hints(kind, include_extras=True), dict(given or {})
    known = {field.name: field for field in fields(kind)}
    for key in table if exact else ():
        if key not in known:
            refuse(
                f"{_inner(path, key)} is no setting: the known ones there are {', '.join(known)}"
            )
    for name, field in known.items():
        hint, default = hints[name], field.default
        marks = get_args(hint)[1:] if get_origin(hint) is Annotated else ()
        has_default = default is not MISSING or field.default_factory is not MISSING
        may_miss = has_default and NEEDED not in marks
        written = table.get(name)
        is_default = type(written) is type(default) and written == default
        if name in made or (may_miss and (name not in table or is_default)):
            continue
        if name in table or (NoneType in get_args(hint) and not exact):
            made[name] = read_value(hint, written, _inner(path, name), exact=exact)
        elif exact:
            refuse(f"{_inner(path, name)} is needed")
        else:
            refuse(f"lacks {shown(_inner(path, name))}")
    return kind(**made)


def read_value(
    hint: object,
    value: object,
    path: str,
    marks: tuple[object, ...] = (),
    *,
    exact: bool = False,
) -> object:
    """Convert a parsed value to the type of a field; raise ValueError if it has another."""
    kinds, origin = get_args(hint), get_origin(hint)
    if origin is Annotated:
        return read_value(kinds[0], value, path, kinds[1:], exact=exact)
    if NoneType in kinds:  # which is written last
        return None if value is None else read_value(kinds[0], value, path, marks, exact=exact)
    within = next((mark for mark in marks if isinstance(mark, Between)), None)
    found = _typed(hint, value, path, within, exact=exact)
    if found is MISSING:
        _refuse_value(path, kind_name(hint, within, exact=exact), value)
    for mark in marks:
        if isinstance(mark, Form) and not re.fullmatch(mark.pattern, str(found)):
            _refuse_value(path, mark.words, value)
        if isinstance(mark, tuple) and found not in mark:
            _refuse_value(path, f"one of {', '.join(mark)}", value)
        found = mark(found) if callable(mark) else found
    return found


def check_fields(made: "DataclassInstance") -> None:
    """Raise ValueError unless each field of a dataclass is what ``read_object`` would take."""
    for name, hint in _hints(type(made), include_extras=True).items():
        read_value(hint, getattr(made, name), name)


def _typed(
    hint: object, value: object, path: str, within: Between | None, *, exact: bool
) -> object:
    """Return a value as the type of its field; MISSING if it has another."""
    kinds, origin = get_args(hint), get_origin(hint)
    if origin is tuple and isinstance(value, list | tuple):
        each = kinds[:1] * len(value) if kinds[-1] is Ellipsis else kinds
        if len(each) != len(value):
            return MISSING
        marks = (within,) if within else ()
        return tuple(
            read_value(one, item, f"{path}[{at}]", marks, exact=exact)
            for at, (one, item) in enumerate(zip(each, value, strict=True))
        )
    if origin is Mapping and isinstance(value, dict):
        return {
            key: read_value(kinds[1], item, _inner(path, key), exact=exact)
            for key, item in value.items()
        }
    if is_dataclass(hint) and isinstance(value, dict):
        return read_object(cast("type[DataclassInstance]", hint), value, path, exact=exact)
    return _simple(hint, value, within)


def _simple(hint: object, value: object, within: Between | None) -> object:
    """Return a value of a simple type, as that type; MISSING for any other."""
    if hint is float and type(value) is int:
        value = float(str(value))  # of an int beyond all floats: infinite, and no OverflowError
    if hint is Path and isinstance(value, str | Path) and value and "\0" not in str(value):
        return Path(value)
    if type(value) is not hint or (type(value) is float and not math.isfinite(value)):
        return MISSING  # for isinstance a bool is an int
    size = len(value) if isinstance(value, str) else value
    if within is not None and not within.least <= cast("float", size) <= within.most:
        return MISSING
    return value


_KIND_NAMES: Mapping[object, str] = {
    int: "a whole number", float: "a number", str: "text", bool: "true or false", Path: "a path",
}  # fmt: skip


def kind_name(hint: object, within: Between | None = None, *, exact: bool = False) -> str:
    if get_origin(hint) is tuple:
        inner = [kind_name(one, within, exact=exact) for one in get_args(hint) if one is not ...]
        return "a list: " + " and ".join(dict.fromkeys(inner))
    if hint not in _KIND_NAMES:
        return "a table" if exact else "an object"
    if within is None:
        return _KIND_NAMES[hint]
    if hint is not str:
        return f"{_KIND_NAMES[hint]} from {within.least} to {within.most}"
    most = f" of at most {within.most} characters" if within.most < MOST else ""
    return f"text{most}" + ", and not empty" * (within.least > 0)


def _inner(path: str, key: str) -> str:
    return f"{path}.{key}" if path else key


def _refuse_value(path: str, expected: str, value: object) -> NoReturn:
    refuse(f"{shown(path)} should be {expected}, got {shown(value)}")


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
