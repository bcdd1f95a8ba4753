"""JSON that strangers wrote: bounded, without double keys, every value of the type it must have.

Whatever is wrong is a ``ValueError`` whose text goes on a sentence: ``'slot_length' should be a
whole number from 1 to 1024, got 'wide'``. Keys that nobody asks for do no harm.
"""

import json
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Self, TypeGuard, cast

from engine.untrusted.regular_file import open_plain

MOST = 2**31 - 1
"""No count in these files is larger."""

_SHA256 = re.compile("[0-9a-f]{64}")
_MOST_DIGITS = 1000  # Python converts longer ones neither from text nor to it
_SHOWN = 100  # characters of a wrong value that are repeated in a message


def shown(value: object) -> str:
    """Repeat a value in a message: short, and without a character that could steer a terminal."""
    text = ascii(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


class JsonObject:
    """Take values from a JSON object, each as the type that is asked for.

    Every method raises ``ValueError`` for a value of another type, and for one that is missing
    where no default is given. A default never stands for null: who writes a key means it.
    """

    def __init__(self, values: Mapping[str, object]) -> None:
        self._values = values

    @classmethod
    def parse(cls, content: bytes) -> Self:
        """Parse UTF-8 text that holds one object.

        Raises:
            ValueError: it does not, or one of its objects has a key twice.
        """
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
            if "\\ud" in text.lower():  # half a character, which no file and no terminal takes
                json.dumps(values, ensure_ascii=False).encode()
        except RecursionError as error:
            msg = "is nested too deeply"
            raise ValueError(msg) from error
        except UnicodeError as error:
            msg = "is no UTF-8 text"
            raise ValueError(msg) from error
        except json.JSONDecodeError as error:
            msg = f"is no JSON (line {error.lineno}, column {error.colno})"
            raise ValueError(msg) from error
        if not isinstance(values, dict):
            msg = f"should hold an object, got {shown(values)}"
            raise ValueError(msg)  # noqa: TRY004  callers catch one error for all that is wrong
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
            msg = f"is longer than {limit} bytes"
            raise ValueError(msg)
        return cls.parse(content)

    def __contains__(self, key: str) -> bool:
        return key in self._values

    @property
    def values(self) -> Mapping[str, object]:
        """All values as they were parsed."""
        return self._values

    def text(self, key: str, default: str | None = None, *, most: int = MOST) -> str:
        """Take text of at most so many characters."""
        value = self._take(key, default)
        if isinstance(value, str) and len(value) <= most:
            return value
        wanted = "text" if most == MOST else f"text of at most {most} characters"
        raise _wrong(key, wanted, value)

    def sha256(self, key: str) -> str:
        """Take a hash: 64 lower-case hexadecimal digits."""
        value = self._take(key, None)
        if isinstance(value, str) and _SHA256.fullmatch(value):
            return value
        raise _wrong(key, "64 lower-case hexadecimal digits", value)

    def flag(self, key: str, *, default: bool | None = None) -> bool:
        """Take true or false."""
        value = self._take(key, default)
        if isinstance(value, bool):
            return value
        raise _wrong(key, "true or false", value)

    def integer(
        self, key: str, *, least: int = 0, most: int = MOST, default: int | None = None
    ) -> int:
        """Take a whole number."""
        value = self._take(key, default)
        if _is_whole(value) and least <= value <= most:
            return value
        raise _wrong(key, f"a whole number from {least} to {most}", value)

    def number(self, key: str) -> float:
        """Take a finite number."""
        value = self._take(key, None)
        if isinstance(value, float) and math.isfinite(value):
            return value
        if _is_whole(value) and abs(value) <= MOST:
            return float(value)
        raise _wrong(key, "a number", value)

    def texts(self, key: str, default: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Take a list of texts."""
        values = self._list(key, default)
        found = tuple(value for value in values if isinstance(value, str))
        if len(found) == len(values):
            return found
        raise _wrong(key, "a list of texts", values)

    def integers(
        self, key: str, *, least: int = 0, most: int = MOST, default: tuple[int, ...] | None = None
    ) -> tuple[int, ...]:
        """Take a list of whole numbers."""
        values = self._list(key, default)
        found = tuple(value for value in values if _is_whole(value) and least <= value <= most)
        if len(found) == len(values):
            return found
        raise _wrong(key, f"a list of whole numbers from {least} to {most}", values)

    def inner(self, key: str) -> "JsonObject":
        """Take an object."""
        value = self._take(key, None)
        if isinstance(value, dict):
            return JsonObject(value)
        raise _wrong(key, "an object", value)

    def inners(self, key: str) -> "list[JsonObject]":
        """Take a list of objects; a missing one is empty."""
        values = self._list(key, ())
        found = [JsonObject(value) for value in values if isinstance(value, dict)]
        if len(found) == len(values):
            return found
        raise _wrong(key, "a list of objects", values)

    def _take(self, key: str, default: object) -> object:
        if key in self._values:
            return self._values[key]
        if default is None:
            msg = f"lacks {shown(key)}"
            raise ValueError(msg)
        return default

    def _list(self, key: str, default: tuple[object, ...] | None) -> list[object]:
        value = self._take(key, default)
        if isinstance(value, list | tuple):
            return list(value)
        raise _wrong(key, "a list", value)


def _is_whole(value: object) -> TypeGuard[int]:
    return isinstance(value, int) and not isinstance(value, bool)


def _wrong(key: str, wanted: str, value: object) -> ValueError:
    return ValueError(f"{shown(key)} should be {wanted}, got {shown(value)}")


def _unique(pairs: Iterable[tuple[str, object]]) -> dict[str, object]:
    """Refuse a key that stands twice: two readers would believe different ones."""
    values: dict[str, object] = {}
    for key, value in pairs:
        if key in values:
            msg = f"names {shown(key)} twice"
            raise ValueError(msg)
        values[key] = value
    return values


def _whole(text: str) -> int:
    if len(text) > _MOST_DIGITS:
        msg = f"holds a number of {len(text)} digits"
        raise ValueError(msg)
    return int(text)


def _finite(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        msg = f"holds {shown(text)}, which is too large a number"
        raise ValueError(msg)
    return value


def _refuse_constant(name: str) -> object:
    msg = f"holds {name}, which is no number of JSON"
    raise ValueError(msg)
