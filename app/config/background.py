"""Work beside the windows: jobs on a thread, and a command of ours in a child process."""

import json
import logging
import queue
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QObject, QProcess, QTimer, Signal, Slot

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
