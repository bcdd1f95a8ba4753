"""Starts the window: one instance for each user, with log, language and icon."""

import os
import sys
from dataclasses import replace

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QFontMetricsF, QIcon
from PySide6.QtWidgets import QApplication

from app.application.application import Application
from app.application.tray import Tray
from app.config.launch_settings import LaunchSettings
from app.config.preferences_file import PreferencesFile
from app.session.engine_bridge import EngineBridge
from app.system.logs import Logs
from app.system.single_instance import SingleInstance, send_command
from app.system.translations import speak
from app.system.unix_signals import Interrupt
from engine.files import ASSETS

_NO_FONT = (
    "surtitle: there is no font here that has letters, so windows show boxes instead of text; "
    "install one (on Debian and Ubuntu: sudo apt-get install fonts-dejavu-core) and start again\n"
)
_NOT_RUNNING = "surtitle: there is no Surtitle that runs and could be told; start it first\n"


def run(settings: LaunchSettings) -> int:
    """Run the window and return the exit code; a second start raises the window of the first."""
    qt = QApplication(["surtitle"])
    qt.setApplicationName("Surtitle")
    qt.setDesktopFileName("surtitle")
    qt.setWindowIcon(QIcon(str(ASSETS / "icons" / "surtitle.svg")))
    if not QFontMetricsF(qt.font()).inFont("a"):
        sys.stderr.write(_NO_FONT)
    preferences, _ = PreferencesFile(settings.preferences_file).read()
    translators = speak(qt, preferences.interface.language, ASSETS / "languages")
    instance = SingleInstance(settings.data_folder)
    if not instance.claim():
        return tell_running(settings, "raise")
    logs = Logs(settings.log_folder)
    first_run = not settings.preferences_file.exists()
    settings = replace(settings, crashed=logs.crashed, first_run=first_run)
    application = Application(settings, EngineBridge())
    instance.command_came.connect(application.obey)
    tray = Tray(application.window.menu_actions, qt.windowIcon(), application)
    tray.window_wanted.connect(application.raise_window)
    interrupt = Interrupt()
    interrupt.came.connect(application.window.close)
    application.finished.connect(qt.quit)
    application.show()
    tray.show()
    exit_code = qt.exec()
    tray.hide()
    interrupt.close()
    instance.close()
    logs.close()
    translators.clear()
    if application.wants_restart:
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])
    return exit_code


def tell_running(settings: LaunchSettings, command: str) -> int:
    """Send a command to the running Surtitle; return the exit code, 1 if there is none."""
    core = QCoreApplication.instance() or QCoreApplication(["surtitle"])
    was_sent = send_command(settings.data_folder, command)
    del core
    if not was_sent:
        sys.stderr.write(_NOT_RUNNING)
    return 0 if was_sent else 1
