"""The log files, bounded in size, and a file for crashes of the interpreter.

Spoken and translated text is never logged.
"""

import contextlib
import faulthandler
import io
import logging
import logging.handlers
import os
import sys
from pathlib import Path

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

from engine.errors import message_of
from engine.untrusted.plain_files import append_plain, open_plain

FILES, BYTES = 5, 2_000_000
LOG_NAME, FAULT_NAME, LAST_FAULT_NAME = "surtitle.log", "fault.log", "fault-last.log"
_FAULT_BYTES = 65_536  # of a trace that are read
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_LEVELS = {
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
_log = logging.getLogger(__name__)


class Logs:
    """Log into a folder until it is closed.

    A file that is none of ours (a link, a pipe, a device) is left alone.

    Attributes:
        crashed: the last run ended by a crash of the interpreter.
    """

    def __init__(self, folder: Path) -> None:
        """Open the files; those that cannot be written are left out."""
        self.folder = folder
        self.crashed = False
        self._handler: logging.Handler | None = None
        self._fault: int | None = None
        if logging.lastResort is not None:  # the terminal shows what no file takes
            logging.lastResort.setFormatter(logging.Formatter("surtitle: %(message)s"))
        for begin in (self._begin_log, self._begin_faults):
            try:
                folder.mkdir(parents=True, exist_ok=True)
                begin()
            except OSError as error:
                path, reason = error.filename or folder, message_of(error)
                _log.warning("there are no logs in %s, which cannot be written: %s", path, reason)
                if not folder.is_dir():
                    break
        self._qt_handler = qInstallMessageHandler(log_qt)

    def close(self) -> None:
        qInstallMessageHandler(self._qt_handler)
        if self._handler is not None:
            logging.getLogger().removeHandler(self._handler)
            self._handler.close()
        if self._fault is not None:
            faulthandler.disable()
            os.close(self._fault)
            (self.folder / FAULT_NAME).unlink(missing_ok=True)

    def _begin_log(self) -> None:
        handler = _LogFile(
            self.folder / LOG_NAME, maxBytes=BYTES, backupCount=FILES - 1, encoding="utf-8"
        )
        handler.setFormatter(logging.Formatter(_FORMAT))
        logging.getLogger().addHandler(handler)
        self._handler = handler

    def _begin_faults(self) -> None:
        path = self.folder / FAULT_NAME
        fault = append_plain(path, follow=False)
        if os.fstat(fault).st_size:
            os.close(fault)
            path.replace(self.folder / LAST_FAULT_NAME)
            self.crashed = True
            fault = append_plain(path, follow=False)
        self._fault = fault
        faulthandler.enable(fault)


def last_fault(folder: Path) -> str:
    """Return the beginning of the trace of the last crash, or nothing.

    Raises:
        OSError: there is none, or it is no plain file.
    """
    with open_plain(folder / LAST_FAULT_NAME) as file:
        return file.read(_FAULT_BYTES).decode(errors="replace")


class _LogFile(logging.handlers.RotatingFileHandler):
    """A plain log file that drops lines if the disk is full."""

    def _open(self) -> io.TextIOWrapper:
        """Open the file; raise OSError if it is a link, a pipe, a device or the like."""
        number = append_plain(Path(self.baseFilename), follow=False)
        return io.TextIOWrapper(os.fdopen(number, "ab"), self.encoding, newline="\n")

    def handleError(self, record: logging.LogRecord) -> None:
        """Report an error of a line, unless it is an OSError."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def close(self) -> None:
        """Close the file; ignore a full disk."""
        with contextlib.suppress(OSError):
            super().close()


def log_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    name = f"qt.{context.category or 'default'}"
    logging.getLogger(name).log(_LEVELS.get(kind, logging.DEBUG), "%s", message)
