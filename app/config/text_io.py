"""Reads and writes lines of UTF-8, independent of the locale.

Only a line feed ends an input line, not U+2028 and the like. Output has no control characters but
the line feed, so that no text can control a terminal.
"""

import codecs
import contextlib
import errno
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO

from engine.errors import SurtitleError

_BREAKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85\u2028\u2029"
"""Characters that end a line or move the cursor in some program."""

_DIRECTIONS = "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069"
"""Characters that turn the order of letters around, beyond the row they stand in."""

_CONTROLS = [
    code
    for code in range(0xA0)
    if unicodedata.category(chr(code)) == "Cc" and chr(code) not in _BREAKS
]
_READABLE = dict.fromkeys(map(ord, _BREAKS), " ") | dict.fromkeys(_CONTROLS)
_PRINTABLE = (
    dict.fromkeys(map(ord, _BREAKS), " ")
    | dict.fromkeys(map(ord, _DIRECTIONS))
    | dict.fromkeys(_CONTROLS, "\N{REPLACEMENT CHARACTER}")
)


class TextError(SurtitleError):
    """Text cannot be read or written."""


class ReaderGoneError(TextError):
    """The reader of the output has closed it, as ``head`` does."""


def printable(text: str) -> str:
    """Replace line breaks by blanks, controls by U+FFFD; drop what turns letters around."""
    return text.translate(_PRINTABLE)


def check_text(path: Path) -> None:
    """Check that a regular file is text.

    Raises:
        OSError: it cannot be read.
        TextError: it is not UTF-8, or contains zeros, as pictures and UTF-16 do.
    """
    if not path.is_file():
        return
    decoder = codecs.getincrementaldecoder("utf-8")()
    with path.open("rb") as file:
        try:
            while chunk := file.read(1 << 16):
                if b"\0" in chunk:
                    raise _no_text(path)
                decoder.decode(chunk)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError as error:
            raise _no_text(path) from error


def _no_text(path: Path) -> TextError:
    return TextError(
        f"expected UTF-8 text, but {path} has other bytes: name a text file, or convert it to UTF-8"
    )


class LineReader:
    """Read lines one at a time, and count those that are not UTF-8.

    Attributes:
        n_broken: lines with bytes that are not UTF-8, which become U+FFFD.
        first_broken: number of the first such line, from 1; 0 for none.
    """

    def __init__(self, stream: BinaryIO, name: str) -> None:
        self._stream = stream
        self.name = name
        self.n_broken = 0
        self.first_broken = 0

    def __iter__(self) -> Iterator[str]:
        """Yield each line without its end; breaks become blanks, control characters are removed.

        Raises:
            TextError: reading failed.
        """
        n_lines = 0
        while raw := self._read():
            n_lines += 1
            if n_lines == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")  # the byte order mark of some editors
            yield self._decode(raw, n_lines).translate(_READABLE)

    def _read(self) -> bytes:
        try:
            return self._stream.readline()
        except OSError as error:
            if error.errno == errno.ENOMEM:
                raise
            msg = f"{self.name} cannot be read any further: {error.strerror}; check its disk"
            raise TextError(msg) from error

    def _decode(self, raw: bytes, number: int) -> str:
        try:
            return raw.decode()
        except UnicodeDecodeError:
            self.n_broken += 1
            self.first_broken = self.first_broken or number
            return raw.decode(errors="replace")


class LineWriter:
    """Write lines piece by piece.

    A line has single blanks between words and none at its ends, however it is cut into pieces.
    """

    def __init__(self, stream: BinaryIO, *, live: bool = False) -> None:
        """Write to a stream: each piece at once if live, else each whole line."""
        self._stream = stream
        self._live = live
        self._parts: list[str] = []  # the unwritten part of the open line
        self._begun = False
        self._blank_waits = False

    def write(self, piece: str) -> None:
        """Append a piece to the line; raise TextError if writing fails."""
        piece = printable(piece)
        words = " ".join(filter(None, piece.split(" ")))
        if words:
            if self._begun and (self._blank_waits or piece.startswith(" ")):
                self._parts.append(" ")
            self._parts.append(words)
            self._begun = True
        if piece:
            self._blank_waits = piece.endswith(" ") or (self._blank_waits and not words)
        if self._live and self._parts:
            self._send()

    def end_line(self) -> None:
        """End the line and flush it; raise TextError if writing fails."""
        self._parts.append("\n")
        self._begun = self._blank_waits = False
        self._send()

    def _send(self) -> None:
        sent, self._parts = "".join(self._parts), []
        send(self._stream, sent)


def send(stream: BinaryIO, text: str) -> None:
    """Write and flush text; raise TextError if that fails."""
    try:
        stream.write(text.encode())
        stream.flush()
    except OSError as error:
        _discard(stream)
        if isinstance(error, BrokenPipeError):
            msg = "the output was closed by its reader"
            raise ReaderGoneError(msg) from error
        msg = f"the output cannot be written: {error.strerror}; make room or write elsewhere"
        raise TextError(msg) from error


def _discard(stream: BinaryIO) -> None:
    """Redirect the stream to os.devnull: Python would flush it at exit and fail again."""
    with contextlib.suppress(OSError):
        devnull = os.open(os.devnull, os.O_WRONLY)
        os.dup2(devnull, stream.fileno())
        os.close(devnull)


@contextlib.contextmanager
def progress_line() -> Iterator[Callable[[str], None]]:
    """Yield a function that shows a text in place of the one before."""
    shown = ""

    def show(text: str) -> None:
        nonlocal shown
        if sys.stderr is not None and text != shown:
            shown = text
            sys.stderr.write(f"\rsurtitle: {text}")

    try:
        yield show
    finally:
        if shown:
            sys.stderr.write("\n")
