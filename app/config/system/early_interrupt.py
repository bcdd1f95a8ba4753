"""Lets Ctrl+C end the process at once while nothing can be lost, for example during imports.

Libraries that are being imported swallow Ctrl+C or print a traceback. This module imports next to
nothing, since ``app.start`` begins with it.
"""

import contextlib
import os
import signal
import threading
from collections.abc import Callable, Iterator

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
