"""PortAudio and SoundCard, which Linux does not need, held against a sound server all the same."""

import dataclasses
import json
import subprocess
import sys
import threading
import time
import wave

import numpy as np
import pytest

from engine.audio.devices import AudioDevice, DeviceKind, NoticeKind, WantedDevice
from engine.audio.live_source import LiveSource
from engine.errors import AudioError, NoSoundError, TapEndedError
from tests.support.programs.run import ran
from tests.support.sound_server import Feeder, n_missing, needs_sound_server, wait_until

try:
    from engine.audio.backends import portaudio
except OSError as error:
    pytest.skip(f"PortAudio is not installed: {error}", allow_module_level=True)

MICROPHONE = AudioDevice(
    name="microphone", description="Microphone", kind=DeviceKind.MICROPHONE, rate_hz=16_000
)

pytestmark = needs_sound_server()


@pytest.fixture
def tap(feeder):  # noqa: ARG001  what is heard
    tap = portaudio.PortAudio().open(MICROPHONE)
    yield tap
    tap.close()


def read_samples(tap, n_samples):
    """Read so many; a machine that does much else may hand them over late, and loses none."""
    parts, end_s = [], time.monotonic() + 90
    while sum(map(len, parts)) < n_samples and time.monotonic() < end_s:
        parts.append(tap.read(0.05))
    return np.concatenate(parts)


def hog(stopping):
    n = 0
    while not stopping.is_set():
        n += 1


@pytest.mark.slow
def test_no_sample_is_lost_while_other_threads_are_busy(tap):
    stopping = threading.Event()
    hogs = [threading.Thread(target=hog, args=(stopping,)) for _ in range(2)]
    for thread in hogs:
        thread.start()
    samples = read_samples(tap, 3 * 16_000)
    stopping.set()
    for thread in hogs:
        thread.join()
    assert len(samples) >= 3 * 16_000
    assert n_missing(samples) == 0
    assert tap.n_dropped == 0


@pytest.mark.slow
def test_a_ring_that_is_not_read_keeps_what_it_has_and_counts_the_rest(tap, monkeypatch):
    monkeypatch.setattr(tap, "_ring", type(tap._ring)(8_000))
    wait_until(lambda: tap.n_dropped > 8_000)
    samples = tap.read(0)
    assert len(samples) == 8_000
    assert n_missing(samples) == 0


@pytest.mark.usefixtures("server")
def test_another_process_lists_the_devices():
    devices = {device.name: device for device in portaudio.PortAudio().devices()}
    assert {"microphone", "speakers"} <= set(devices)
    assert sum(device.is_default for device in devices.values()) == 1


@pytest.mark.usefixtures("server")
def test_a_device_that_is_not_there_is_told_by_name():
    nobody = dataclasses.replace(MICROPHONE, name="nobody", description="Nobody's")
    with pytest.raises(AudioError, match="Nobody's cannot be recorded: it is not there"):
        portaudio.PortAudio().open(nobody)


@pytest.mark.usefixtures("feeder")
def test_a_second_source_does_not_end_the_first():
    system = portaudio.PortAudio()
    first = system.open(MICROPHONE)
    second = system.open(dataclasses.replace(MICROPHONE, name="speakers"))
    second.close()
    second.close()
    assert len(read_samples(first, 8_000)) >= 8_000
    first.close()
    with pytest.raises(TapEndedError):
        read_samples(first, 8_000)


def test_without_portaudio_the_sentence_says_so(monkeypatch):
    def fail(*_arguments, **_options):
        raise subprocess.CalledProcessError(1, "list")

    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(NoSoundError, match="PortAudio, which records from microphones"):
        portaudio.PortAudio().devices()


@pytest.mark.slow
@pytest.mark.usefixtures("feeder")
def test_a_server_that_dies_is_noticed_and_waited_for(server):
    kinds = []
    source = LiveSource(
        portaudio.PortAudio(),
        WantedDevice(kind=DeviceKind.MICROPHONE, name="microphone"),
        lambda notice: kinds.append(notice.kind),
    )
    source.start()
    try:
        wait_until(lambda: NoticeKind.LISTENING in kinds)
        n_told = len(kinds)
        server.kill()
        wait_until(lambda: len(kinds) > n_told)
        server.start()
        again = Feeder(server)
        wait_until(lambda: kinds[-1] in (NoticeKind.LISTENING, NoticeKind.RETURNED))
        again.stop()
    finally:
        source.stop()


@pytest.mark.slow
def test_what_is_played_is_heard_by_the_file_made_for_windows(server, tmp_path):
    server.keep_running("speakers.monitor")
    times = np.arange(90 * 48_000) / 48_000  # ended when it was heard
    with wave.open(str(tmp_path / "tone.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(48_000)
        file.writeframes((10_000 * np.sin(2 * np.pi * 880 * times)).astype("<i2").tobytes())
    with subprocess.Popen(["paplay", "--device=speakers", tmp_path / "tone.wav"]) as player:
        heard = ran(
            sys.executable, "-m", "tests.support.programs.record_loopback", text=False, check=True
        )
        player.terminate()
    told = json.loads(heard.stdout)
    assert told["devices"] == [["Speakers", "system", True]]
    assert told["tone_hz"] == 880
    assert told["closed"] == "Speakers cannot be recorded: it was closed"
    assert told["missing"].startswith("Speakers cannot be recorded: no soundcard with id nobody")
