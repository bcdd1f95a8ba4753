"""One scene of the program for a picture: the real windows on a fake session; scripts/screenshots.

python tests/support/programs/scene_program.py SCENE FILE.png [--dark] [--language de]
"""

import argparse
import os
import sys
import tempfile
import threading
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QColor, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QWidget

sys.path.insert(0, str(Path(__file__).parents[3]))

from app.config.preferences import (
    InterfacePreferences,
    ListeningPreferences,
    OverlayPreferences,
    Preferences,
    PreferencesFile,
)
from app.config.translations import speak
from app.config.window_system import platform_wanted
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from engine.events import LoadProgress
from engine.files import ASSETS
from engine.hub.bundled import standard_speech_model
from engine.messages import Code
from engine.models.model_card import LANGUAGE_NAMES
from tests.support.app.fake_engine import LANGUAGES, FakeEngine
from tests.support.app.fake_speech_engine import FakeSpeechEngine
from tests.support.app.home import settings_in
from tests.support.programs.place_scenes import (
    DISK,
    FULL,
    SETTLE_MS,
    PlaceScenes,
    RoomScenes,
    go_to_place,
    picture_of,
)
from tests.support.programs.side_scenes import SideScenes

ENGLISH = [
    "Good morning, everyone.",
    "Today we want to talk about the weather and our new garden.",
    "It rained all night.",
    "And then",
]
GERMAN = [
    "Guten Morgen, zusammen.",
    "Heute wollen wir über das Wetter sprechen und unseren neuen Garten.",
    "Es regnete die ganze Nacht.",
    "Und dann",
]
POLISH = [
    "Dzień dobry wszystkim.",
    "Dzisiaj chcemy porozmawiać o pogodzie i naszym nowym ogrodzie.",
    "Padało całą noc.",
    "A potem",
]
WITHOUT_OVERLAY = {"advanced", "guide", "guide_languages", "guide_polish", "models_polish"}
IN_THE_BOX = {"languages", "second", "share", "share_code", "share_status", "share_wall"}
"""Scenes of somebody who has chosen no model: each bundled one knows one language."""

MOST_LOOKS = 12  # at what may move for ever, as a busy progress bar


class Stage(SideScenes, RoomScenes, PlaceScenes):
    """The program, set to a scene."""

    def __init__(self, qt, arguments):
        self.qt = qt
        self.arguments = arguments
        self.folder = DISK if arguments.scene == FULL else Path(tempfile.mkdtemp())
        self.others = []
        language = "pl" if arguments.scene == "polish" else None
        translations = POLISH if language else GERMAN
        LANGUAGES.update({code: LANGUAGE_NAMES[code] for code in (language,) if code})
        in_the_box = arguments.scene in IN_THE_BOX
        if in_the_box:
            LANGUAGES.pop("fr")
        pairs = dict(zip(ENGLISH, translations, strict=True))
        words = {
            word: caption
            for source, target in pairs.items()
            for word, caption in zip_words(source, target)
        }
        self.prepare()
        settings = settings_in(
            self.folder,
            model=None if in_the_box else self.folder,
            language=language,
            can_use_xwayland=platform_wanted(os.environ, through_xwayland=True) is not None,
        )
        may_load = threading.Event() if arguments.scene == "converting" else None

        def translated(text: str) -> str:
            return " ".join(filter(None, (words.get(word, word) for word in text.split())))

        engine = FakeEngine(translate=translated, may_load=may_load)
        here = (standard_speech_model(), "base.en", "tiny.en")
        speech = self.speech = FakeSpeechEngine({}, here=here)
        self.application = Application(settings, EngineBridge(engine.make), speech.make)
        self.application.finished.connect(qt.quit)
        self.window = self.application.window

    def prepare(self):
        """Write what the scene finds when the program starts."""
        scene, preferences = self.arguments.scene, Preferences()
        if scene in WITHOUT_OVERLAY:
            preferences = replace(preferences, overlay=OverlayPreferences(visible=False))
        interface = InterfacePreferences(appearance="dark" if self.arguments.dark else "light")
        name = "base.en" if scene.startswith("hanging") else standard_speech_model()
        listening = ListeningPreferences(recognizer=name)  # what comes along is not fetched
        preferences = replace(preferences, interface=interface, listening=listening)
        PreferencesFile(self.folder / "settings.toml").write(preferences)

    def play(self):
        self.application.show()
        QTimer.singleShot(SETTLE_MS, self.act)

    def act(self):
        """Do what a person would have done before the picture."""
        line = self.window.typed_line
        *whole, begun = ENGLISH
        for text in whole:
            line.insert(text)
            line.returnPressed.emit()
        line.insert(f"{begun} ")
        act = getattr(self, f"act_{self.arguments.scene}", None)
        if act is not None:
            act()
        QTimer.singleShot(SETTLE_MS, self.wait)

    def act_converting(self):
        self.act_polish()
        message = Code.CONVERTING(name="facebook/m2m100_418M", done=0.6)
        self.application.bridge.event_came.emit(LoadProgress(message=message, fraction=0.56))

    def act_polish(self):
        languages = {code: LANGUAGE_NAMES[code] for code in ("de", "fr", "pl")}
        self.window.choices.show_languages(languages, "pl")

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

    def wait(self, before=None, n_looks=0):
        """Take the picture when nothing moves on the screen any more, or after a while."""
        seen = self.qt.primaryScreen().grabWindow(0).toImage()
        if seen == before or n_looks == MOST_LOOKS:
            self.grab()
        else:
            QTimer.singleShot(SETTLE_MS // 2, lambda: self.wait(seen, n_looks + 1))

    def grab(self):
        assert picture_of(self.qt.screens()).save(self.arguments.file)
        popup = self.qt.activePopupWidget()
        if popup is not None:
            popup.close()
        for other in self.others:
            other.close()
        self.window.close()


def zip_words(source, target):
    """Give each word of the source its share of the target; what is left over goes to the last."""
    words, captions = source.split(), target.split()
    shares = [" ".join(captions[number : number + 1]) for number in range(len(words) - 1)]
    return zip(words, [*shares, " ".join(captions[len(words) - 1 :])], strict=True)


def show_desktop(desktop, place):
    """Put something behind the windows."""
    desktop.setAttribute(Qt.WidgetAttribute.WA_X11NetWmWindowTypeDesktop)
    palette = QPalette()
    palette.setColor(QPalette.ColorRole.Window, QColor(0x5B, 0x6B, 0x7F))
    desktop.setPalette(palette)
    desktop.setGeometry(place)
    desktop.show()


def scenes():
    """All scenes, by their names."""
    return sorted({"typing"} | {name[4:] for name in dir(Stage) if name.startswith("act_")})


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("scene", choices=scenes())
    parser.add_argument("file")
    parser.add_argument("--dark", action="store_true")
    parser.add_argument("--language", default="en")
    arguments = parser.parse_args()
    go_to_place(arguments.scene)
    qt = QApplication(["surtitle"])
    qt.setCursorFlashTime(0)
    qt.setWindowIcon(QIcon(str(ASSETS / "icons" / "surtitle.svg")))
    translators = speak(qt, arguments.language, ASSETS / "languages")
    qt.setDesktopFileName("surtitle")
    desktops = [QWidget() for _ in qt.screens()]
    for desktop, screen in zip(desktops, qt.screens(), strict=True):
        show_desktop(desktop, screen.geometry())
    stage = Stage(qt, arguments)
    QTimer.singleShot(SETTLE_MS // 2, stage.play)
    status = qt.exec()
    translators.clear()
    return status


if __name__ == "__main__":
    sys.exit(main())
