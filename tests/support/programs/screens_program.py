"""The whole program on two monitors, one of which goes and comes back; prints where windows were.

SCREEN=2560x1024x24 scripts/with-display .venv/bin/python -m tests.support.programs.screens_program
"""

import json
import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.home import settings_in
from tests.support.app.monitors import Monitors
from tests.support.programs.run import waited as wait


def main():
    monitors = Monitors()
    monitors.plug("left", 0, 1280, 720)
    monitors.plug("right", 1280, 1280, 1024)
    qt = QApplication(["surtitle"])
    home = Path(tempfile.mkdtemp())
    places = home / "places.toml"
    settings = settings_in(home, places_file=places, model=home)
    application = Application(settings, EngineBridge(FakeEngine().make))
    window, overlay = application.window, application.overlay
    application.show()
    wait(window.isVisible)
    window.resize(800, 500)
    window.move(1500, 40)
    overlay.put(QPoint(1600, 850))
    overlay.moved.emit()
    wait(lambda: places.is_file() and places.read_text().count('"right"') == 2)
    stood = window.pos(), overlay.pos()
    monitors.unplug("right")
    left = qt.screens()[0].geometry()
    wait(lambda: len(qt.screens()) == 1)
    seen = {
        "window_comes": wait(lambda: left.contains(window.frameGeometry().center())),
        "overlay_comes": wait(lambda: left.contains(overlay.geometry())),
    }
    QTest.qWait(1200)  # longer than a place takes to be stored
    monitors.plug("right", 1280, 1280, 1024)
    seen["window_returns"] = wait(lambda: (window.pos() - stood[0]).manhattanLength() <= 1)
    seen["overlay_returns"] = wait(lambda: overlay.pos() == stood[1])
    sys.stdout.write(json.dumps(seen) + "\n")
    window.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
