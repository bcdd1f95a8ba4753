"""Ctrl+C where nothing can be lost: it ends the process on the spot, without a word.

Libraries that are being imported swallow it, or end in a traceback of their own. Next to nothing is
imported here: the program begins with this (``app.start``).
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator

INTERRUPTED = 130
"""Exit code after Ctrl+C, as shells have it."""


def leave_at_once(farewell: Callable[[], None] = lambda: None) -> bool:
    """Let Ctrl+C end the process from now on; nothing is tidied up.

    Args:
        farewell: is called before; it may fail.

    Returns:
        whether it is so: who handles Ctrl+C otherwise, or ignores it, means it.
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
    """Do the same for a while: what was written by then has been handed on."""
    is_so = leave_at_once(farewell)
    try:
        yield
    finally:
        if is_so:
            signal.signal(signal.SIGINT, signal.default_int_handler)
