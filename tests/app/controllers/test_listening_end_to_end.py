"""The whole program hears: PulseAudio, Silero, Whisper, the bundled model, words and pixels.

The Whisper for tests is loaded and hears everything; but what it makes of it depends on how the
pieces fall on a busy machine, so the words come from a recogniser that knows them.
"""

import subprocess

import pytest

from app.config.preferences import (
    CaptionPreferences,
    ListeningPreferences,
    Preferences,
    PreferencesFile,
)
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from tests.support.app.home import settings_in
from tests.support.sound_server import Feeder, TestServer, needs_sound_server
from tests.support.spoken import TINY, Known, apart, keys, needs_tiny, raw

pytest.importorskip("faster_whisper")

from engine.speech.whisper import Whisper

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(600),  # a busy machine may load models for minutes
    needs_sound_server(),
    needs_tiny(),
]
WAIT_MS = 150_000


class Hall:
    """A sound server with somebody at its microphone, and the program."""

    def __init__(self, qtbot, tmp_path, monkeypatch):
        self.qtbot = qtbot
        self.folder = tmp_path
        self.server = TestServer(tmp_path / "sound", monkeypatch)
        self.server.keep_running("speakers.monitor")
        self.feeder = Feeder(self.server, "zeros")
        self.player = None
        self.known = Known()
        monkeypatch.setattr("app.session.recognition.load_speech_model", self._make_recognizer)
        preferences = Preferences(
            listening=ListeningPreferences(recognizer=str(TINY)),
            captions=CaptionPreferences(mode="both"),
        )
        PreferencesFile(tmp_path / "settings.toml").write(preferences)
        settings = settings_in(tmp_path, data_folder=tmp_path / "data", device="cpu")
        self.application = Application(settings, EngineBridge())
        self.window = self.application.window
        self.bar = self.window.controls
        qtbot.addWidget(self.window)
        qtbot.addWidget(self.application.overlay)

    def _make_recognizer(self, folder, device, language, _words):
        self.known.beside = Whisper(folder, device, language)
        return self.known

    def open(self):
        self.application.show()
        self.wait(lambda: self.window.status.is_ready)
        return self

    def wait(self, condition):
        self.qtbot.waitUntil(lambda: bool(condition()), timeout=WAIT_MS)

    def listen(self, source):
        source.button.click()
        self.wait(lambda: self.window.status.state.text().startswith("Listening to "))

    def say(self, spoken):
        self.known.spoken.append(spoken)
        path = self.folder / "said.raw"
        path.write_bytes(raw(spoken.samples))
        self.feeder.say(f"play {path}")

    def play(self, spoken):
        """Play something on the computer's output, as another program would."""
        self.known.spoken.append(spoken)
        path = self.folder / "played.raw"
        path.write_bytes(raw(spoken.samples))
        pipe = ["--raw", "--format=s16le", "--rate=16000", "--channels=1"]
        self.player = subprocess.Popen(["pacat", "--device=speakers", *pipe, str(path)])

    def said(self, lane):
        views = self.window.transcript.rows.views
        return " ".join(view.source for view in views if view.lane == lane).split()

    def captions(self, lane):
        views = self.window.transcript.rows.views
        return [view.caption for view in views if view.lane == lane and view.caption]

    def wait_for_words(self, spoken, lane):
        self.wait(lambda: keys(self.said(lane)) == keys(spoken.text.split()))

    def close(self):
        self.window.close()
        if self.player is not None:
            self.player.kill()
            self.player.wait()
        self.feeder.stop()
        self.server.stop()


@pytest.fixture
def hall(qtbot, tmp_path, monkeypatch):
    hall = Hall(qtbot, tmp_path, monkeypatch)
    yield hall
    hall.close()


def test_two_lanes_are_heard_at_once_and_told_apart(hall):
    one = hall.open()
    one.listen(one.bar.microphone)
    one.listen(one.bar.system)
    one.wait(lambda: one.window.status.state.toolTip() == "Microphone · Speakers")
    mine, theirs = apart(7, 2), apart(4, 2)
    one.say(mine)
    one.play(theirs)
    one.wait_for_words(mine, "me")
    one.wait_for_words(theirs, "them")
    one.wait(lambda: one.captions("me") and one.captions("them"))
