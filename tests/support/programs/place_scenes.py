"""Scenes in the places of others: three screens, a network that hangs, a disk that is full."""

import os
import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QPoint
from PySide6.QtGui import QImage, QPainter

from engine.hub.download import Fetching
from engine.hub.transfer import HubSettings
from engine.speech.speech_models import speech_model_folder
from tests.support.network.poor_networks import hanging_network

FULL = "full_disk"
DISK = Path("/mnt")
"""Where a small disk is laid over what is there, for this program alone."""

MONITORS = (("left", 0, 1280, 720), ("middle", 1280, 1280, 720), ("right", 2560, 1280, 720))
N_FREE_BYTES = 1 << 20


def go_to_place(scene):
    """Start again where the program has the place of a scene, or prepare it; before Qt starts."""
    if scene == "three_screens":
        from tests.support.app.monitors import Monitors  # noqa: PLC0415  libraries of X11

        monitors = Monitors()
        for monitor in MONITORS:
            monitors.plug(*monitor)
    if scene == FULL and not os.path.ismount(DISK):
        mount = f'mount -t tmpfs -o size={N_FREE_BYTES} none {DISK} && exec "$@"'
        names = ("unshare", "--map-root-user", "--mount", "sh", "-c", mount, "sh")
        os.execvp("unshare", [*names, sys.executable, *sys.argv])


def picture_of(screens):
    """Give one picture of all screens, as they stand beside each other, pixel by pixel."""
    whole, ratio = screens[0].virtualGeometry(), screens[0].devicePixelRatio()
    picture = QImage(whole.size() * ratio, QImage.Format.Format_RGB32)
    picture.setDevicePixelRatio(ratio)
    painter = QPainter(picture)
    for screen in screens:
        corner = screen.geometry().topLeft() - whole.topLeft()
        painter.drawPixmap(corner, screen.grabWindow(0))
    painter.end()
    return picture


class PlaceScenes:
    """Acts of the stage; it has the program in ``application`` and ``window``."""

    def act_three_screens(self):
        """Have the windows on the left, the captions in the middle, a room before the right."""
        _left, middle, right = sorted(self.qt.screens(), key=lambda it: it.geometry().x())
        overlay = self.application.overlay
        area = middle.availableGeometry()
        overlay.put(QPoint(area.center().x() - overlay.width() // 2, area.bottom() - 160))
        overlay.moved.emit()
        self.application.projector.toggle(right)

    def act_hanging_told(self):
        """Have waited as long as the program does; here that is a moment."""
        self.speech.here = set()

        def fetch(recognizer, progress, cancelled, **_again):
            with hanging_network() as endpoint:
                hub = HubSettings(endpoint=endpoint, timeout_s=0.2)
                wanted = Fetching(settings=hub, progress=progress, cancelled=cancelled)
                speech_model_folder(recognizer, self.folder, wanted)

        self.speech.fetch = fetch
        self.application.listening.fetch()

    def act_full_disk(self):
        """Fill the disk in the middle of a session, and end one more sentence."""
        subprocess.run(["dd", "if=/dev/zero", f"of={DISK}/rest"], check=False, capture_output=True)
        self.window.typed_line.returnPressed.emit()
