"""What a process is given and libraries would take: standard input, Ctrl+C, a temporary folder."""

import contextlib
import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from typing import BinaryIO, TextIO

INTERRUPTED = 130
"""Exit code after Ctrl+C, as shells have it."""


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


@contextlib.contextmanager
def leaving_at_once(farewell: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Let Ctrl+C end the process on the spot, without a word and with the exit code for it.

    Libraries that are being imported swallow it, or end in a traceback of their own. Nothing is
    tidied up, so this is for where all that was written has been handed on.

    Args:
        farewell: is called before; it may fail.
    """

    def leave(_number: int, _frame: object) -> None:
        try:
            farewell()
        finally:
            os._exit(INTERRUPTED)

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield  # who handles it otherwise, or ignores it, means it
        return
    signal.signal(signal.SIGINT, leave)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def name_temporary_folder() -> None:
    """Let libraries be imported where nothing can be written: they ask for a name, no more."""
    try:
        tempfile.gettempdir()
    except FileNotFoundError:
        tempfile.tempdir = os.sep + "tmp"
