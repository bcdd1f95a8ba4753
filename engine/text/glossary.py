"""Read a glossary from a file: terms of one language with their translations."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from engine.errors import ContextError

_MOST_BYTES = 1 << 22
"""The largest file; a prompt has room for a hundredth of it."""


def read_glossary(path: Path) -> tuple[tuple[str, str], ...]:
    """Read UTF-8 text with a term, a tab and its translation on each line.

    Empty lines, and lines that begin with ``#``, are skipped.

    Raises:
        ContextError: it cannot be read, or a line has another form.
    """
    try:
        text = _text(path)
    except (OSError, ValueError) as error:
        msg = f"the glossary {path} cannot be read ({_reason(error)}): name a UTF-8 text file"
        raise ContextError(msg) from error
    return tuple(_terms(path, text.splitlines()))


def _text(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(_MOST_BYTES + 1)
    if len(content) > _MOST_BYTES:
        msg = f"it is longer than {_MOST_BYTES:,} bytes"
        raise ValueError(msg)
    return content.decode("utf-8-sig")


def _reason(error: OSError | ValueError) -> str:
    if isinstance(error, UnicodeDecodeError):
        return f"byte {error.start} is no UTF-8"
    return str(error.strerror if isinstance(error, OSError) else error)


def _terms(path: Path, lines: Iterable[str]) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(lines, start=1):
        if not line.strip() or line.startswith("#"):
            continue
        parts = [part.strip() for part in line.split("\t")]
        if len(parts) != 2 or not all(parts):
            msg = (
                f"line {number} of the glossary {path} is {line[:60]!r}, and a term, a tab and its "
                "translation were expected: write it so"
            )
            raise ContextError(msg)
        yield parts[0], parts[1]
