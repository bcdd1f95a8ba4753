"""Ears that hear what a test says: the real listener over sources and a model without sound."""

import threading
import time
from collections import Counter
from dataclasses import dataclass

import numpy as np

from app.config.preferences import LANES
from engine.audio.devices import AudioDevice, AudioNotice, DeviceKind, Level, NoticeKind
from engine.errors import AudioError, FetchCancelledError, ModelError
from engine.hub.catalogue import SPEECH_MODELS
from engine.messages import Code
from engine.speech.events import Noticed, RecognizerKept
from engine.speech.listener import Lane, Listener, ListeningSettings, Recognition, WantedFile
from tests.support.listening_fakes import Chunks, Loudness, Script, script, sound_of

DEVICES = (
    AudioDevice(
        name="mic1", description="Desk mic", kind=DeviceKind.MICROPHONE, rate_hz=1, is_default=True
    ),
    AudioDevice(
        name="mic2", description="Headset", kind=DeviceKind.MICROPHONE, rate_hz=1, is_muted=True
    ),
    AudioDevice(name="out1", description="Speakers", kind=DeviceKind.SYSTEM, rate_hz=1),
)

LOUDNESS = {"me": 0.5, "them": 0.25}


class Device(Chunks):
    """A device that gives a sound, and then nothing until it is stopped; it ends the one before."""

    def __init__(self, sound, name):
        super().__init__(sound.astype(np.float32), time.monotonic, open_end=True)
        self.level = Level(rms_db=-20.0, peak_db=-12.0)
        self.sounding = name
        self.before = None

    def follow(self, before):
        self.before = before

    def start(self):
        super().start()
        if self.before is not None:
            self.before.stop()


class Talk(Device):
    """A device at which somebody says a text."""

    def __init__(self, text, report, lane):
        self.words = script(text, 0.5)
        seconds = (self.words[-1].end_s if self.words else 0.0) + 3.0
        loudness = LOUDNESS[lane] / LOUDNESS["me"]
        sound = loudness * sound_of(self.words, seconds)
        super().__init__(sound, "mic1" if lane == "me" else "out1")
        self._report = report
        self.lane = lane

    def start(self):
        super().start()
        device = "Desk mic" if self.lane == "me" else "Speakers"
        self.notice(NoticeKind.LISTENING, f"listening to {device}", device)

    def notice(self, kind, message, device="Desk mic"):
        notice = AudioNotice(kind=kind, device=device, message=Code.AS_SAID(sentence=message))
        self._report(Noticed(lane=self.lane, notice=notice))


class Knowing:
    """A model that knows who speaks by how loud it is, and so what is said when."""

    def __init__(self, words):
        self._scripts = {lane: Script(said) for lane, said in words.items()}

    def recognize(self, samples, start_s, prompt, *, whole=False):
        peak = float(np.abs(samples).max(initial=0.0))
        lane = min(self._scripts, key=lambda one: abs(LOUDNESS[one] - peak))
        return self._scripts[lane].recognize(samples, start_s, prompt, whole=whole)


class FileTalk(Chunks):
    """A file in which somebody says the text that it holds."""

    def __init__(self, path):
        self.words = script(path.read_text("utf-8"), 0.5)
        self.duration_s = self.words[-1].end_s + 3.0
        loudness = LOUDNESS["them"] / LOUDNESS["me"]
        sound = (loudness * sound_of(self.words, self.duration_s)).astype(np.float32)
        super().__init__(sound, time.monotonic)
        self.position_s = 0.0
        self._going = threading.Event()
        self._going.set()

    def pause(self, *, paused):
        (self._going.clear if paused else self._going.set)()

    def stop(self):
        self._waiting.clear()
        self._going.set()
        super().stop()

    def start(self):
        if self.words[0].text == "silent":
            raise AudioError(Code.NO_SOUND_IN(path="it"))
        super().start()

    def read(self, timeout_s):
        if not self._going.wait(timeout_s):
            return None
        chunk = super().read(timeout_s)
        self.position_s = chunk.end_s if chunk else self.position_s
        return chunk


@dataclass
class FakeRun:
    listener: Listener
    sources: dict
    file: FileTalk | None = None


class FakeSpeechEngine:
    """Hears ``texts`` by the kind of a source, one after the other; keeps what was asked of it."""

    def __init__(self, texts=None, *, here=("base.en", "tiny.en")):
        self.texts = {kind: list(said) for kind, said in (texts or {}).items()}
        self.here = set(here)
        self.language = "en"
        self.asked = []
        self.fetched = []
        self.languages = []
        self.runs = []
        self.failure = None
        self.may_fetch = threading.Event()
        self.may_fetch.set()
        self.fetch_failure = None
        self.thread_names = set()
        self.n_words = Counter()

    def make(self, library, device):
        self.made = (library, device)
        return self

    def devices(self):
        return DEVICES

    def has(self, recognizer):
        self.thread_names.add(threading.current_thread().name)
        if recognizer not in SPEECH_MODELS:
            msg = f"no speech model is called {recognizer!r}"
            raise ModelError(msg)
        return recognizer in self.here

    def fetch(self, recognizer, progress, cancelled, *, again=False):
        self.fetched.append((recognizer, again))
        for done in (0, 30_000_000, 60_000_000):
            progress(done, 60_000_000)
            while not self.may_fetch.wait(0.01):
                if cancelled():
                    raise FetchCancelledError
        if self.fetch_failure:
            raise self.fetch_failure
        self.here.add(recognizer)

    def prepare(self, wanted, recognizer, feed, report, after=None, *, instead=""):
        self.languages.append(self.language)
        if isinstance(wanted[0], WantedFile):
            return self._prepare_file(*wanted, recognizer, feed, report, after)
        self.asked.append((wanted, recognizer))
        sources = {}
        for one in wanted:
            said = self.texts.get(one.kind) or [""]
            text = said.pop(0) if self.texts.get(one.kind) else said[0]
            lane = LANES[one.kind]
            sources[lane] = Talk(text, report, lane)
        words = {lane: source.words for lane, source in sources.items()}

        def load():
            if after is not None:
                after.join()
            if self.failure and not instead:
                raise ModelError(self.failure)
            if self.failure:
                report(RecognizerKept(message=ModelError(self.failure).message))
            return Knowing(words)

        listener = Listener(
            [Lane(name=lane, source=source) for lane, source in sources.items()],
            feed,
            Recognition(make_model=load, make_detector=Loudness, n_words=self.n_words),
            report,
            ListeningSettings(smaller_model="tiny.en"),
        )
        self.runs.append(FakeRun(listener, sources))
        return self.runs[-1]

    def _prepare_file(self, wanted, recognizer, feed, report, after):
        self.asked.append((wanted.path, recognizer, wanted.real_time))
        source = FileTalk(wanted.path)

        def load():
            if after is not None:
                after.join()
            if self.failure:
                raise ModelError(self.failure)
            return Knowing({"them": source.words})

        is_live = wanted.real_time
        name = "them" if is_live else "file"
        lane = Lane(name=name, source=source, live=is_live, whole=not is_live)
        recognition = Recognition(make_model=load, make_detector=Loudness, n_words=self.n_words)
        self.runs.append(FakeRun(Listener([lane], feed, recognition, report), {}, source))
        return self.runs[-1]
