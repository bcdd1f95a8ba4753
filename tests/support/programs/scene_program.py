"""A picture of docs/screenshots: the real windows, on the bundled model or on a fake session.

scripts/screenshots SCENE, or on a screen: python -m tests.support.programs.scene_program SCENE FILE

The phones need Chromium. Pictures have 256 colours, so that they are small.
"""

import argparse
import base64
import os
import sys
import tempfile
import traceback
from dataclasses import replace
from pathlib import Path

from PIL import Image
from PySide6.QtCore import QPoint, QRect, QSize, Qt, QTimer
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QImage, QPainter
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget

from app.captions.model import UtteranceView
from app.config.preferences import (
    InterfacePreferences,
    ListeningPreferences,
    OverlayPreferences,
    Preferences,
    PreferencesFile,
)
from app.config.translations import speak
from app.controllers import audience
from app.controllers.application import Application
from app.dialogs.networks import Network
from app.session.engine_bridge import EngineBridge
from app.sharing import room as room_module
from app.sharing.access import LOOPBACK
from app.sharing.room import Room
from app.sharing.room_feed import CAPTION, SOURCE
from engine.events import CaptionChanged, LanguagesChanged
from engine.files import ASSETS
from engine.hub.catalogue import standard_speech_model
from tests.support.app.fake_engine import LANGUAGES, FakeEngine
from tests.support.app.fake_speech_engine import FakeSpeechEngine
from tests.support.app.home import settings_in
from tests.support.app.setup_services import MACHINE, parts, says
from tests.support.audience.chromium import Chromium

SETTLE_MS = 2500
MOST_LOOKS = 12  # at what may move for ever
ENGLISH = (
    "Good morning, everyone.",
    "Today we want to talk about the weather and our new garden.",
    "It rained all night.",
    "And then",
)
GERMAN = (
    "Guten Morgen, zusammen.",
    "Heute wollen wir über das Wetter sprechen und unseren neuen Garten.",
    "Es regnete die ganze Nacht.",
    "Und dann",
)
FRENCH = (
    "Bonjour à tous.",
    "Aujourd'hui, nous voulons parler du temps et de notre nouveau jardin.",
    "Il a plu toute la nuit.",
    "Et puis",
)
ARABIC = (
    "صباح الخير جميعا.",
    "نريد اليوم أن نتحدث عن الطقس وعن حديقتنا الجديدة.",
    "هطل المطر طوال الليل.",
    "وبعد ذلك",
)
TYPED = "Good morning, everyone. We will visit the old house in "
BUNDLED = {"typing": "de", "french": "fr"}
"""Scenes on the bundled models, and their languages."""

IN_THE_BOX = {"languages", "second", "share", "share_wall"}
"""Scenes of a person who has chosen no model: each bundled one knows one language."""

WITHOUT_OVERLAY = {"advanced", "guide", "models_polish"}
ADDRESS = "http://192.168.178.20:8766/"


class Call(QWidget):
    """A video call of some other program: people who have their cameras off."""

    TILE, GAP = QSize(560, 280), 20
    PEOPLE = (("PK", "#7a5195"), ("AN", "#2f7f86"), ("LB", "#b5651d"), ("ME", "#4a6fa5"))

    def paintEvent(self, _event):  # noqa: N802  the name in Qt
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor("#17191d"))
        painter.setPen(QColor("white"))
        font = painter.font()
        font.setPointSize(24)
        painter.setFont(font)
        left = (self.width() - 2 * self.TILE.width() - self.GAP) // 2
        for number, (name, colour) in enumerate(self.PEOPLE):
            row, column = divmod(number, 2)
            across, down = self.TILE.width() + self.GAP, self.TILE.height() + self.GAP
            tile = QRect(QPoint(left + column * across, 40 + row * down), self.TILE)
            painter.setBrush(QColor("#26292f"))
            painter.drawRoundedRect(tile, 10, 10)
            painter.setBrush(QColor(colour))
            painter.drawEllipse(tile.center(), 48, 48)
            painter.drawText(tile, Qt.AlignmentFlag.AlignCenter, name)
        painter.end()


class Stage:
    """The program, set to a scene."""

    def __init__(self, qt, arguments):
        self.qt, self.scene, self.file = qt, arguments.scene, arguments.file
        folder, language = Path(tempfile.mkdtemp()), BUNDLED.get(self.scene)
        in_the_box = self.scene in IN_THE_BOX
        if in_the_box:
            LANGUAGES.pop("fr")
        look = InterfacePreferences(appearance="dark" if arguments.dark else "light")
        overlay = OverlayPreferences(
            visible=not self.scene.startswith(("advanced", "guide", "mod"))
        )
        listening = ListeningPreferences(recognizer=standard_speech_model())
        preferences = replace(Preferences(), interface=look, listening=listening, overlay=overlay)
        PreferencesFile(folder / "settings.toml").write(preferences)
        settings = settings_in(
            folder, model=None if in_the_box or language else folder, language=language
        )
        words = {
            word: caption
            for pair in zip(ENGLISH, GERMAN, strict=True)
            for word, caption in zip_words(*pair)
        }
        engine = FakeEngine(
            translate=lambda text: " ".join(words.get(it, it) for it in text.split())
        )
        bridge = EngineBridge() if language else EngineBridge(engine.make)
        speech = FakeSpeechEngine({}, here=(standard_speech_model(), "base.en", "tiny.en"))
        self.application = Application(settings, bridge, speech.make)
        self.application.finished.connect(qt.quit)
        self.window = self.application.window

    def play(self):
        """Do what a person would have done before the picture."""
        self.application.show()
        while not self.window.status.is_ready:
            QTest.qWait(SETTLE_MS)
        line = self.window.typed_line
        if self.scene in BUNDLED:
            text = TYPED if self.scene == "typing" else f"{TYPED}the city tomorrow."
            QTest.keyClicks(line, text, delay=70)
        else:
            *whole, begun = ENGLISH
            for text in whole:
                line.insert(text)
                line.returnPressed.emit()
            line.insert(f"{begun} ")
        QTest.qWait(SETTLE_MS)
        getattr(self, f"act_{self.scene}")()
        self.wait()

    def act_typing(self):
        """Stop in the middle of a sentence."""

    def act_french(self):
        self.window.typed_line.returnPressed.emit()

    def act_window(self):
        """Show the window as it is."""

    def act_meeting(self):
        """Show the overlay over a call."""
        self.window.hide()
        self.call = Call()
        self.call.setWindowFlag(Qt.WindowType.FramelessWindowHint)
        self.call.setGeometry(self.qt.primaryScreen().geometry().adjusted(0, 0, 0, -1))
        self.call.show()
        self.application.overlay.raise_()

    def put_beside(self, dialog):
        """Move a dialog over the main window, inside the screen."""
        area = dialog.screen().availableGeometry()
        room = area.size() - dialog.frameGeometry().size()
        wanted = self.window.pos() + QPoint(40, 60)
        dialog.move(min(wanted.x(), max(0, room.width())), min(wanted.y(), max(0, room.height())))

    def act_advanced(self):
        self.window.menu_actions.settings.trigger()
        dialog = self.application.settings_dialog
        dialog.open_page(dialog.advanced)
        self.put_beside(dialog)

    def set_up(self):
        """Have a laptop of a known speed, on whatever machine the picture is taken."""
        setup, service = self.application.setup, self.application.listening.service
        laptop = MACHINE | {"processor": "Some Processor 9000"}
        setup.parts = replace(
            parts(says(laptop, {"kind": "computing", "gflops": 620.0})), bundled=setup.parts.bundled
        )
        service.measure_speed = lambda: service.speed_measured.emit(620.0, False)
        return setup

    def act_guide(self):
        setup = self.set_up()
        setup.open_guide()
        self.put_beside(setup.dialog)

    def act_models_polish(self):
        setup = self.set_up()
        setup.open_models("pl")
        self.put_beside(setup.models)

    def act_server(self):
        """Name another computer that translates."""
        *_, other = (one for one in self.window.choices.computer.actions() if one.text())
        other.trigger()
        dialog = self.application.server.dialog
        dialog.address.setText("https://office-pc:8443")
        dialog.token.setText("a token of the office, told by those who run the server")
        self.put_beside(dialog)

    def act_share(self):
        audience.networks = lambda: [Network("192.168.178.20", "wlp3s0", is_wireless=True)]
        self.window.menu_actions.share.trigger()
        self.put_beside(self.application.sharing.dialog)

    def act_share_wall(self):
        self.act_share()
        dialog = self.application.sharing.dialog
        dialog.show_shared(ADDRESS, ADDRESS, "404327", ("en", "de", "fr"))
        dialog.fill.click()

    def act_projector(self):
        self.application.projector.toggle(QApplication.primaryScreen())

    def act_languages(self):
        """Open the menu of the language button."""
        button = self.window.status.choices
        menu = button.menu()
        menu.aboutToShow.emit()
        menu.popup(button.mapToGlobal(QPoint(0, -menu.sizeHint().height())))

    def act_second(self):
        self.application.settings.change("captions", second="fr")
        report = self.application.bridge.take
        report(LanguagesChanged(languages=("fr",)))
        for number, text in enumerate(FRENCH):
            report(CaptionChanged(utterance=number, language="fr", kept=0, text=text, n_read=1))

    def wait(self):
        """Take the picture when nothing moves on the screen any more, or after a while."""
        seen = None
        for _ in range(MOST_LOOKS):
            before, seen = seen, self.qt.primaryScreen().grabWindow(0).toImage()
            if seen == before:
                break
            QTest.qWait(SETTLE_MS // 2)
        save(seen, self.file)
        popup = self.qt.activePopupWidget()
        if popup is not None:
            popup.close()
        if self.scene == "meeting":
            self.call.close()
        self.window.close()


def zip_words(source, target):
    """Give each word of the source its share of the target; what is left over goes to the last."""
    words, captions = source.split(), target.split()
    shares = [" ".join(captions[number : number + 1]) for number in range(len(words) - 1)]
    return zip(words, [*shares, " ".join(captions[len(words) - 1 :])], strict=True)


def save(picture, file):
    assert picture.save(file)
    Image.open(file).convert("RGB").quantize(256, dither=Image.Dither.NONE).save(
        file, optimize=True
    )


def phones(file, language):
    """Show on two phones what they read: captions of which the last one still grows."""
    room_module.PORT = 0
    room = Room(LOOPBACK, {SOURCE: "en", CAPTION: "de", "ar": "ar"})
    room.show_ready(("ar",))
    texts = enumerate(zip(GERMAN, ARABIC, strict=True), 1)
    views = [
        UtteranceView(
            key=key, caption=one, further=(("ar", other),), language="de", ended=key < len(GERMAN)
        )
        for key, (one, other) in texts
    ]
    room.show_views(views)
    both = QImage(800, 520, QImage.Format.Format_RGB32)
    both.fill(QColor("#888"))
    painter = QPainter(both)
    with tempfile.TemporaryDirectory() as folder:
        browser = Chromium(folder)
        for left, show in ((0, ""), (410, "ar")):
            page = browser.page(size=(390, 520), dark=bool(show), language=language)
            page.open(room.link)
            page.wait("document.querySelector('main p')")
            if show:  # the captions are shown by themselves
                choice = "document.getElementById('show')"
                page.get(f"(it => {{ it.value = '{show}'; it.onchange(); }})({choice})")
            lines = f"main p[lang={show or 'de'}]"
            page.wait(f"document.querySelectorAll('{lines}').length === {len(GERMAN)}")
            picture = QImage.fromData(base64.b64decode(page.picture()))
            painter.drawImage(left, 0, picture)
            page.get("localStorage.clear()")
            page.close()
        browser.close()
    painter.end()
    room.close()
    save(both, file)


def main():
    scenes = sorted(name[4:] for name in dir(Stage) if name.startswith("act_"))
    parser = argparse.ArgumentParser()
    parser.add_argument("scene", choices=[*scenes, "share_phone"])
    parser.add_argument("file")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--language", default="en")
    arguments = parser.parse_args()
    if arguments.scene == "share_phone":
        application = QGuiApplication(["surtitle", "-platform", "offscreen"])
        phones(arguments.file, arguments.language)
        application.quit()
        return 0
    qt = QApplication(["surtitle"])
    qt.setCursorFlashTime(0)
    qt.setWindowIcon(QIcon(str(ASSETS / "icons" / "surtitle.svg")))
    translators = speak(qt, arguments.language, ASSETS / "languages")
    desktop = QWidget()  # behind the windows
    desktop.setAttribute(Qt.WidgetAttribute.WA_X11NetWmWindowTypeDesktop)
    desktop.setStyleSheet("background: #5b6b7f")
    desktop.setGeometry(qt.primaryScreen().geometry())
    desktop.show()
    sys.excepthook = lambda *what: (traceback.print_exception(*what), os._exit(1))
    stage = Stage(qt, arguments)
    QTimer.singleShot(SETTLE_MS // 2, stage.play)
    status = qt.exec()
    translators.clear()
    return status


if __name__ == "__main__":
    sys.exit(main())
