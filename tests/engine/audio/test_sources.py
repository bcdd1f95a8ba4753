import sys

import pytest

from engine.audio.backends import pulse
from engine.audio.devices import AudioDevice, DeviceKind, WantedDevice
from engine.audio.sources import AudioSources, find_device
from engine.errors import AudioError, NoSoundError

MICROPHONE, SYSTEM = DeviceKind.MICROPHONE, DeviceKind.SYSTEM


def device(name, description, kind=MICROPHONE):
    return AudioDevice(name=name, description=description, kind=kind, rate_hz=48_000)


KEPT = ("engine.audio.chunks", "engine.audio.devices")
DEVICES = (
    device("usb.1", "USB Headset"),
    device("usb.2", "USB Camera"),
    device("pci", "Built-in"),
    device("built-in-2", "Studio"),
    device("pci.monitor", "Built-in", SYSTEM),
)


@pytest.mark.parametrize(
    ("kind", "text", "name"),
    [
        (MICROPHONE, "usb.2", "usb.2"),
        (MICROPHONE, "pci", "pci"),
        (SYSTEM, "built-in", "pci.monitor"),
        (MICROPHONE, "built-in", "pci"),
        (MICROPHONE, "CAMERA", "usb.2"),
        (MICROPHONE, "studio", "built-in-2"),
    ],
)
def test_a_device_is_found_by_what_a_person_would_call_it(kind, text, name):
    assert find_device(DEVICES, kind, text).name == name


def test_a_name_that_fits_several_is_asked_back():
    with pytest.raises(AudioError, match=r"USB Headset \(usb.1\), USB Camera \(usb.2\)"):
        find_device(DEVICES, MICROPHONE, "usb")


@pytest.mark.parametrize(
    ("devices", "said"),
    [(DEVICES, r"no output is called 'radio'; there are: Built-in"), ((), "none at all")],
)
def test_a_name_that_fits_none_is_answered_with_those_there_are(devices, said):
    with pytest.raises(AudioError, match=said):
        find_device(devices, SYSTEM, "radio")


class FakeSystem:
    def __init__(self, *devices):
        self.listed = devices
        self.opened = []

    def devices(self):
        if not self.listed:
            raise NoSoundError
        return self.listed

    def changed(self):
        return False

    def open(self, device):
        self.opened.append(device)
        return self.opened

    def close(self):
        self.listed = ()


@pytest.fixture
def windows(monkeypatch):
    """Sources as on Windows, with devices of our own."""
    microphones = FakeSystem(DEVICES[0], device("blackhole", "BlackHole", SYSTEM))
    outputs = FakeSystem(DEVICES[4])

    class FakePortAudioModule:
        PortAudio = staticmethod(lambda: microphones)

    class FakeLoopbackModule:
        Loopback = staticmethod(lambda: outputs)

    monkeypatch.setattr(pulse, "is_here", lambda: False)
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setitem(sys.modules, "engine.audio.backends.portaudio", FakePortAudioModule)
    monkeypatch.setitem(sys.modules, "engine.audio.backends.wasapi_loopback", FakeLoopbackModule)
    return microphones, outputs


def test_on_windows_two_systems_are_one(windows):
    microphones, outputs = windows
    sources = AudioSources()
    system = sources._system()
    assert system.devices() == (DEVICES[0], DEVICES[4])
    assert not system.changed()
    system.open(DEVICES[4])
    system.open(DEVICES[0])
    assert (microphones.opened, outputs.opened) == ([DEVICES[0]], [DEVICES[4]])
    microphones.listed = ()
    assert system.devices() == (DEVICES[4],)
    outputs.listed = ()
    with pytest.raises(NoSoundError):
        system.devices()
    system.close()


@pytest.mark.parametrize("library", ["av", "sounddevice"])
def test_a_missing_library_is_told_with_what_to_type(monkeypatch, library, tmp_path):
    for name in [
        name for name in sys.modules if name.startswith("engine.audio.") and name not in KEPT
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.setattr(pulse, "is_here", lambda: False)
    make = {
        "av": lambda: AudioSources().file(tmp_path / "a.wav", print, real_time=False),
        "sounddevice": lambda: AudioSources().live(WantedDevice(kind=MICROPHONE), print),
    }[library]
    with pytest.raises(AudioError, match=r"pip install 'surtitle\[speech\]'"):
        make()
