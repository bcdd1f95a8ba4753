"""What a process is given and libraries would take: standard input, a temporary folder."""

import contextlib
import os
import sys
import tempfile
from collections.abc import Iterator
from typing import BinaryIO, TextIO


@contextlib.contextmanager
def own_stdin() -> Iterator[BinaryIO | None]:
    """Take standard input for us alone: to everybody else, libraries and children, it has ended.

    A library that asks a question would take a line of the text for its answer.

    Yields:
        its bytes, or None where it is closed.
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
    """Let libraries be imported where nothing can be written: they ask for a name, no more."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        tempfile.tempdir = os.sep + "tmp"
