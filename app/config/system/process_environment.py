"""Keeps standard input and the temporary folder of the process from libraries."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, TextIO


@contextlib.contextmanager
def own_stdin() -> Iterator[BinaryIO | None]:
    """Yield standard input, or None if it is closed; libraries and children see an empty one.

    A library that asks a question would read a line of the text as its answer.
    """
    stream = sys.stdin
    if stream is None:
        yield None
        return
    with contextlib.ExitStack() as opened:
        nothing = opened.enter_context(open(os.devnull, encoding="utf-8"))  # noqa: PTH123  no path
        ours: BinaryIO = stream.buffer
        if _number(stream) == 0:  # else a test's, or a program's around this one
            ours = opened.enter_context(os.fdopen(os.dup(0), "rb"))
            opened.callback(os.dup2, ours.fileno(), 0)
            os.dup2(nothing.fileno(), 0)
        opened.callback(setattr, sys, "stdin", stream)
        sys.stdin = nothing
        yield ours


def _number(stream: TextIO) -> int | None:
    try:
        return stream.fileno()
    except (AttributeError, OSError, ValueError):
        return None


def name_temporary_folder() -> None:
    """Name a temporary folder if none is writable: libraries ask for its name at import."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        tempfile.tempdir = os.sep + "tmp"
