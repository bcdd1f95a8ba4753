"""PortAudio and SoundCard, which Linux does not need, held against a sound server all the same."""

import dataclasses
import json
import subprocess
import sys
import time
import wave

import numpy as np
import pytest

from engine.audio.devices import AudioDevice, DeviceKind
from engine.errors import AudioError, NoSoundError, TapEndedError
from tests.support.programs.run import ran
from tests.support.sound_server import needs_sound_server

try:
    from engine.audio.backends import portaudio
except OSError as error:
    pytest.skip(f"PortAudio is not installed: {error}", allow_module_level=True)

MICROPHONE = AudioDevice(
    name="microphone", description="Microphone", kind=DeviceKind.MICROPHONE, rate_hz=16_000
)

pytestmark = needs_sound_server()


def read_samples(tap, n_samples):
    """Read so many; a machine that does much else may hand them over late, and loses none."""
    parts, end_s = [], time.monotonic() + 90
    while sum(map(len, parts)) < n_samples and time.monotonic() < end_s:
        parts.append(tap.read(0.05))
    return np.concatenate(parts)


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
