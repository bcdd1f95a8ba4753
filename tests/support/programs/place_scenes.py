"""Scenes of rooms and places: captions on phones and walls, screens, networks, full disks."""

import os
import subprocess
import sys
from pathlib import Path

from PySide6.QtCore import QPoint, QTimer
from PySide6.QtGui import QImage, QPainter
from PySide6.QtWidgets import QApplication

from app.config.preferences import BOTTOM_STRIP
from app.controllers import audience
from app.dialogs.networks import Network
from app.sharing.access import LOOPBACK
from engine.events import CaptionChanged, LanguagesChanged
from engine.hub.download import Fetching
from engine.hub.transfer import HubSettings
from engine.speech.speech_models import speech_model_folder
from tests.support.network.poor_networks import hanging_network

SETTLE_MS = 2500
N_PHONES = 23
ADDRESS = "http://192.168.178.20:8766/"
FRENCH = (
    "Bonjour à tous.",
    "Aujourd'hui, nous voulons parler du temps et de notre nouveau jardin.",
    "Il a plu toute la nuit.",
    "Et puis",
)


class RoomScenes:
    """Acts of the stage; it has the program in ``application`` and ``window``."""

    def soon(self, act):
        """Act when the window has settled."""
        QTimer.singleShot(SETTLE_MS // 2, act)

    def act_share_menu(self):
        self.soon(lambda: self.open_menu(self.window.menu_actions.share))

    def open_menu(self, action):
        """Open the menu of the bar that has an action, and go to it."""
        bar = self.window.menuBar()
        (entry,) = (one for one in bar.actions() if action in one.menu().actions())
        bar.setActiveAction(entry)
        entry.menu().setActiveAction(action)

    def act_share(self):
        audience.networks = lambda: [Network("192.168.178.20", "wlp3s0")]
        self.window.menu_actions.share.trigger()
        self.put_beside(self.application.sharing.dialog)

    def act_share_code(self):
        self.start_sharing(with_pin=True)
        dialog = self.application.sharing.dialog
        dialog.show_shared(ADDRESS, ADDRESS, "404327")  # as in a network that phones are in
        dialog.resize(460, 560)
        self.put_beside(dialog)

    def act_share_wall(self):
        self.act_share_code()
        dialog = self.application.sharing.dialog
        dialog.show_shared(ADDRESS, ADDRESS, "404327", ("en", "de", "fr"))
        self.soon(dialog.fill.click)

    def start_sharing(self, *, with_pin):
        self.window.menu_actions.share.trigger()
        dialog = self.application.sharing.dialog
        dialog.network.setCurrentIndex(dialog.network.findData(LOOPBACK))
        dialog.by_pin.setChecked(with_pin)
        dialog.start.click()

    def act_share_status(self):
        self.start_sharing(with_pin=False)
        self.application.sharing.dialog.close()
        self.window.status.show_shared(N_PHONES)

    def act_projector(self):
        screen = QApplication.primaryScreen()
        self.soon(lambda: self.application.projector.toggle(screen))

    def act_projector_menu(self):
        menu = self.window.menu_actions.projector
        self.soon(lambda: (self.open_menu(menu.menuAction()), menu.popup(self.right_of(menu))))

    def right_of(self, menu):
        """Return where a menu stands that belongs to the menu of the overlay."""
        owner = menu.menuAction().associatedObjects()[0]
        entry = owner.actionGeometry(menu.menuAction())
        return owner.mapToGlobal(entry.topRight())

    def act_projector_strip(self):
        self.application.settings.change("projector", place=BOTTOM_STRIP)
        self.act_projector()

    def act_languages(self):
        self.soon(self.open_choices)

    def open_choices(self):
        """Open the menu of the language button."""
        button = self.window.status.choices
        menu = button.menu()
        menu.aboutToShow.emit()
        place = button.mapToGlobal(QPoint(0, 0))
        menu.popup(QPoint(place.x(), place.y() - menu.sizeHint().height()))

    def act_second(self):
        self.soon(self.caption_in_french)

    def caption_in_french(self):
        self.application.settings.change("captions", second="fr")
        report = self.application.bridge.take
        report(LanguagesChanged(languages=("fr",)))
        for number, text in enumerate(FRENCH):
            report(CaptionChanged(utterance=number, language="fr", kept=0, text=text, n_read=1))


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
