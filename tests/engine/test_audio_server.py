"""The real capture path: PulseAudio, ``pactl``, ``parec``, the recording thread."""

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

from engine.audio import DeviceKind, NoticeKind, WantedDevice
from engine.audio_live import LiveSource
from engine.audio_server import SoundServer, parse_devices
from engine.audio_stretch import Stretch
from engine.errors import NoSoundError, TapEndedError
from tests.sound_server import ROOT, Feeder, n_missing, needs_sound_server

MICROPHONE, SYSTEM = DeviceKind.MICROPHONE, DeviceKind.SYSTEM
NOTICED_S, RECOVERED_S = 1.0, 3.0


@pytest.fixture
def record():
    """Make sources that hear something, and are stopped with the test."""
    recordings = []

    def record(kind, name=None):
        begun_s = time.monotonic()
        recordings.append(Recording(WantedDevice(kind=kind, name=name)))
        recordings[-1].wait_for(NoticeKind.LISTENING, begun_s, RECOVERED_S)
        return recordings[-1]

    yield record
    for recording in recordings:
        recording.stop()


class Recording:
    """A running source, read all the time, with the time of everything that happens."""

    def __init__(self, wanted):
        self.chunks = []
        self.notices = []  # (when, notice)
        self.source = LiveSource(SoundServer(), wanted, self._told)
        self.source.start()
        self._reader = threading.Thread(target=self._read, name="reader")
        self._reader.start()

    def stop(self):
        self.source.stop()
        self._reader.join()

    @property
    def samples(self):
        return np.concatenate([chunk.samples for chunk in self.chunks])

    def wait_for(self, kind, since_s, within_s):
        """The first such notice since a time; it must come in time."""
        while time.monotonic() < since_s + within_s:
            for when_s, notice in list(self.notices):
                if notice.kind is kind and when_s >= since_s:
                    return notice
            time.sleep(0.01)
        return pytest.fail(f"no {kind} within {within_s} s, only {self.notices}")

    def wait_for_sound(self, since_s, within_s):
        """Wait for a chunk that is not silence and was heard after a time."""
        while time.monotonic() < since_s + within_s:
            if any(
                chunk.heard_at_s > since_s and chunk.samples.any() for chunk in self.chunks[-9:]
            ):
                return
            time.sleep(0.01)
        pytest.fail(f"no sound within {within_s} s")

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
    end_s = time.monotonic() + 90  # a machine that does much else may be late, and loses none
    while (
        sum(len(chunk.samples) for chunk in list(recording.chunks)) < 9 * 16_000
        and time.monotonic() < end_s
    ):
        time.sleep(0.1)
    stopping.set()
    for thread in hogs:
        thread.join()
    recording.stop()
    assert len(recording.samples) >= 9 * 16_000
    assert n_missing(recording.samples) == 0
    assert recording.source.n_dropped == 0


@needs_sound_server()
@pytest.mark.slow
@pytest.mark.usefixtures("feeder")
def test_a_stalled_process_loses_nothing():
    system = SoundServer()
    device = next(device for device in system.devices() if device.kind is MICROPHONE)
    tap = system.open(device)
    stretch = Stretch(tap, start_s=0, clock_s=time.monotonic())
    time.sleep(3)
    samples = np.concatenate([chunk.samples for chunk in stretch.finish(time.monotonic)])
    tap.close()
    system.close()
    assert len(samples) > 16_000
    assert n_missing(samples) == 0


@needs_sound_server()
@pytest.mark.slow
@pytest.mark.usefixtures("feeder")
def test_when_the_device_goes_another_takes_its_place_until_it_is_back(server, record):
    module = server.add_sink("headphones")
    recording = record(SYSTEM, "headphones.monitor")
    gone_s = time.monotonic()
    server.control("unload-module", module)
    notice = recording.wait_for(NoticeKind.LOST, gone_s, NOTICED_S)
    assert notice.message == "Headphones is gone: listening to Speakers until it is back"
    n_chunks = len(recording.chunks)
    time.sleep(RECOVERED_S)
    assert recording.chunks[n_chunks].heard_at_s < gone_s + RECOVERED_S
    back_s = time.monotonic()
    server.add_sink("headphones")
    notice = recording.wait_for(NoticeKind.RETURNED, back_s, RECOVERED_S)
    assert notice.message == "Headphones is back: listening to it again"


@needs_sound_server()
@pytest.mark.slow
def test_who_chose_no_device_hears_the_new_default(server, record):
    server.keep_running("speakers.monitor")
    recording = record(SYSTEM)
    server.add_sink("headphones")
    changed_s = time.monotonic()
    server.control("set-default-sink", "headphones")
    notice = recording.wait_for(NoticeKind.MOVED, changed_s, NOTICED_S)
    assert notice.message == "the default output is now Headphones: listening to it"


@needs_sound_server()
@pytest.mark.slow
def test_who_chose_a_device_keeps_it_when_the_default_changes(server, record):
    server.keep_running("speakers.monitor")
    recording = record(SYSTEM, "speakers.monitor")
    server.add_sink("headphones")
    server.control("set-default-sink", "headphones")
    server.control("set-default-source", "headphones.monitor")
    time.sleep(1)
    assert [notice.kind for _, notice in recording.notices] == [NoticeKind.LISTENING]


@needs_sound_server()
@pytest.mark.slow
def test_a_recording_that_a_mixer_moves_is_followed(server, record):
    server.keep_running("speakers.monitor")
    recording = record(SYSTEM)
    server.add_sink("headphones")
    ours = [
        line.split()[0]
        for line in server.control("list", "short", "source-outputs").splitlines()
        if "float32le 1ch" in line
    ]
    moved_s = time.monotonic()
    server.control("move-source-output", ours[0], "headphones.monitor")
    notice = recording.wait_for(NoticeKind.MOVED, moved_s, NOTICED_S)
    assert notice.device == "Headphones"
    time.sleep(1)
    assert len(recording.notices) == 2


@needs_sound_server()
@pytest.mark.slow
def test_a_server_that_dies_is_waited_for(server, feeder, record):
    recording = record(MICROPHONE, "microphone")
    time.sleep(0.5)
    killed_s = time.monotonic()
    server.kill()
    recording.wait_for(NoticeKind.NO_SERVER, killed_s, NOTICED_S)
    before = [chunk for chunk in recording.chunks if chunk.heard_at_s <= killed_s]
    assert n_missing(np.concatenate([chunk.samples for chunk in before])) == 0
    server.start()
    back_s = time.monotonic()
    feeder = Feeder(server)
    try:
        recording.wait_for(NoticeKind.LISTENING, back_s, RECOVERED_S)
        recording.wait_for_sound(back_s, RECOVERED_S)
    finally:
        feeder.stop()
    after = [chunk for chunk in recording.chunks if chunk.heard_at_s > killed_s + 0.1]
    assert after[0].start_s - before[-1].end_s == pytest.approx(
        after[0].heard_at_s - before[-1].heard_at_s, abs=0.3
    )


@needs_sound_server()
@pytest.mark.slow
@pytest.mark.usefixtures("feeder")
def test_a_server_that_hangs_is_noticed_and_can_be_left(server, record):
    recording = record(MICROPHONE)
    hung_s = time.monotonic()
    os.kill(server.pid, signal.SIGSTOP)
    try:
        time.sleep(NOTICED_S)
        assert len(recording.notices) > 1  # that nothing comes, or that the server is silent
        recording.wait_for(NoticeKind.NO_SERVER, hung_s, RECOVERED_S)
        stop_s = time.monotonic()
        recording.stop()
        assert time.monotonic() < stop_s + 2
    finally:
        os.kill(server.pid, signal.SIGCONT)


@needs_sound_server()
@pytest.mark.slow
@pytest.mark.usefixtures("feeder")
def test_a_muted_microphone_is_told_by_name_and_kept(server, record):
    server.add_sink("headphones")
    recording = record(MICROPHONE)
    muted_s = time.monotonic()
    server.control("set-source-mute", "microphone", "1")
    notice = recording.wait_for(NoticeKind.MUTED, muted_s, NOTICED_S)
    assert notice.message == "Microphone is muted: please switch it on"
    time.sleep(0.5)
    heard_s = time.monotonic()
    server.control("set-source-mute", "microphone", "0")
    recording.wait_for(NoticeKind.HEARD, heard_s, NOTICED_S)
    recording.wait_for_sound(heard_s, RECOVERED_S)
    kinds = [notice.kind for _, notice in recording.notices]
    assert kinds == [NoticeKind.LISTENING, NoticeKind.MUTED, NoticeKind.HEARD]


@needs_sound_server()
@pytest.mark.slow
@pytest.mark.usefixtures("server")
def test_zeros_and_silence_are_told_apart(feeder, record):
    recording = record(MICROPHONE)
    for what, kind in (
        ("zeros", NoticeKind.SILENT),
        ("ramp", NoticeKind.HEARD),
        ("nothing", NoticeKind.STALLED),
        ("ramp", NoticeKind.HEARD),
    ):
        since_s = time.monotonic()
        feeder.say(what)
        recording.wait_for(kind, since_s, NOTICED_S + 0.1)
    assert n_missing(recording.chunks[-1].samples) == 0


@needs_sound_server()
@pytest.mark.slow
def test_who_lists_devices_hears_of_changes_and_not_of_itself(server):
    system = SoundServer()
    assert system.changed()
    system.devices()
    time.sleep(0.3)
    system.changed()  # what happened while the server started
    for _ in range(3):
        system.devices()
        time.sleep(0.2)
        assert not system.changed()
    server.control("set-source-mute", "microphone", "1")
    time.sleep(0.2)
    assert system.changed()
    assert not system.changed()
    system.close()


RECORD_FOR_EVER = """
from engine.audio import DeviceKind, WantedDevice
from engine.audio_live import LiveSource
from engine.audio_server import SoundServer
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
        assert clients(server) == n_before + 2
        process.kill()
    until_s = time.monotonic() + 2
    while clients(server) > n_before and time.monotonic() < until_s:
        time.sleep(0.05)
    assert clients(server) == n_before


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
    system = SoundServer()
    device = dataclasses.replace(system.devices()[0], name="nowhere")
    tap = system.open(device)
    system.close()
    with pytest.raises(TapEndedError, match="No such entity"):
        drain(tap)
