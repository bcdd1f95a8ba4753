"""The program's log: files that never grow beyond a bound, and a file for the hardest of crashes.

Nothing that was said or translated is ever logged.
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
        crashed: whether the program went down last time in a way that no message could tell.
    """

    def __init__(self, folder: Path) -> None:
        """Begin; where the folder cannot be written, the program goes on without logs."""
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
        """End; a fault file without a fault is no fault."""
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
    """Lose lines that a full disk has no room for, and stop nothing because of them."""

    def handleError(self, record: logging.LogRecord) -> None:
        """Say what went wrong with a line, unless it is the disk."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handleError(record)

    def close(self) -> None:
        """Close the file; what is still to be written into it is lost where there is no room."""
        with contextlib.suppress(OSError):
            super().close()


def log_qt(kind: QtMsgType, context: QMessageLogContext, message: str) -> None:
    """Hand what Qt says on to the log."""
    name = f"qt.{context.category or 'default'}"
    logging.getLogger(name).log(_LEVELS.get(kind, logging.DEBUG), "%s", message)
