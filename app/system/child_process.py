"""A command of ours in a process of its own: what crashes or hangs there is one sentence here."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import cast

from PySide6.QtCore import QObject, QProcess, QTimer, Signal, Slot

_START = "import sys; sys.path.insert(0, {!r}); from app.__main__ import main; sys.exit(main())"
_KILLED_S = 5


def own_command() -> tuple[str, ...]:
    """Say how this very program is started, installed, packed or as it lies here."""
    if getattr(sys, "frozen", False):  # one executable, made by PyInstaller
        return (sys.executable,)
    return sys.executable, "-c", _START.format(str(Path(__file__).resolve().parents[2]))


class ChildCommand(QObject):
    """Run ``surtitle`` with arguments, one run at a time; nothing here waits for it.

    Signals:
        line_came(dict): the command wrote this JSON object.
        ended(str): it is over; one sentence where it did not end well, else nothing.
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
        """Tell whether a run is not over."""
        return self._process is not None

    def run(self, arguments: Sequence[str], timeout_s: float) -> None:
        """Start; a run before this one is ended without a word."""
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
        """End the run without a word."""
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
            found = _parsed(line)
            if found is not None:
                self.line_came.emit(found)

    @Slot(int, QProcess.ExitStatus)
    def _finish(self, exit_code: int, status: QProcess.ExitStatus) -> None:
        self._read()
        if self._process is None:
            return  # somebody cancelled while the last lines came
        said = bytes(self._process.readAllStandardError().data()).decode(errors="replace").strip()
        failure = ""
        if status is QProcess.ExitStatus.CrashExit:
            failure = self.tr("The check crashed (signal {}); captions are not touched by that")
            failure = failure.format(exit_code)
        elif exit_code:
            failure = said.splitlines()[-1] if said else self.tr("The check ended with an error")
        self._end(failure)

    @Slot(QProcess.ProcessError)
    def _fail(self, error: QProcess.ProcessError) -> None:
        if error is QProcess.ProcessError.FailedToStart:
            self._end(self.tr("The check could not be started"))

    @Slot()
    def _give_up(self) -> None:
        told = self.tr("The check did not answer within {:.0f} seconds and was ended")
        self._end(told.format(self._timeout_s))

    def _end(self, failure: str) -> None:
        self.cancel()
        self.ended.emit(failure)


def _parsed(line: bytes) -> Mapping[str, object] | None:
    """Read a line of a child; what is no JSON object, libraries wrote."""
    try:
        found = cast("object", json.loads(line))
    except ValueError:
        return None
    return found if isinstance(found, dict) else None
