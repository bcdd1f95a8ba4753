"""The whole way of speech: sound, gate, recogniser, commit, session, captions.

With the test models and a voice of espeak-ng.
"""

import threading

import pytest

from engine.audio.devices import DeviceKind, WantedDevice

pytest.importorskip("faster_whisper")

from engine.audio.sources import AudioSources
from engine.events import CaptionChanged, Ready
from engine.session.session import Session
from engine.settings import ModelSettings, TranslationSettings
from engine.speech.events import Noticed
from engine.speech.listener import Lane, Listener, Recognition
from engine.speech.vad import SileroDetector
from tests.support.fakes import Receiver, save_tiny_model
from tests.support.listening_fakes import to_both
from tests.support.sound_server import Feeder, TestServer, needs_sound_server, wait_until
from tests.support.spoken import (
    Known,
    apart,
    keys,
    needs_tiny,
    raw,
    tiny_whisper,
)

WAIT_S = 150

pytestmark = pytest.mark.slow


class Heard:
    def __init__(self):
        self.events = []
        self.receiver = Receiver()

    def __call__(self, event):
        self.events.append(event)
        self.receiver(event)

    def of(self, kind):
        return [event for event in self.events if isinstance(event, kind)]


@pytest.fixture(scope="module")
def tiny():
    return tiny_whisper()


def captioned(tmp_path, kind, model, said, play):
    """Hear a device until all is heard; what was heard becomes captions.

    Returns the words that were heard; no caption was taken back, every utterance ended.
    """
    heard, ready = Heard(), threading.Event()

    def report(event):
        heard(event)
        if isinstance(event, Ready):
            ready.set()

    session = Session(
        ModelSettings(directory=save_tiny_model(tmp_path / "model"), device="cpu"),
        TranslationSettings(policy="read:3"),
        lambda event: to_both(report, listener)(event),  # noqa: PLW0108  it is made below
    )
    source = AudioSources().live(
        WantedDevice(kind=kind),
        lambda notice: report(Noticed(lane="me", notice=notice)),
    )
    listener = Listener(
        [Lane(name="me", source=source)],
        session,
        Recognition(make_model=lambda: model, make_detector=SileroDetector),
        report,
    )

    def words():
        order, words = list(heard.receiver.order), heard.receiver.words
        return [word for number in order for word in words[number]]

    try:
        listener.start()
        session.start()
        assert ready.wait(WAIT_S)
        play()
        wait_until(lambda: len(words()) >= len(said))
        listener.stop()
        assert listener.join(WAIT_S)
    finally:
        listener.close()
        session.stop()
    assert heard.receiver.ended == set(heard.receiver.order)
    captions = {}
    for event in heard.of(CaptionChanged):
        assert event.kept == len(captions.get(event.utterance, "")), "a caption was taken back"
        captions[event.utterance] = captions.get(event.utterance, "") + event.text
    assert listener.n_dropped == 0
    return keys(words())


@pytest.fixture
def server(tmp_path, monkeypatch):
    server = TestServer(tmp_path / "sound", monkeypatch)
    yield server
    server.stop()


@needs_sound_server()
@needs_tiny()
def test_what_is_said_into_a_microphone_becomes_captions_that_only_grow(tiny, tmp_path, server):
    spoken = apart(4, 2)
    known = Known(spoken)
    known.beside = tiny
    path = tmp_path / "spoken.raw"
    path.write_bytes(raw(spoken.samples))
    said = keys(spoken.text.split())
    feeder = Feeder(server, "zeros")
    try:
        words = captioned(
            tmp_path,
            DeviceKind.MICROPHONE,
            known,
            said,
            lambda: feeder.say(f"play {path}"),
        )
    finally:
        feeder.stop()
    assert words == said
