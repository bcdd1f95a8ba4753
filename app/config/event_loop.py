"""The event loop of Qt: waiting in it, waking it by Ctrl+C, collecting garbage in its thread."""

import gc
import signal
import socket
import time
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, QThread, QTimer, Signal, Slot

_STEP_MS = 5
_EACH_MS = 1000


def wait_until(done: Callable[[], bool], patience_s: float) -> bool:
    """Run the event loop until ``done`` returns true; return False after ``patience_s``."""
    end_s = time.monotonic() + patience_s
    while not done():
        if time.monotonic() > end_s:
            return False
        QCoreApplication.processEvents()
        QThread.msleep(_STEP_MS)
    return True


class Interrupt(QObject):
    """Listen for SIGINT and SIGTERM; made in the main thread. ``close`` restores the handlers.

    Signals:
        came(): a signal asked the program to end.
    """

    came = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._reader, self._writer = socket.socketpair()
        self._writer.setblocking(False)  # noqa: FBT003  Python's own
        self._notifier = QSocketNotifier(self._reader.fileno(), QSocketNotifier.Type.Read, self)
        self._notifier.activated.connect(self._wake)
        # Qt waits in C++, where Python runs no handler; the byte on the socket wakes it up.
        self._old_wakeup = signal.set_wakeup_fd(self._writer.fileno(), warn_on_full_buffer=False)
        self._old_handlers = {
            number: signal.signal(number, _do_nothing) for number in (signal.SIGINT, signal.SIGTERM)
        }

    def close(self) -> None:
        for number, handler in self._old_handlers.items():
            signal.signal(number, handler)
        signal.set_wakeup_fd(self._old_wakeup)
        self._notifier.setEnabled(False)
        self._reader.close()
        self._writer.close()

    @Slot()
    def _wake(self) -> None:
        self._reader.recv(4096)
        self.came.emit()


def _do_nothing(_number: int, _frame: object) -> None:
    """Replace the default handler, which would end the program at once."""


class GarbageCollector(QObject):
    """Collect now and then in the thread that makes this, whose event loop runs.

    Python never collects by itself again, not even when this is gone: a collection that begins
    while a destructor of Qt asks Python for an override deletes other objects of Qt, which wait
    for the lock that the destructor holds.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        gc.disable()
        self._timer = QTimer(self, interval=_EACH_MS)
        self._timer.timeout.connect(self._collect)
        self._timer.start()

    @Slot()
    def _collect(self) -> None:
        collect()


def collect() -> None:
    """Collect what is due, as Python would: the oldest generation, and all younger ones."""
    counts = zip(gc.get_count(), gc.get_threshold(), strict=True)
    due = [generation for generation, (count, most) in enumerate(counts) if count > most]
    if due:
        gc.collect(due[-1])
