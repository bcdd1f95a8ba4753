"""Read a glossary from a file: terms of one language with their translations."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.errors import ContextError, message_of
from engine.messages import Code, Message

_MOST_BYTES = 1 << 22
"""The largest file; a prompt has room for a hundredth of it."""


def read_glossary(path: Path) -> tuple[tuple[str, str], ...]:
    """Read UTF-8 text with a term, a tab and its translation on each line.

    A table that was saved with semicolons is read likewise. A line without either is a name, which
    is its own translation. Empty lines, and lines that begin
    with ``#``, are skipped.

    Raises:
        ContextError: it cannot be read, or a line has another form.
    """
    try:
        text = _text(path)
    except (OSError, ValueError) as error:
        message = Code.GLOSSARY_UNREADABLE(path=str(path), reason=_reason(error))
        raise ContextError(message) from error
    return tuple(_terms(path, re.split("\r\n?|\n", text)))


def _text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        raise ValueError(Code.LONGER_THAN(most=_MOST_BYTES))
    return content.decode("utf-8-sig")


def _reason(error: OSError | ValueError) -> Message:
    if isinstance(error, UnicodeDecodeError):
        return Code.BYTE_NO_UTF8(byte=error.start)
    return message_of(error)


def _terms(path: Path, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        mark = "\t" if "\t" in line else ";"
        parts = [part.strip() for part in line.split(mark)]
        if len(parts) > 2 or not all(parts):
            code = Code.GLOSSARY_LINE
            raise ContextError(code(number=number, path=str(path), line=repr(line[:60])))
        yield parts[0], parts[-1]
