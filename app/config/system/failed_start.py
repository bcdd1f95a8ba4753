"""Reports that no window opens: in a dialog, in the log and in the terminal."""

import logging
import sys
import traceback
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox

from app.config.system.logs import LOG_NAME
from app.config.system.text_io import printable

_LONGEST = 200  # characters of a reason
_log = logging.getLogger(__name__)


class FailedStart(QMessageBox):
    """Show why no window opens, for a start from an icon; the details are the traceback."""

    def __init__(self, error: Exception, log_folder: Path) -> None:
        super().__init__()
        self.setWindowTitle("Surtitle")
        self.setIcon(QMessageBox.Icon.Critical)
        self.setTextFormat(Qt.TextFormat.PlainText)
        self.setText(self.tr("Surtitle could not open its window."))
        reason = self.tr("The reason: {}.").format(_reason(error))
        remedy = self.tr(
            "Start it again. If that does not help, try surtitle --reset-places, which forgets "
            "where its windows stood. The log says more: {}"
        )
        self.setInformativeText(f"{reason}\n\n{remedy.format(log_folder / LOG_NAME)}")
        self.setDetailedText("".join(traceback.format_exception(error)))
        self.setStandardButtons(QMessageBox.StandardButton.Close)


class NoAnswer(QMessageBox):
    """Report that the running Surtitle, to which a second start belongs, does not answer."""

    def __init__(self, process_id: int) -> None:
        super().__init__()
        self.setWindowTitle("Surtitle")
        self.setIcon(QMessageBox.Icon.Warning)
        text = self.tr("Surtitle runs (process {}), but does not answer.")
        self.setText(text.format(process_id))
        self.setInformativeText(
            self.tr("Wait a little and start it again. If that does not help, end that process.")
        )
        self.setStandardButtons(QMessageBox.StandardButton.Close)


def log_failed_start(error: Exception, log_folder: Path) -> None:
    """Write the error to the log, and one sentence to the terminal if there is one."""
    _log.error("the window could not be opened", exc_info=error)
    if sys.stderr is not None:
        sys.stderr.write(
            f"surtitle: the window could not be opened ({_reason(error)}): start again with "
            f"--reset-places, or see {log_folder / LOG_NAME}\n"
        )


def _reason(error: Exception) -> str:
    text = printable(str(error))
    reason = f"{type(error).__name__}: {text}" if text else type(error).__name__
    return reason if len(reason) <= _LONGEST else reason[:_LONGEST] + "…"
