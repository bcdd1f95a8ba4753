"""The log files, bounded in size, and a file for crashes of the interpreter.

Spoken and translated text is never logged.
"""

import contextlib
import faulthandler
import logging
import logging.handlers
import sys
from pathlib import Path
from typing import IO

from PySide6.QtCore import QMessageLogContext, QtMsgType, qInstallMessageHandler

FILES, BYTES = 5, 2_000_000
LOG_NAME, FAULT_NAME, LAST_FAULT_NAME = "surtitle.log", "fault.log", "fault-last.log"
_FORMAT = "%(asctime)s %(levelname)s %(name)s: %(message)s"
_LEVELS = {
    QtMsgType.QtWarningMsg: logging.WARNING,
    QtMsgType.QtCriticalMsg: logging.ERROR,
    QtMsgType.QtFatalMsg: logging.CRITICAL,
}
_log = logging.getLogger(__name__)


class Logs:
    """Log into a folder until it is closed.

    Attributes:
        crashed: the last run ended by a crash of the interpreter.
    """

    def __init__(self, folder: Path) -> None:
        """Open the files; without a writable folder there are no logs."""
        self.folder = folder
        self.crashed = False
        self._handler: logging.Handler | None = None
        self._fault: IO[str] | None = None
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._begin()
        except OSError:
            _log.warning("there are no logs: %s cannot be written", folder)
        self._qt_handler = qInstallMessageHandler(log_qt)

    def close(self) -> None:
        """Close the files; remove the empty crash file."""
        qInstallMessageHandler(self._qt_handler)
        if self._handler is not None:
            logging.getLogger().removeHandler(self._handler)
            self._handler.close()
        if self._fault is not None:
            faulthandler.disable()
            self._fault.close()
            (self.folder / FAULT_NAME).unlink(missing_ok=True)

    def _begin(self) -> None:
        handler = _LogFile(
            self.folder / LOG_NAME, maxBytes=BYTES, backupCount=FILES - 1, encoding="utf-8"
        )
        handler.setFormatter(logging.Formatter(_FORMAT))
        logging.getLogger().addHandler(handler)
        self._handler = handler
        fault = self.folder / FAULT_NAME
        if fault.exists() and fault.stat().st_size:
            fault.replace(self.folder / LAST_FAULT_NAME)
            self.crashed = True
        self._fault = fault.open("w", encoding="utf-8")
        faulthandler.enable(self._fault)


class _LogFile(logging.handlers.RotatingFileHandler):
    """A log file that drops lines if the disk is full."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Report an error of a line, unless it is an OSError."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def close(self) -> None:
        """Close the file; ignore a full disk."""
        with contextlib.suppress(OSError):
            super().close()


def log_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Log a message of Qt."""
    name = f"qt.{context.category or 'default'}"
    logging.getLogger(name).log(_LEVELS.get(kind, logging.DEBUG), "%s", message)
