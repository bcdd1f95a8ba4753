"""The event loop of Qt: waiting in it, waking it by Ctrl+C, errors and garbage in its thread."""

import functools
import gc
import signal
import socket
import sys
import time
from collections.abc import Callable
from types import FunctionType
from typing import ParamSpec, TypeVar

from PySide6.QtCore import QCoreApplication, QObject, QSocketNotifier, QThread, QTimer, Signal, Slot

_P = ParamSpec("_P")
_T = TypeVar("_T")
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


def report_errors_of_overrides() -> None:
    """Let an error in an override of a method of Qt be reported, not end the process.

    PySide 6.10 and 6.11 write into the error which override it came from. Before Python 3.12 it is
    no object yet when C raised it and no Python code caught it, and the process crashes.
    """
    if sys.version_info >= (3, 12):
        return

    def follow(cls: type[QObject], /) -> None:
        super(QObject, cls).__init_subclass__()
        _catch_in_overrides(cls)

    if "__init_subclass__" not in vars(QObject):
        QObject.__init_subclass__ = classmethod(follow)  # type: ignore[assignment,method-assign]
        _catch_in_classes_below(QObject)


def _catch_in_classes_below(parent: type) -> None:
    below: list[type] = parent.__subclasses__()
    for cls in below:
        _catch_in_overrides(cls)
        _catch_in_classes_below(cls)


def _catch_in_overrides(cls: type) -> None:
    of_qt = [base for base in cls.__mro__ if base.__module__.startswith("PySide6")]
    if cls in of_qt:
        return
    for name, method in list(vars(cls).items()):
        is_override = any(name in vars(base) for base in of_qt) and not name.startswith("__")
        if is_override and isinstance(method, FunctionType):
            setattr(cls, name, _catching(method))


def _catching(method: Callable[_P, _T]) -> Callable[_P, _T]:
    @functools.wraps(method)
    def caught(*arguments: _P.args, **options: _P.kwargs) -> _T:
        try:
            return method(*arguments, **options)
        except Exception:  # noqa: TRY203  which makes it an object
            raise

    return caught


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
