"""A small TOML file that is written atomically, with a backup copy ``.bak``.

A failure is one sentence, never an exception: no file of ours stops the program. Unknown keys are
kept, and a damaged file is kept as ``.damaged``. Only the owner can read these files.
"""

import contextlib
import tomllib
from collections.abc import Mapping
from pathlib import Path

import tomli_w

from app.config.messages import AppCode
from engine.errors import message_of
from engine.files import write_file
from engine.messages import Code, Message
from engine.untrusted.plain_files import open_plain

Content = Mapping[str, object]

MOST_BYTES = 65_536
"""All files of ours are far smaller."""

# tomllib takes more than quadratic time in the number of dots in a key.
_MOST_DOTS = 2_000
_DEEPEST = 32


class TomlFile:
    """Read and write one file.

    Attributes:
        content: the content last read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, object] = {}
        self._backup = path.with_name(path.name + ".bak")
        self._is_damaged = False  # the file was not read and must not be lost

    def read(self) -> Message | None:
        """Read the file, or its backup if it is damaged; a missing file is empty.

        Returns:
            a message for the user if the file is damaged.
        """
        self._is_damaged = False
        try:
            self.content = parse(self.path)
        except FileNotFoundError:
            self.content = {}
        except (OSError, ValueError) as error:
            self._is_damaged = True
            return self._read_backup(message_of(error))
        return None

    def write(self, content: Content) -> Message | None:
        """Replace the content of the file.

        Returns:
            a message for the user if that failed; the file is unchanged then.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            if self._is_damaged:
                self._put_aside()
            if self.content:
                write_file(self._backup, tomli_w.dumps(self.content))
            write_file(self.path, tomli_w.dumps(content))
        except (OSError, ValueError) as error:
            return AppCode.SETTINGS_NOT_STORED(path=str(self.path), reason=message_of(error))
        self.content = dict(content)
        return None

    def _put_aside(self) -> None:
        with contextlib.suppress(FileNotFoundError):
            self.path.replace(self.path.with_name(self.path.name + ".damaged"))
        self._is_damaged = False

    def _read_backup(self, reason: Message) -> Message:
        path = str(self.path)
        try:
            self.content = parse(self._backup)
        except (OSError, ValueError):
            self.content = {}
            return AppCode.SETTINGS_LOST(path=path, reason=reason)
        return AppCode.SETTINGS_OF_COPY(path=path, reason=reason, copy=self._backup.name)


def read_small(path: Path) -> str:
    """Return the text of a small file.

    Raises:
        OSError: it cannot be read, or is no regular file.
        ValueError: it is no UTF-8, or too large.
    """
    with open_plain(path) as file:
        content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise ValueError(Code.LONGER_THAN(most=MOST_BYTES))
    return content.decode()


def parse(path: Path) -> dict[str, object]:
    """Return the content of a small TOML file; raise ValueError if it is none or too deep."""
    text = read_small(path)
    if text.count(".") > _MOST_DOTS:
        raise ValueError(AppCode.MANY_DOTS(most=_MOST_DOTS))
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        raise
    except RecursionError as error:
        raise ValueError(AppCode.TOO_DEEP()) from error
    except ValueError as error:  # Python limits the digits of a number
        raise ValueError(AppCode.NUMBER_TOO_LARGE()) from error
    _check(content)
    return content


def _check(content: object) -> None:
    """Raise ValueError for numbers above 64 bits and for deep nesting: no writer takes them."""
    level: list[object] = [content]
    for _ in range(_DEEPEST):
        if any(isinstance(value, int) and value.bit_length() > 64 for value in level):
            raise ValueError(AppCode.NUMBER_TOO_LARGE())
        tables = [value.values() for value in level if isinstance(value, dict)]
        lists = [value for value in level if isinstance(value, list)]
        level = [value for values in (*tables, *lists) for value in values]
    if level:
        raise ValueError(AppCode.DEEPER_THAN(most=_DEEPEST))


def table(content: Content, name: str) -> dict[str, object]:
    """Return a table of a document, or an empty one."""
    value = content.get(name)
    return dict(value) if isinstance(value, dict) else {}
