"""Waits for a condition while the event loop runs."""

import time
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QThread

_STEP_MS = 5


def wait_until(done: Callable[[], bool], patience_s: float) -> bool:
    """Run the event loop until ``done`` returns true; return False after ``patience_s``."""
    end_s = time.monotonic() + patience_s
    while not done():
        if time.monotonic() > end_s:
            return False
        QCoreApplication.processEvents()
        QThread.msleep(_STEP_MS)
    return True
