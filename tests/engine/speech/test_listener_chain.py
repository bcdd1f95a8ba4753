"""The whole way of speech: sound, gate, recogniser, commit, session, captions.

With the test model and a voice of espeak-ng, or with a real Whisper: its folder in
SURTITLE_WHISPER. Recordings of people are heard where they are there.
"""

import os
import subprocess
import threading

import numpy as np
import pytest

from engine.audio.devices import SAMPLE_RATE_HZ, DeviceKind, WantedDevice

pytest.importorskip("faster_whisper")

from engine.audio.sources import AudioSources
from engine.events import CaptionChanged, Ready
from engine.session.session import Session
from engine.settings import ModelSettings, TranslationSettings
from engine.speech.events import (
    ListeningEnded,
    ListeningFailed,
    Noticed,
    TailChanged,
)
from engine.speech.listener import Lane, Listener, Recognition
from engine.speech.vad import SileroDetector
from engine.speech.whisper import Whisper, WhisperSettings
from tests.engine.speech.recordings import needs_recordings, recordings
from tests.support.fakes import Receiver, save_tiny_model
from tests.support.listening_fakes import Chunks, Echo, hear_out, to_both
from tests.support.sound_server import Feeder, TestServer, needs_sound_server, wait_until
from tests.support.sounds import music, n_edits, silence, white_noise
from tests.support.spoken import (
    Known,
    apart,
    keys,
    needs_sherpa,
    needs_tiny,
    needs_voice,
    raw,
    talk,
    tiny_streaming,
    tiny_whisper,
)

REAL = os.environ.get("SURTITLE_WHISPER", "")
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


def listened(source, model, *, live=False):
    """Hear a source to its end with an echo for a session."""
    echo, heard = Echo(), Heard()
    made = Listener(
        [Lane(name="", source=source, live=live)],
        echo,
        Recognition(make_model=lambda: model, make_detector=SileroDetector),
        heard,
    )
    echo.report = to_both(heard, made)
    hear_out(made)
    assert not heard.of(ListeningFailed)
    assert heard.of(ListeningEnded)
    return [word for _, word in echo.fed], heard, made


def offline(model, samples):
    return [word.text for word in model.recognize(samples, 0.0, "").words]


@needs_tiny()
def test_committed_words_are_within_two_points_of_the_whole_recordings(tiny):
    n_words = n_streamed = n_whole = 0
    for seed in range(6):
        spoken = talk(700 + seed, 1 + seed % 3)
        said = keys(spoken.text.split())
        n_words += len(said)
        n_streamed += n_edits(said, keys(listened(Chunks(spoken.samples), tiny)[0]))
        n_whole += n_edits(said, keys(offline(tiny, spoken.samples)))
    assert n_streamed <= n_whole + 0.02 * n_words, f"{n_streamed}, {n_whole} of {n_words}"


@needs_tiny()
@pytest.mark.parametrize("sound", [silence, white_noise, music])
def test_two_minutes_without_speech_give_no_word(tiny, sound):
    words, heard, _ = listened(Chunks(sound(120.0)), tiny)
    assert words == []
    assert not [event for event in heard.of(TailChanged) if event.words]


@needs_tiny()
def test_words_are_there_again_within_two_seconds_after_a_long_pause(tiny):
    before, after = talk(1, 1), talk(2, 1)
    pause = silence(120.0)
    sound = np.concatenate([before.samples, pause, after.samples])
    begins_s = (len(before.samples) + len(pause)) / SAMPLE_RATE_HZ + after.words[0].start_s
    source = Chunks(sound)
    heard_s = []

    class Clocked(Chunks):
        def read(self, timeout_s):
            chunk = source.read(timeout_s)
            if chunk is not None:
                self.end_s = chunk.end_s
            return chunk

        @property
        def ended(self):
            return source.ended

    clocked = Clocked([])

    class Noting:
        def recognize(self, samples, start_s, prompt):
            hypothesis = tiny.recognize(samples, start_s, prompt)
            if hypothesis.words and clocked.end_s > begins_s:
                heard_s.append(clocked.end_s)
            return hypothesis

    words, _, _ = listened(clocked, Noting())
    assert heard_s[0] - begins_s < 2.0
    said = keys(before.text.split() + after.text.split())
    assert n_edits(said, keys(words)) <= 0.2 * len(said)


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


@needs_sound_server()
@needs_sherpa
@needs_voice
@pytest.mark.usefixtures("server")
def test_the_ear_of_the_tests_hears_what_a_null_device_plays(tmp_path):
    spoken = apart(4, 2)
    said = keys(spoken.text.split())
    path = tmp_path / "spoken.raw"
    path.write_bytes(raw(spoken.samples))
    form = ["--raw", "--rate=16000", "--format=s16le", "--channels=1"]
    words = captioned(
        tmp_path,
        DeviceKind.SYSTEM,
        tiny_streaming(),
        said,
        lambda: subprocess.run(["pacat", "--device=speakers", *form, path], check=True),
    )
    assert words == said


@needs_recordings
@needs_tiny()
def test_recordings_of_people_play_through_without_an_error(tiny):
    for recording in recordings():
        listened(AudioSources().file(recording.path, print, real_time=False), tiny)


@needs_recordings
@pytest.mark.skipif(not REAL, reason="needs a real Whisper: its folder in SURTITLE_WHISPER")
def test_a_real_whisper_commits_what_people_said():
    model = Whisper(WhisperSettings(model=REAL, device="cpu", n_threads=1))
    n_words = n_wrong = n_whole = 0
    for recording in recordings():
        source = AudioSources().file(recording.path, print, real_time=False)
        said = keys(recording.text.split())
        n_words += len(said)
        n_wrong += n_edits(said, keys(listened(source, model)[0]))
        n_whole += n_edits(said, keys(offline(model, recording.samples)))
    assert n_words
    assert n_wrong <= n_whole + 0.02 * n_words
    assert n_wrong <= 0.2 * n_words
