"""The event loop of Qt, and work beside it: jobs on a thread, a command in a child process."""

import functools
import gc
import json
import logging
import queue
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FunctionType
from typing import ParamSpec, TypeVar, cast

from PySide6.QtCore import (
    QCoreApplication,
    QObject,
    QProcess,
    QSocketNotifier,
    QThread,
    QTimer,
    Signal,
    Slot,
)

from app.config.messages import AppCode
from app.config.translations import error_text, worded
from engine.errors import SurtitleError

Job = Callable[[], None]

_log = logging.getLogger(__name__)
_START = "import sys; sys.path.insert(0, {!r}); from app.__main__ import main; sys.exit(main())"
_KILLED_S = 5


class BackgroundQueue:
    """Run jobs one after the other; ``report`` is called on the thread of the queue.

    After ``close`` nothing runs: an event that comes late would start a thread that nobody ends.
    """

    def __init__(self, report: Callable[[str], None]) -> None:
        """Make a queue; the first job starts its thread.

        Args:
            report: gets one sentence for each failed job.
        """
        self._report = report
        self._jobs: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def run(self, job: Job) -> None:
        """Append a job; an error in it is reported, and the queue goes on."""
        if self._is_closed:
            return
        self._jobs.put(job)
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="surtitle-background")
            self._thread.start()

    def close(self) -> None:
        """Wait for the jobs that were appended."""
        self._is_closed = True
        if self._thread is not None:
            self._jobs.put(None)
            self._thread.join()
            self._thread = None

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            try:
                job()
            except SurtitleError as error:
                self._report(error_text(error))
            except Exception as error:  # noqa: BLE001  the top of this thread
                _log.exception("a job failed")
                reason = f"{type(error).__name__}: {error}"
                self._report(worded(AppCode.UNEXPECTED(reason=reason)))


def own_command() -> tuple[str, ...]:
    """Return the command line that starts this program, installed, packed or from its folder."""
    if getattr(sys, "frozen", False):  # one executable, made by PyInstaller
        return (sys.executable,)
    return sys.executable, "-c", _START.format(str(Path(__file__).resolve().parents[2]))


class ChildCommand(QObject):
    """Run ``surtitle`` with arguments, one run at a time, without blocking.

    Signals:
        line_came(dict): the command wrote this JSON object.
        ended(str): the run ended; a sentence if it failed, else empty.
    """

    line_came = Signal(object)
    ended = Signal(str)

    def __init__(
        self, parent: QObject | None = None, *, program: Sequence[str] | None = None
    ) -> None:
        super().__init__(parent)
        self._program = tuple(program or own_command())
        self._process: QProcess | None = None
        self._unread = b""
        self._timeout_s = 0.0
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._give_up)

    @property
    def is_running(self) -> bool:
        return self._process is not None

    def run(self, arguments: Sequence[str], timeout_s: float) -> None:
        self.cancel()
        command, *first = self._program
        process = self._process = QProcess(self)
        process.readyReadStandardOutput.connect(self._read)
        process.finished.connect(self._finish)
        process.errorOccurred.connect(self._fail)
        self._unread, self._timeout_s = b"", timeout_s
        self._timer.start(round(timeout_s * 1000))
        process.start(command, [*first, *arguments])

    def cancel(self) -> None:
        """Kill the run without emitting ``ended``."""
        self._timer.stop()
        process, self._process = self._process, None
        if process is not None:
            process.blockSignals(True)  # noqa: FBT003  Qt's own
            process.kill()
            process.waitForFinished(_KILLED_S * 1000)  # a killed process is gone at once
            process.deleteLater()

    @Slot()
    def _read(self) -> None:
        if self._process is None:
            return
        self._unread += bytes(self._process.readAllStandardOutput().data())
        *lines, self._unread = self._unread.split(b"\n")
        for line in lines:
            if (values := _parsed(line)) is not None:
                self.line_came.emit(values)

    @Slot(int, QProcess.ExitStatus)
    def _finish(self, exit_code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        if self._process is None:
            return  # a slot of line_came has cancelled the run
        stderr = bytes(self._process.readAllStandardError().data()).decode(errors="replace").strip()
        failure = ""
        if status is QProcess.ExitStatus.CrashExit:
            failure = self.tr("The check crashed (signal {}). Captions are not affected")
            failure = failure.format(exit_code)
        elif exit_code:
            failure = self.tr("The check ended with an error")
            if stderr:
                failure = f"{failure}: {stderr.splitlines()[-1]}"
        self._end(failure)

    @Slot(QProcess.ProcessError)
    def _fail(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._end(self.tr("The check could not be started"))

    @Slot()
    def _give_up(self) -> None:
        text = self.tr("The check did not answer within {:.0f} seconds and was ended")
        self._end(text.format(self._timeout_s))

    def _end(self, failure: str) -> None:
        self.cancel()
        self.ended.emit(failure)


def _parsed(line: bytes) -> Mapping[str, object] | None:
    """Parse a line of the child; None if it is no JSON object, as output of libraries."""
    try:
        values = cast("object", json.loads(line))
    except ValueError:
        return None
    return values if isinstance(values, dict) else None


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
