"""The whole program hears: PulseAudio, Silero, Whisper, the bundled model, words and pixels.

The Whisper for tests is loaded and hears everything; but what it makes of it depends on how the
pieces fall on a busy machine, so the words come from a recogniser that knows them.
"""

import subprocess
import threading
import time

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QGuiApplication

from app.config.preferences import (
    CaptionPreferences,
    ListeningPreferences,
    Preferences,
    PreferencesFile,
)
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from engine.audio.devices import SAMPLE_RATE_HZ
from tests.support.app.home import settings_in
from tests.support.sound_server import Feeder, TestServer, needs_sound_server
from tests.support.spoken import TINY, Known, apart, keys, needs_tiny, raw

pytest.importorskip("faster_whisper")

from engine.speech.whisper import Whisper, WhisperSettings

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
        self.window, self.overlay = self.application.window, self.application.overlay
        self.bar, self.banner = self.window.controls, self.window.banner
        qtbot.addWidget(self.window)
        qtbot.addWidget(self.overlay)

    def _make_recognizer(self, folder, device, language, _words):
        settings = WhisperSettings(model=str(folder), device=device, language=language)
        self.known.beside = Whisper(settings)
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


def letters(overlay):
    """Count pixels as bright as letters."""
    QGuiApplication.processEvents()
    picture = overlay.grab().toImage()
    places = (QPoint(x, y) for x in range(picture.width()) for y in range(picture.height()))
    return sum(picture.pixelColor(place).lightness() > 200 for place in places)


def test_what_is_said_into_the_microphone_stands_in_transcript_and_overlay(hall):
    one = hall.open()
    tails = []
    one.application.captions.captions_changed.connect(
        lambda views: tails.extend(view.tail for view in views if view.tail)
    )
    painted = []
    one.application.captions.caption_painted.connect(painted.append)
    hint = letters(one.overlay)
    one.listen(one.bar.microphone)
    one.wait(lambda: one.window.status.state.toolTip() == "Microphone")
    spoken = apart(4, 2)
    one.say(spoken)
    one.wait(lambda: one.bar.microphone.meter.filled > 0.1)
    one.wait_for_words(spoken, "me")
    one.wait(lambda: len(one.captions("me")) >= 2)
    assert letters(one.overlay) > 0
    assert letters(one.overlay) != hint
    shown = one.overlay.accessibleDescription()
    assert any(caption.split()[0] in shown for caption in one.captions("me"))
    assert tails
    assert max(len(tail.split()) for tail in tails) <= 4
    one.wait(lambda: len(one.application.lag.lags.heard()) == 4)
    assert painted
    assert one.application.lag.facts["sound lost"] == "0.00 s"
    one.bar.microphone.button.click()
    one.wait(lambda: not one.application.listening.service.is_listening)
    assert {cue.speaker for cue in one.application.history.writer.cues} == {"me"}
    kept = " ".join(cue.source for cue in one.application.history.writer.cues).split()
    assert kept == one.said("me")
    lasted_s = sum(cue.end_s - cue.start_s for cue in one.application.history.writer.cues)
    said_s = len(spoken.samples) / SAMPLE_RATE_HZ
    assert said_s / 4 < lasted_s < said_s + 1, "as long as they were said, pauses left out"


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


def test_muted_lost_and_back_are_each_told_in_one_sentence(hall):
    one = hall.open()
    one.feeder.say("ramp")
    one.listen(one.bar.microphone)
    one.server.control("set-source-mute", "microphone", "1")
    one.wait(lambda: "is muted" in one.banner.sentence.text() and one.banner.isVisible())
    one.server.control("set-source-mute", "microphone", "0")
    one.wait(lambda: "can be heard again" in one.banner.sentence.text())
    one.server.kill()
    one.wait(lambda: "the sound server does not answer" in one.banner.sentence.text().lower())
    one.feeder.stop()
    one.server.start()
    one.feeder = Feeder(one.server, "ramp")
    one.wait(
        lambda: not one.banner.isVisible() or "listening" in one.banner.sentence.text().lower()
    )


@pytest.mark.parametrize("after_s", [0.0, 1.0])
def test_closing_in_the_middle_of_a_sentence_leaves_no_thread(hall, after_s):
    one = hall.open()
    one.bar.microphone.button.click()
    one.bar.system.button.click()
    if after_s:
        one.say(apart(4, 2))
        one.wait(lambda: one.window.status.state.text().startswith("Listening to "))
        one.qtbot.wait(round(after_s * 1000))
    begun_s = time.monotonic()
    one.window.close()
    assert time.monotonic() - begun_s < WAIT_MS / 1000
    left = [thread.name for thread in threading.enumerate() if thread.name.startswith("surtitle-")]
    assert left == []
