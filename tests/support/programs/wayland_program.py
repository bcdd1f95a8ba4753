"""The whole program in a Wayland session; prints what it believes and what the compositor knows.

scripts/with-wayland .venv/bin/python -m tests.support.programs.wayland_program
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.config.window_system import platform_wanted
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.home import settings_in
from tests.support.programs.run import waited as wait


def sway(*words):
    """Tell the compositor something; the event loop goes on meanwhile."""
    process = subprocess.Popen(["swaymsg", *words], stdout=subprocess.PIPE, text=True)
    while process.poll() is None:
        QTest.qWait(10)
    QTest.qWait(200)
    return process.stdout.read()


def window_rect(title):
    """Ask the compositor where a window is, which the program itself cannot know."""
    nodes = [json.loads(sway("-t", "get_tree", "-r"))]
    while nodes:
        node = nodes.pop()
        if node.get("name") == title:
            return node["rect"]
        nodes += node["nodes"] + node["floating_nodes"]
    return None


def main():
    qt = QApplication(["surtitle"])
    qt.setDesktopFileName("surtitle")
    folder = Path(tempfile.mkdtemp())
    settings = settings_in(
        folder,
        model=folder,
        can_use_xwayland=platform_wanted(os.environ, through_xwayland=True) is not None,
    )
    application = Application(settings, EngineBridge(FakeEngine().make))
    window, overlay = application.window, application.overlay
    application.show()
    wait(lambda: window.status.is_ready)
    wait(lambda: window_rect(overlay.windowTitle()) is not None)
    found = {
        "platform": qt.platformName(),
        "told": window.banner.sentence.text(),
        "offered": window.banner.offer.isVisible(),
        "bar_inside": not application.overlay_controller.bar.isWindow(),
    }
    overlay.move(QPoint(10, 20))
    QTest.qWait(300)
    rect = window_rect(overlay.windowTitle())
    found["qt_says"] = [overlay.pos().x(), overlay.pos().y()]
    found["is_at"] = [rect["x"], rect["y"]]
    sys.stderr.write("LOCK\n")
    overlay.set_locked(locked=True)
    QTest.qWait(300)
    found["locked_is_seen"] = wait(lambda: window_rect(overlay.windowTitle()) is not None)
    sys.stderr.write("LOCKED\n")
    window.close()
    found["keeps_place"] = "[overlay]" in (folder / "places.toml").read_text()
    sys.stdout.write(json.dumps(found) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
