"""A small TOML file that outlives crashes: written whole or not at all, with the copy before it.

The copy is the same name with ``.bak``. What cannot be read or written is one sentence, never an
exception: no file of ours stops the program. Keys that nobody here knows are kept.
"""

import os
import tomllib
from collections.abc import Mapping
from pathlib import Path

from app.toml_text import toml_text

Content = Mapping[str, object]


class KeptFile:
    """Read and write one file; its one owner.

    Attributes:
        content: what the file holds, as far as it was read or written.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.content: dict[str, object] = {}
        self._backup = path.with_name(path.name + ".bak")

    def read(self) -> str | None:
        """Read the file into ``content``, or its copy where it is damaged; nothing where it is not.

        Returns:
            a sentence for the person where the file could not be read.
        """
        try:
            self.content = parse(self.path)
        except FileNotFoundError:
            self.content = {}
        except (OSError, ValueError) as error:
            return self._read_backup(f"{self.path} cannot be read ({_told(error)})")
        return None

    def write(self, content: Content) -> str | None:
        """Put this in the place of what the file held.

        Returns:
            a sentence for the person where that failed; the file is as it was then.
        """
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            if self.content:
                put(self._backup, toml_text(self.content))
            put(self.path, toml_text(content))
        except (OSError, ValueError) as error:
            return (
                f"Your choices could not be stored in {self.path}: {_told(error)}; they hold until "
                "Surtitle is closed"
            )
        self.content = dict(content)
        return None

    def _read_backup(self, failure: str) -> str:
        try:
            self.content = parse(self._backup)
        except (OSError, ValueError):
            self.content = {}
            return f"{failure}; Surtitle starts with its own choices"
        return f"{failure}; the choices are those of {self._backup.name}"


def parse(path: Path) -> dict[str, object]:
    """Read a TOML file.

    Raises:
        OSError: it cannot be read.
        ValueError: it is no TOML, or no UTF-8.
    """
    return tomllib.loads(path.read_text(encoding="utf-8"))


def put(path: Path, text: str) -> None:
    """Write a file so that a crash or a full disk leaves the old one or the new one.

    Raises:
        OSError: it cannot be written; what was there is untouched.
    """
    fresh = path.with_name(path.name + ".new")
    try:
        with fresh.open("w", encoding="utf-8", newline="\n") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    except OSError:
        fresh.unlink(missing_ok=True)
        raise


def table(content: Content, name: str) -> dict[str, object]:
    """Give a table of a document, an empty one where there is none."""
    found = content.get(name)
    return dict(found) if isinstance(found, dict) else {}


def _told(error: OSError | ValueError) -> str:
    """Say what went wrong without the file's name, which the sentence has."""
    return str(error.strerror if isinstance(error, OSError) and error.strerror else error)
