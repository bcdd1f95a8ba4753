"""The program on a fake engine, in a place where something is missing; prints what a person saw.

python tests/support/programs/hard_place_program.py HOME N_NOTICES [LARGEST_FILE]

A sentence is typed, the overlay hidden, letters enlarged and the captions exported; then it waits
for as many notices and ends. LARGEST_FILE is in bytes: 0 is a disk on which nothing has room.
"""

import json
import os
import resource
import sys
import time
from dataclasses import replace
from pathlib import Path

if not os.environ.get("QT_QPA_PLATFORM", "").startswith("offscreen"):
    os.environ["QT_QPA_PLATFORM"] = "offscreen"

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

sys.path.insert(0, str(Path(__file__).parents[3]))

from app.application import startup
from app.application.application import Application
from app.config.launch_settings import LaunchSettings
from app.history.export import export
from app.main_window.banner import Banner
from app.session.engine_bridge import EngineBridge
from app.system.text_io import TextError
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.whole_program import cells

LIMIT_S = 100


class Visit:
    """A person who types a sentence and leaves; what they saw."""

    def __init__(self, home, n_notices):
        self.home = home
        self.n_notices = n_notices
        self.notices = []
        self.seen = {}

    def make_application(self, settings, _bridge):
        """What the program makes, but for the engine and the guide of the first start."""
        show_notice = Banner.show_notice

        def noted(banner, message):
            self.notices.append(message)
            show_notice(banner, message)

        Banner.show_notice = noted
        bridge = EngineBridge(FakeEngine().make)
        self.application = Application(replace(settings, first_run=False), bridge)
        QTimer.singleShot(0, self.act)
        return self.application

    def act(self):
        """Be the person."""
        window, overlay = self.application.window, self.application.overlay
        self.wait(lambda: window.status.is_ready)
        QTest.keyClicks(window.typed_line, "Good morning.")
        QTest.keyClick(window.typed_line, Qt.Key.Key_Return)
        self.wait(lambda: bool(self.application.keeper.cues))
        self.seen["rows"] = cells(window.transcript)
        self.seen["overlay"] = overlay.accessibleDescription()
        self.seen["screens"] = [
            screen.availableGeometry().getRect() for screen in QGuiApplication.screens()
        ]
        self.seen["windows"] = [
            one.geometry().getRect() for one in QApplication.topLevelWidgets() if one.isVisible()
        ]
        picture = overlay.grab().toImage()
        columns = range(0, picture.width(), 2)
        middle = picture.height() // 4
        self.seen["is_painted"] = len({picture.pixel(x, middle) for x in columns}) > 1
        window.controls.overlay.click()
        window.menu_actions.larger.trigger()
        try:
            export(self.home / "mine.srt", self.application.keeper.cues, "srt", "captions")
        except TextError as error:
            self.seen["export"] = str(error)
        self.wait(lambda: len(self.notices) >= self.n_notices)
        window.close()

    def wait(self, condition):
        limit_s = time.monotonic() + LIMIT_S
        while not condition() and time.monotonic() < limit_s:
            QTest.qWait(5)
        assert condition()


def main():
    home, n_notices, *largest = sys.argv[1:]
    if largest:
        resource.setrlimit(resource.RLIMIT_FSIZE, (int(largest[0]), resource.RLIM_INFINITY))
    visit = Visit(Path(home), int(n_notices))
    startup.Application = visit.make_application
    settings = LaunchSettings(
        preferences_file=visit.home / "settings.toml",
        places_file=visit.home / "places.toml",
        data_folder=visit.home,
        log_folder=visit.home / "logs",
        model=visit.home,
    )
    exit_code = startup.run(settings)
    sys.stdout.write(json.dumps({**visit.seen, "notices": visit.notices}) + "\n")
    return exit_code


if __name__ == "__main__":
    sys.exit(main())
