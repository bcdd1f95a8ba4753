"""One scene of the program for a picture: the real windows on a fake session; scripts/screenshots.

python tests/support/programs/scene_program.py SCENE FILE.png [--dark] [--language de]
"""

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QColor, QIcon, QPalette
from PySide6.QtWidgets import QApplication, QWidget

sys.path.insert(0, str(Path(__file__).parents[3]))

from app.captions.cue_recorder import CueKept
from app.captions.cues import Cue
from app.captions.journal import SessionJournal
from app.captions.line_breaking import Line
from app.config.preferences import (
    PRESETS,
    CaptionPreferences,
    InterfacePreferences,
    ListeningPreferences,
    OverlayPreferences,
    Preferences,
    PreferencesFile,
)
from app.config.translations import speak
from app.config.window_system import is_wayland, platform_wanted
from app.controllers.application import Application
from app.overlay.text_layout import OverlayView
from app.overlay.window import Overlay
from app.session.engine_bridge import EngineBridge
from engine.audio.devices import DeviceKind
from engine.events import AdapterChanged, LoadProgress
from engine.files import ASSETS
from engine.hub.bundled import standard_speech_model
from engine.messages import Code
from engine.models.instruct_card import LANGUAGE_NAMES
from engine.speech.events import Behind, LeftOut, TailChanged
from tests.support.app.fake_engine import LANGUAGES, FakeEngine
from tests.support.app.fake_speech_engine import FakeSpeechEngine
from tests.support.app.home import settings_in
from tests.support.programs.place_scenes import DISK, FULL, PlaceScenes, go_to_place, picture_of
from tests.support.programs.room_scenes import SETTLE_MS, RoomScenes
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
ARABIC = [
    "صباح الخير، جميعا.",
    "اليوم نريد أن نتحدث عن الطقس وحديقتنا الجديدة.",
    "أمطرت طوال الليل.",
    "وبعد ذلك",
]
POLISH = [
    "Dzień dobry wszystkim.",
    "Dzisiaj chcemy porozmawiać o pogodzie i naszym nowym ogrodzie.",
    "Padało całą noc.",
    "A potem",
]
FAILURE = "the model in /home/ada/models/broken has no file config.json; choose another folder"
WITHOUT_OVERLAY = {
    "presets",
    "adapters",
    "advanced",
    "general",
    "about",
    "help",
    "shortcuts",
    "translation",
    "speech_settings",
    "export",
    "sessions",
    "session",
    "menu",
    *("guide", "guide_languages", "guide_speech", "guide_download", "guide_failure"),
    "guide_try",
    *("models", "media", "media_running"),
    *("guide_polish", "models_polish"),
    "glossary",
}
HEARD = {
    DeviceKind.MICROPHONE: ["Good morning, everyone. Today we want to talk about the weather"],
    DeviceKind.SYSTEM: ["It rained all night. And"],
}
SPOKEN = {"listening", "behind"}
"""Scenes in which somebody speaks and nobody types."""

IN_THE_BOX = {
    "languages",
    "second_menu",
    "second",
    "share",
    "share_code",
    "share_status",
    "share_wall",
}
"""Scenes of somebody who has chosen no model: each bundled one knows one language."""

PREPARED = {"typing", "arabic", "empty", "loading", "failure", "recovery"}
"""Scenes that need no act beyond typing."""

MOST_LOOKS = 12  # at what may move for ever, as a busy progress bar


class Stage(SideScenes, RoomScenes, PlaceScenes):
    """The program, set to a scene."""

    def __init__(self, qt, arguments):
        self.qt = qt
        self.arguments = arguments
        self.folder = DISK if arguments.scene == FULL else Path(tempfile.mkdtemp())
        self.others = []
        language = {"arabic": "ar", "polish": "pl"}.get(arguments.scene)
        translations = {"ar": ARABIC, "pl": POLISH}.get(language, GERMAN)
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
        failures = [FAILURE] if arguments.scene == "failure" else []
        may_load = threading.Event() if arguments.scene in {"loading", "converting"} else None

        def translated(text: str) -> str:
            return " ".join(filter(None, (words.get(word, word) for word in text.split())))

        engine = FakeEngine(translate=translated, failures=failures, may_load=may_load)
        here = (standard_speech_model(), "base.en", "tiny.en")
        speech = self.speech = FakeSpeechEngine(HEARD, here=here)
        self.application = Application(settings, EngineBridge(engine.make), speech.make)
        self.application.finished.connect(qt.quit)
        self.window = self.application.window

    def prepare(self):
        """Write what the scene finds when the program starts."""
        scene, preferences = self.arguments.scene, Preferences()
        if scene in SPOKEN | {"arabic"}:
            points = 22 if scene in SPOKEN else 24
            captions = CaptionPreferences(mode="both", lines=2, characters=40, point_size=points)
            preferences = replace(preferences, captions=captions)
        if scene in WITHOUT_OVERLAY:
            preferences = replace(preferences, overlay=OverlayPreferences(visible=False))
        if scene == "locked":
            preferences = replace(preferences, overlay=OverlayPreferences(locked=True))
        interface = InterfacePreferences(appearance="dark" if self.arguments.dark else "light")
        name = "base.en" if scene.startswith("hanging") else standard_speech_model()
        listening = ListeningPreferences(recognizer=name)  # what comes along is not fetched
        preferences = replace(preferences, interface=interface, listening=listening)
        PreferencesFile(self.folder / "settings.toml").write(preferences)
        if scene == "recovery":
            self.write_session(datetime(2026, 11, 21, 9, 30))
        if scene in {"sessions", "session"}:
            for day in (18, 19, 20):
                self.write_session(datetime(2026, 11, day, 9, 30)).close()
        if scene == "adapters":
            self.write_adapters()

    def write_session(self, started):
        journal = SessionJournal(self.folder / "sessions", started)
        for number, (source, text) in enumerate(zip(ENGLISH, GERMAN, strict=True)):
            cue = Cue(start_s=number, end_s=number + 1, text=text, source=source, language="de")
            journal.write(CueKept(key=number, cue=cue))
        return journal

    def write_adapters(self):
        from tests.support.adapter_folders import tiny_card, write_adapter  # noqa: PLC0415  torch is slow

        adapters = self.folder / "adapters"
        write_adapter(
            adapters / "qwen-en-de", card=tiny_card(name="qwen-en-de", licence="Apache-2.0")
        )
        write_adapter(adapters / "somebodys", card=False)
        broken = write_adapter(adapters / "cut-off", card=tiny_card(name="cut-off"))
        weights = broken / "adapter_model.safetensors"
        weights.write_bytes(weights.read_bytes()[:-40])

    def play(self):
        self.application.show()
        QTimer.singleShot(SETTLE_MS, self.act)

    def act(self):
        """Do what a person would have done before the picture."""
        line = self.window.typed_line
        if self.arguments.scene not in SPOKEN | {"recovery", "empty"}:
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

    def act_settings(self):
        self.window.menu_actions.settings.trigger()
        dialog = self.application.settings_dialog
        dialog.captions.preset.setCurrentIndex(1)
        self.put_beside(dialog)

    def show_page(self, page):
        self.window.menu_actions.settings.trigger()
        dialog = self.application.settings_dialog
        dialog.open_page(page(dialog))
        self.put_beside(dialog)

    def act_captions_settings(self):
        self.show_page(lambda dialog: dialog.captions)

    def act_translation(self):
        self.show_page(lambda dialog: dialog.translation)

    def act_shortcuts(self):
        self.show_page(lambda dialog: dialog.shortcuts)

    def act_general(self):
        self.show_page(lambda dialog: dialog.general)

    def act_about(self):
        self.window.menu_actions.about.trigger()

    def act_help(self):
        self.window.menu_actions.help.trigger()

    def act_advanced(self):
        self.show_page(lambda dialog: dialog.advanced)

    def act_speech_settings(self):
        self.show_page(lambda dialog: dialog.speech)

    def act_listening(self):
        for source in self.window.controls.sources:
            source.button.click()
        QTimer.singleShot(SETTLE_MS * 3 // 4, self.speak)

    def speak(self):
        report = self.application.listening.service.reported.emit
        report(TailChanged(lane="me", words=("and", "our", "new", "garden"), after=0))

    def act_behind(self):
        self.act_listening()
        message = Code.CAPTIONS_SLOW(smaller="tiny.en")
        behind = Behind(lane="me", seconds=6.0, message=message, smaller_model="tiny.en")
        report = self.application.listening.service.reported.emit
        report(behind)
        self.application.lag.close()  # the lag is that of the picture
        gap = LeftOut(lane="me", seconds=12.0, start_s=0.0, since_s=time.monotonic(), after=0)
        QTimer.singleShot(SETTLE_MS * 3 // 4, lambda: report(gap))
        show_lag = self.application.window.status.show_lag
        QTimer.singleShot(SETTLE_MS * 3 // 4, lambda: show_lag(9.0))
        self.application.overlay_controller.catch_up(catches_up=True)

    def act_fetching(self):
        self.window.fetch_bar.show_progress("base.en", 61_000_000, 147_769_510)

    def act_sessions(self):
        self.window.menu_actions.recover.trigger()

    def act_session(self):
        self.act_sessions()
        dialog = self.application.history.sessions_dialog
        dialog.show_again.click()
        dialog.close()

    def act_paused(self):
        self.window.menu_actions.pause.trigger()

    def act_locked(self):
        """Put the mouse where the overlay offers to be unlocked."""
        corner = self.application.overlay.geometry().topRight() + QPoint(-20, 20)
        corner *= self.window.devicePixelRatio()
        subprocess.run(["xdotool", "mousemove", str(corner.x()), str(corner.y())], check=True)

    def act_row_menu(self):
        QTimer.singleShot(SETTLE_MS // 2, self.open_row_menu)

    def open_row_menu(self):
        transcript = self.window.transcript
        corner = QPoint(transcript.viewport().width() // 2, 3 * transcript.rowHeight(0) // 2)
        transcript.customContextMenuRequested.emit(corner)

    def act_bar(self):
        """Put the mouse on the overlay, for the bar to come."""
        middle = self.application.overlay.geometry().center() * self.window.devicePixelRatio()
        subprocess.run(["xdotool", "mousemove", str(middle.x()), str(middle.y())], check=True)

    def act_menu(self):
        bar = self.window.menuBar()
        bar.setActiveAction(bar.actions()[2])

    def act_export(self):
        QTimer.singleShot(SETTLE_MS // 2, self.window.menu_actions.export.trigger)

    def act_find(self):
        QTimer.singleShot(SETTLE_MS // 2, self.find)

    def find(self):
        self.window.menu_actions.mark.trigger()
        self.window.menu_actions.find.trigger()
        self.window.find_bar.line.setText("garden")
        self.window.find_bar.down.click()

    def act_adapters(self):
        self.application.adapters.service.listed.connect(self.use_adapter)
        self.window.menu_actions.adapters.trigger()

    def use_adapter(self):
        self.application.adapters.dialog.table.selectRow(1)
        languages = {"de": "German"}
        event = AdapterChanged(names=("qwen-en-de",), used="qwen-en-de", languages=languages)
        self.application.bridge.event_came.emit(event)
        dialog = self.application.adapters.dialog
        dialog.message.clear()  # the fake model has no files
        for number in range(dialog.details.topLevelItemCount()):
            row = dialog.details.topLevelItem(number)
            if str(ASSETS) in row.text(1):
                row.setText(1, row.text(1).replace(str(ASSETS), "/opt/surtitle/assets"))

    def act_presets(self):
        self.window.hide()
        for number, preset in enumerate(PRESETS):
            overlay = Overlay(CaptionPreferences(preset=preset, point_size=26))
            lines = tuple(Line(text=text) for text in ("Heute wollen wir über das", "Wetter"))
            overlay.show_view(OverlayView(lines=lines))
            overlay.move(60 + 90 * number, 30 + number * (overlay.height() + 25))
            overlay.show()
            self.others.append(overlay)

    def wait(self, before=None, n_looks=0):
        """Take the picture when nothing moves on the screen any more, or after a while."""
        if is_wayland():  # a look at the screen would wait for a portal that is not there
            self.grab()
            return
        seen = self.qt.primaryScreen().grabWindow(0).toImage()
        if seen == before or n_looks == MOST_LOOKS:
            self.grab()
        else:
            QTimer.singleShot(SETTLE_MS // 2, lambda: self.wait(seen, n_looks + 1))

    def grab(self):
        if is_wayland():  # there no program may look at the screen; the compositor does it
            subprocess.run(["grim", self.arguments.file], check=True)
        else:
            picture = picture_of(self.qt.screens())
            assert picture.save(self.arguments.file)
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
    return sorted(PREPARED | {name[4:] for name in dir(Stage) if name.startswith("act_")})


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
    if not is_wayland():
        for desktop, screen in zip(desktops, qt.screens(), strict=True):
            show_desktop(desktop, screen.geometry())
    stage = Stage(qt, arguments)
    QTimer.singleShot(SETTLE_MS // 2, stage.play)
    status = qt.exec()
    translators.clear()
    return status


if __name__ == "__main__":
    sys.exit(main())
