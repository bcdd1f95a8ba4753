"""Starts the window: one instance for each user, with log, language and icon."""

import os
import sys
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFontMetricsF, QIcon
from PySide6.QtWidgets import QApplication, QDialog

from app.config.launch_settings import LaunchSettings
from app.config.preferences_file import PreferencesFile
from app.config.settings_in_force import SettingsInForce
from app.config.system.failed_start import FailedStart, NoAnswer, log_failed_start
from app.config.system.garbage import GarbageCollector
from app.config.system.logs import Logs
from app.config.system.single_instance import Reply, SingleInstance, send_command
from app.config.system.translations import speak
from app.config.system.unix_signals import Interrupt
from app.controllers.application import Application
from app.look.widgets.fit_to_screen import FitToScreen
from app.main_window.tray import Tray
from app.session.engine_bridge import EngineBridge
from engine.files import ASSETS

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


def run(settings: LaunchSettings) -> int:
    """Run the window and return the exit code; a second start raises the window of the first."""
    qt = QApplication(["surtitle"])
    garbage = GarbageCollector(qt)
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
        garbage.close()
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
        wants_restart = application.wants_restart
    interrupt.close()
    instance.close()
    logs.close()
    translators.clear()
    garbage.close()
    if wants_restart:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return exit_code


def _run_until_closed(application: Application, qt: QApplication, interrupt: Interrupt) -> int:
    interrupt.came.connect(application.window.close)
    application.finished.connect(qt.quit)
    tray = Tray(application.window.menu_actions, qt.windowIcon(), application)
    tray.window_wanted.connect(application.raise_window)
    tray.show()
    application.window.may_hide = partial(stays_in_tray, tray, application.settings)
    qt.setQuitOnLastWindowClosed(False)  # the overlay and the tray go on
    exit_code: int = qt.exec()
    tray.hide()
    return exit_code


def stays_in_tray(tray: Tray, settings: SettingsInForce) -> bool:
    """Return whether the program goes on in the tray without its window; explain that once."""
    if tray.is_shown and not settings.preferences.interface.knows_tray:
        tray.explain()
        settings.change("interface", knows_tray=True)
    return tray.is_shown


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
