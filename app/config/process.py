"""The process itself: Ctrl+C while nothing can be lost, standard input, the temporary folder.

Libraries that are being imported swallow Ctrl+C or print a traceback. This module imports next to
nothing, since ``app.start`` begins with it.
"""

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


def leave_at_once(farewell: Callable[[], None] = lambda: None) -> bool:
    """Let Ctrl+C end the process from now on, without cleanup.

    Args:
        farewell: called before; may fail.

    Returns:
        False if nothing was changed, since Ctrl+C has another handler or is ignored.
    """

    def leave(_number: int, _frame: object) -> None:
        try:
            farewell()
        finally:
            os._exit(INTERRUPTED)

    is_main = threading.current_thread() is threading.main_thread()
    if not is_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        return False
    signal.signal(signal.SIGINT, leave)
    return True


@contextlib.contextmanager
def leaving_at_once(farewell: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Let Ctrl+C end the process within the block."""
    is_set = leave_at_once(farewell)
    try:
        yield
    finally:
        if is_set:
            signal.signal(signal.SIGINT, signal.default_int_handler)


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
