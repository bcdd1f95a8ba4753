"""One process at a time converts in a folder, or deletes its original."""

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

_POLL_S = 0.1


@contextlib.contextmanager
def held(folder: Path, is_given_up: Callable[[], bool]) -> Iterator[bool]:
    """Hold a folder until the block ends; wait while another process, or thread, holds it.

    The system lets go of it when a process ends, however that ends. Windows and some network disks
    know no such lock; nothing is held there.

    Args:
        folder: that exists.
        is_given_up: called ten times a second while it is waited for.

    Yields:
        whether it is held; False once ``is_given_up`` returned True.
    """
    try:
        import fcntl  # noqa: PLC0415  not on Windows
    except ImportError:
        yield True
        return
    number = os.open(folder, os.O_RDONLY)
    try:
        yield _taken(lambda: fcntl.flock(number, fcntl.LOCK_EX | fcntl.LOCK_NB), is_given_up)
    finally:
        os.close(number)


def _taken(take: Callable[[], None], is_given_up: Callable[[], bool]) -> bool:
    wait = threading.Event().wait
    while True:
        try:
            take()
        except BlockingIOError:
            if is_given_up():
                return False
            wait(_POLL_S)
        except OSError:  # a disk that cannot lock
            return True
        else:
            return True
