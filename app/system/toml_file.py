"""A small TOML file that outlives crashes: written whole or not at all, with the copy before it.

The copy is the same name with ``.bak``. What cannot be read or written is one sentence, never an
exception: no file of ours stops the program. Keys that nobody here knows are kept, and a file that
is damaged stays as it is under the same name with ``.damaged``. All are for their owner alone.
"""

import contextlib
import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from engine.files import write_file
from engine.untrusted.regular_file import open_plain

Content = Mapping[str, object]

MOST_BYTES = 65_536
"""No file of ours comes near it."""

# The standard library's reader takes time with the square of the dots in a key, and more.
_MOST_DOTS = 2_000
_DEEPEST = 32
_TOO_LARGE = "a whole number in it is too large"


class TomlFile:
    """Read and write one file; its one owner.

    Attributes:
        content: what the file holds, as far as it was read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, object] = {}
        self._backup = path.with_name(path.name + ".bak")
        self._is_damaged = False  # what lies there was not read, and must not be lost

    def read(self) -> str | None:
        """Read the file into ``content``, or its copy where it is damaged; nothing where it is not.

        Returns:
            a sentence for the person where the file could not be read.
        """
        self._is_damaged = False
        try:
            self.content = parse(self.path)
        except FileNotFoundError:
            self.content = {}
        except (OSError, ValueError) as error:
            self._is_damaged = True
            return self._read_backup(f"{self.path} cannot be read ({_told(error)})")
        return None

    def write(self, content: Content) -> str | None:
        """Put this in the place of what the file held.

        Returns:
            a sentence for the person where that failed; the file is as it was then.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self._is_damaged:
                self._put_aside()
            if self.content:
                write_file(self._backup, tomli_w.dumps(self.content))
            write_file(self.path, tomli_w.dumps(content))
        except (OSError, ValueError) as error:
            return (
                f"Your choices could not be stored in {self.path}: {_told(error)}; they hold until "
                "Surtitle is closed"
            )
        self.content = dict(content)
        return None

    def _put_aside(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.path.replace(self.path.with_name(self.path.name + ".damaged"))
        self._is_damaged = False

    def _read_backup(self, failure: str) -> str:
        try:
            self.content = parse(self._backup)
        except (OSError, ValueError):
            self.content = {}
            return f"{failure}; Surtitle starts with its own choices"
        return f"{failure}; the choices are those of {self._backup.name}"


def read_small(path: Path) -> str:
    """Read a file of ours.

    Raises:
        OSError: it cannot be read, or is a pipe, a device or the like.
        ValueError: it is no UTF-8, or larger than any of ours.
    """
    with open_plain(path) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        msg = f"it is longer than {MOST_BYTES:,} bytes"
        raise ValueError(msg)
    return content.decode()


def parse(path: Path) -> dict[str, object]:
    """Read a TOML file of ours: a small one of few levels.

    Raises:
        OSError: it cannot be read, or is no regular file.
        ValueError: it is no TOML, no UTF-8, larger or deeper than any of ours.
    """
    text = read_small(path)
    if text.count(".") > _MOST_DOTS:
        msg = f"it has more than {_MOST_DOTS:,} dots"
        raise ValueError(msg)
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        msg = "it is nested too deeply"
        raise ValueError(msg) from error
    except ValueError as error:  # Python reads no number of so many digits
        raise ValueError(_TOO_LARGE) from error
    _check(content)
    return content


def _check(content: object) -> None:
    """Refuse what could be read but not be written again.

    Raises:
        ValueError: a whole number has more than 64 bits, or a table lies too deep.
    """
    level: list[object] = [content]
    for _ in range(_DEEPEST):
        if any(isinstance(value, int) and value.bit_length() > 64 for value in level):
            raise ValueError(_TOO_LARGE)
        tables = [value.values() for value in level if isinstance(value, dict)]
        lists = [value for value in level if isinstance(value, list)]
        level = [value for values in (*tables, *lists) for value in values]
    if level:
        msg = f"it is nested more than {_DEEPEST} levels deep"
        raise ValueError(msg)


def table(content: Content, name: str) -> dict[str, object]:
    """Give a table of a document, an empty one where there is none."""
    found = content.get(name)
    return dict(found) if isinstance(found, dict) else {}


def _told(error: OSError | ValueError) -> str:
    """Say what went wrong without the file's name, which the sentence has."""
    return str(error.strerror if isinstance(error, OSError) and error.strerror else error)
