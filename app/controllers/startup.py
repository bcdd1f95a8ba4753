"""Starts the window: one instance for each user, with log, language and icon."""

import logging
import os
import sys
import traceback
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QCoreApplication, Qt
from PySide6.QtGui import QFontMetricsF, QIcon
from PySide6.QtWidgets import QApplication, QDialog, QMessageBox

from app.config.background import GarbageCollector, Interrupt, report_errors_of_overrides
from app.config.logs import LOG_NAME, Logs
from app.config.preferences import LaunchSettings, PreferencesFile
from app.config.settings_in_force import SettingsInForce
from app.config.single_instance import Reply, SingleInstance, send_command
from app.config.text_io import printable
from app.config.translations import speak
from app.controllers.application import Application
from app.look.widgets.fit_to_screen import FitToScreen
from app.main_window.actions import Tray
from app.session.engine_bridge import EngineBridge
from engine.files import ASSETS

_LONGEST = 200  # characters of a reason
_log = logging.getLogger(__name__)
_NO_FONT = (
    "surtitle: there is no font here that has letters, so windows show boxes instead of text; "
    "install one (on Debian and Ubuntu: sudo apt-get install fonts-dejavu-core) and start again\n"
)
_NOT_RUNNING = "surtitle: there is no Surtitle that runs and could be told; start it first\n"
_SILENT = "surtitle: Surtitle runs (process {}), but has not answered yet; waiting some seconds\n"
_NO_ANSWER = (
    "surtitle: Surtitle runs (process {}), but does not answer; wait a little and try again, or "
    "end that process\n"
)


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


def run(settings: LaunchSettings) -> int:
    """Run the window and return the exit code; a second start raises the window of the first."""
    qt = QApplication(["surtitle"])
    report_errors_of_overrides()
    GarbageCollector(qt)
    qt.setApplicationName("Surtitle")
    qt.setDesktopFileName("surtitle")
    qt.setWindowIcon(QIcon(str(ASSETS / "icons" / "surtitle.svg")))
    if not QFontMetricsF(qt.font()).inFont("a"):
        sys.stderr.write(_NO_FONT)
    preferences, _ = PreferencesFile(settings.preferences_file).read()
    translators = speak(qt, preferences.interface.language, ASSETS / "languages")
    interrupt = Interrupt()
    instance = SingleInstance(settings.data_folder)
    if not instance.claim():
        exit_code = tell_running(settings, "raise")
        if exit_code:
            _show(NoAnswer(instance.process_id), interrupt)
        interrupt.close()
        return exit_code
    logs = Logs(settings.log_folder)
    first_run = not settings.preferences_file.exists()
    settings = replace(settings, crashed=logs.crashed, first_run=first_run)
    exit_code, wants_restart = 1, False
    try:
        application = Application(settings, EngineBridge())
        instance.command_came.connect(application.obey)
        application.show()
    except Exception as error:  # noqa: BLE001  whatever it is, nobody would see a traceback
        log_failed_start(error, settings.log_folder)
        for window in qt.topLevelWidgets():
            window.hide()  # what was opened before would load a model
        _show(FailedStart(error, settings.log_folder), interrupt)
    else:
        exit_code = _run_until_closed(application, qt, interrupt)
        wants_restart = application.overlay_actions.wants_restart
    interrupt.close()
    instance.close()
    logs.close()
    translators.clear()
    if wants_restart:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return exit_code


def _run_until_closed(application: Application, qt: QApplication, interrupt: Interrupt) -> int:
    interrupt.came.connect(application.window.close)
    application.finished.connect(qt.quit)
    tray = Tray(application.window.menu_actions, qt.windowIcon(), application)
    tray.window_wanted.connect(application.raise_window)
    application.window.may_hide = partial(stays_in_tray, tray, application.settings)
    qt.setQuitOnLastWindowClosed(False)  # the overlay and the tray go on
    exit_code: int = qt.exec()
    tray.hide()  # some desktops keep the icon of an ended program
    return exit_code


def stays_in_tray(tray: Tray, settings: SettingsInForce) -> bool:
    """Return whether the program goes on in the tray without its window; explain that once."""
    if tray.isVisible() and not settings.preferences.interface.knows_tray:
        tray.explain()
        settings.change("interface", knows_tray=True)
    return tray.isVisible()


def _show(dialog: QDialog, interrupt: Interrupt) -> None:
    """Show a dialog until it is closed, also by Ctrl+C."""
    interrupt.came.connect(dialog.reject)
    FitToScreen(dialog)
    dialog.exec()


def tell_running(settings: LaunchSettings, command: str) -> int:
    """Send a command to the running Surtitle; return the exit code, 1 if none obeyed."""
    core = QCoreApplication.instance() or QCoreApplication(["surtitle"])

    def tell(message: str) -> None:
        process_id = SingleInstance(settings.data_folder).process_id
        sys.stderr.write(message.format(process_id))
        sys.stderr.flush()

    reply = send_command(settings.data_folder, command, lambda: tell(_SILENT))
    if reply == Reply.NONE_RUNS:
        sys.stderr.write(_NOT_RUNNING)
    elif reply == Reply.NOT_OBEYED:
        tell(_NO_ANSWER)
    del core
    return 0 if reply == Reply.OBEYED else 1
