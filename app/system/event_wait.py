"""Waits for something without letting the program stand still."""

import time
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QThread

_STEP_MS = 5


def wait_until(done: Callable[[], bool], patience_s: float) -> bool:
    """Serve the event loop until something is so, for so long at most; tell whether it is."""
    end_s = time.monotonic() + patience_s
    while not done():
        if time.monotonic() > end_s:
            return False
        QCoreApplication.processEvents()
        QThread.msleep(_STEP_MS)
    return True
