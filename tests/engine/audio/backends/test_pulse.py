"""The real capture path: PulseAudio, ``pactl``, ``parec``, the recording thread.

How soon things are told is measured by a clock turned by hand, in ``test_audio_recorder.py``. Here
they must be told at all, however busy the machine is.
"""

import dataclasses
import os
import random
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from engine.audio.backends.pulse import TIMEOUT_S, SoundServer, parse_devices
from engine.audio.devices import DeviceKind, NoticeKind, WantedDevice
from engine.audio.live_source import LiveSource
from engine.errors import NoSoundError, TapEndedError
from tests.support.sound_server import ROOT, Feeder, n_missing, needs_sound_server, wait_until

MICROPHONE, SYSTEM = DeviceKind.MICROPHONE, DeviceKind.SYSTEM
ANSWER_S = 30.0
QUIET_S = 0.5


@pytest.fixture
def record():
    """Make sources that hear something, and are stopped with the test."""
    recordings = []

    def record(kind, name=None, **changes):
        recordings.append(Recording(WantedDevice(kind=kind, name=name), **changes))
        recordings[-1].wait_for(NoticeKind.LISTENING, 0.0)
        return recordings[-1]

    yield record
    for recording in recordings:
        recording.stop()


def wait_until_quiet(system):
    """Wait until a server has told all that is new."""
    time.sleep(QUIET_S)
    while system.changed():
        time.sleep(QUIET_S)


class Recording:
    """A running source, read all the time, with the time of everything that happens.

    Args:
        wanted: what is recorded.
        answer_s: a server that lets us wait longer counts as gone.
    """

    def __init__(self, wanted, answer_s=ANSWER_S):
        self.chunks = []
        self.notices = []  # (when, notice)
        self.system = SoundServer(timeout_s=answer_s)
        self.source = LiveSource(self.system, wanted, self._told)
        self.source.start()
        self._reader = threading.Thread(target=self._read, name="reader")
        self._reader.start()

    def stop(self):
        self.source.stop()
        self._reader.join()

    @property
    def kinds(self):
        return [notice.kind for _, notice in list(self.notices)]

    @property
    def samples(self):
        return np.concatenate([chunk.samples for chunk in self.chunks])

    def wait_for(self, kind, since_s):
        """The first such notice since a time."""
        return wait_until(
            lambda: next(
                (
                    notice
                    for when_s, notice in list(self.notices)
                    if notice.kind is kind and when_s >= since_s
                ),
                None,
            )
        )

    def wait_for_sound(self, since_s):
        """Wait for a chunk that is not silence and was heard after a time; give it."""
        return wait_until(
            lambda: next(
                (
                    chunk
                    for chunk in list(self.chunks)
                    if chunk.heard_at_s > since_s and chunk.samples.any()
                ),
                None,
            )
        )

    def _told(self, notice):
        self.notices.append((time.monotonic(), notice))

    def _read(self):
        while not self.source.ended:
            if chunk := self.source.read(0.1):
                self.chunks.append(chunk)


def drain(tap):
    while True:
        tap.read(1)


def hog(stopping):
    n = 0
    while not stopping.is_set():
        n += 1


@needs_sound_server()
@pytest.mark.slow
@pytest.mark.usefixtures("feeder")
def test_no_sample_is_lost_while_other_threads_are_busy(record):
    recording = record(MICROPHONE)
    stopping = threading.Event()
    hogs = [threading.Thread(target=hog, args=(stopping,)) for _ in range(2)]
    for thread in hogs:
        thread.start()
    # A machine that does much else may be late, and loses none.
    wait_until(lambda: sum(len(chunk.samples) for chunk in list(recording.chunks)) >= 4 * 16_000)
    stopping.set()
    for thread in hogs:
        thread.join()
    recording.stop()
    assert n_missing(recording.samples) == 0
    assert recording.source.n_dropped == 0


@needs_sound_server()
@pytest.mark.slow
def test_a_server_that_dies_is_waited_for(server, feeder, record):
    recording = record(MICROPHONE, "microphone")
    recording.wait_for_sound(0.0)
    killed_s = time.monotonic()
    server.kill()
    gone_s = time.monotonic()
    recording.wait_for(NoticeKind.NO_SERVER, killed_s)
    before = list(recording.chunks)
    assert n_missing(np.concatenate([chunk.samples for chunk in before])) == 0
    back_s = time.monotonic()
    server.start()
    feeder = Feeder(server)
    try:
        recording.wait_for(NoticeKind.LISTENING, back_s)
        after = recording.wait_for_sound(back_s)
    finally:
        feeder.stop()
    assert after.start_s - before[-1].end_s > back_s - gone_s - 0.3  # time goes on without sound


@needs_sound_server()
@pytest.mark.slow
@pytest.mark.usefixtures("feeder")
def test_a_server_that_hangs_is_noticed_and_can_be_left(server, record):
    recording = record(MICROPHONE, answer_s=TIMEOUT_S)
    hung_s = time.monotonic()
    os.kill(server.pid, signal.SIGSTOP)
    try:
        recording.wait_for(NoticeKind.NO_SERVER, hung_s)
        recording.stop()  # or it would wait for a server that never answers
    finally:
        os.kill(server.pid, signal.SIGCONT)


@needs_sound_server()
@pytest.mark.slow
def test_who_lists_devices_hears_of_changes_and_not_of_itself(server):
    system = SoundServer(timeout_s=ANSWER_S)
    assert system.changed()
    system.devices()
    wait_until_quiet(system)  # while the server started much happened
    for _ in range(3):
        system.devices()
        time.sleep(0.1)
        assert not system.changed()
    server.control("set-source-mute", "microphone", "1")
    wait_until(system.changed)
    wait_until_quiet(system)
    assert not system.changed()
    system.close()


RECORD_FOR_EVER = """
from engine.audio.devices import DeviceKind, WantedDevice
from engine.audio.live_source import LiveSource
from engine.audio.backends.pulse import SoundServer
source = LiveSource(SoundServer(), WantedDevice(kind=DeviceKind.MICROPHONE), lambda _: None)
source.start()
source.read(10)
print("ready", flush=True)
while True:
    source.read(600)
"""


def clients(server):
    return server.control("list", "short", "clients").count("\n")


@pytest.mark.slow
@needs_sound_server()
@pytest.mark.usefixtures("feeder")
def test_a_program_that_is_killed_leaves_nothing_behind(server):
    n_before = clients(server)
    with subprocess.Popen(
        [sys.executable, "-c", RECORD_FOR_EVER], stdout=subprocess.PIPE, cwd=ROOT
    ) as process:
        process.stdout.readline()
        wait_until(lambda: clients(server) == n_before + 2)  # it may be listing devices just now
        process.kill()
    wait_until(lambda: clients(server) == n_before)


def test_what_pactl_says_becomes_devices():
    info = "Server Name: pulseaudio\nDefault Sink: out.a\nDefault Source: mic\n"
    sources = (
        "Source #7\n\tState: IDLE\n\tName: mic\n\tDescription: Büro: Mikrofon #2\n"
        "\tSample Specification: s16le 2ch 44100Hz\n\tMute: no\n\tMonitor of Sink: n/a\n"
        '\tProperties:\n\t\tdevice.description = "x"\n\t\tName: not this\n\n'
        "Source #9\n\tName: out.a.monitor\n\tDescription: Monitor of Boxen\n\tMute: no\n"
        "\tMonitor of Sink: out.a\n\tSample Specification: float32le 8ch 96000Hz\n"
    )
    sinks = "Sink #3\n\tName: out.a\n\tMute: yes\n"
    microphone, monitor = parse_devices(info, sources, sinks)
    assert (microphone.name, microphone.description) == ("mic", "Büro: Mikrofon #2")
    assert (microphone.kind, microphone.number, microphone.rate_hz) == (MICROPHONE, 7, 44_100)
    assert (microphone.is_default, microphone.is_muted) == (True, False)
    assert (monitor.description, monitor.kind) == ("Boxen", SYSTEM)
    assert (monitor.is_default, monitor.is_muted, monitor.rate_hz) == (True, True, 96_000)


def test_whatever_pactl_says_is_survived():
    rng = random.Random(0)
    parts = ["Source #", "\tName: ", "\tMute: yes", "\n", "7", "\t", ":", "é", "Hz", "48000", " "]
    for _ in range(500):
        listing = "".join(rng.choice(parts) for _ in range(rng.randrange(40)))
        for device in parse_devices(listing, listing, listing):
            assert device.name


def test_without_a_server_there_are_no_devices(tmp_path, monkeypatch):
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path}/nothing")
    system = SoundServer()
    with pytest.raises(NoSoundError, match="no sound server answers"):
        system.devices()
    assert system.changed()
    system.close()


@needs_sound_server()
@pytest.mark.usefixtures("server")
def test_a_device_that_is_not_there_ends_at_once():
    system = SoundServer(timeout_s=ANSWER_S)
    device = dataclasses.replace(system.devices()[0], name="nowhere")
    tap = system.open(device)
    system.close()
    with pytest.raises(TapEndedError, match="No such entity"):
        drain(tap)
