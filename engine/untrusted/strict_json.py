"""Parse untrusted JSON: bounded, without repeated keys, each value of the required type.

Every error is a ``FaultError`` whose detail continues a sentence: ``'slot_length' should be a whole
number from 1 to 1024, got 'wide'``. Unknown keys are ignored.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self, TypeGuard, cast

from engine.untrusted.faults import Fault, FaultError, refuse
from engine.untrusted.regular_file import open_plain

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
        """All values as parsed."""
        return self._values

    def text(self, key: str, default: str | None = None, *, most: int = MOST) -> str:
        """Return a text of at most ``most`` characters."""
        value = self._take(key, default)
        if isinstance(value, str) and len(value) <= most:
            return value
        expected = "text" if most == MOST else f"text of at most {most} characters"
        raise _wrong(key, expected, value)

    def sha256(self, key: str) -> str:
        """Return a hash: 64 lower-case hexadecimal digits."""
        value = self._take(key, None)
        if isinstance(value, str) and _SHA256.fullmatch(value):
            return value
        raise _wrong(key, "64 lower-case hexadecimal digits", value)

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        """Return true or false."""
        value = self._take(key, default)
        if isinstance(value, bool):
            return value
        raise _wrong(key, "true or false", value)

    def integer(
        self, key: str, *, least: int = 0, most: int = MOST, default: int | None = None
    ) -> int:
        """Return a whole number."""
        value = self._take(key, default)
        if _is_whole(value) and least <= value <= most:
            return value
        raise _wrong(key, f"a whole number from {least} to {most}", value)

    def number(self, key: str, *, least: float | None = None, most: float | None = None) -> float:
        """Return a finite number, within bounds if both are given."""
        value = self._take(key, None)
        if _is_whole(value) and abs(value) <= MOST:
            value = float(value)
        if not isinstance(value, float) or not math.isfinite(value):
            raise _wrong(key, "a number", value)
        if least is not None and most is not None and not least <= value <= most:
            raise _wrong(key, f"a number from {least} to {most}", value)
        return value

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return a list of texts."""
        values = self._list(key, default)
        texts = tuple(value for value in values if isinstance(value, str))
        if len(texts) == len(values):
            return texts
        raise _wrong(key, "a list of texts", values)

    def integers(
        self, key: str, *, least: int = 0, most: int = MOST, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        """Return a list of whole numbers."""
        values = self._list(key, default)
        numbers = tuple(value for value in values if _is_whole(value) and least <= value <= most)
        if len(numbers) == len(values):
            return numbers
        raise _wrong(key, f"a list of whole numbers from {least} to {most}", values)

    def inner(self, key: str) -> "JsonObject":
        """Return an object."""
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
