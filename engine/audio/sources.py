"""Make sources of sound: this computer's way of recording, or a file.

The libraries for it are imported when they are needed. They belong to the extra ``speech``; without
it Surtitle translates what is typed.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.audio.backends import pulse
from engine.audio.chunks import AudioSource, SoundSystem, Tap
from engine.audio.devices import AudioDevice, AudioNotice, DeviceKind, WantedDevice
from engine.errors import AudioError, NoSoundError
from engine.messages import Code

if TYPE_CHECKING:
    from engine.audio.backends.portaudio import PortAudio
    from engine.audio.live_source import LiveSource

_ANSWER_S = 5.0
"""A person who asks can wait for a server to be started."""


class AudioSources:
    """Make them; one of these for the whole program, since its sources share PortAudio."""

    def __init__(self) -> None:
        self._portaudio: PortAudio | None = None

    def devices(self) -> tuple[AudioDevice, ...]:
        """List what can be recorded from.

        Raises:
            AudioError: nothing can be, or a library is missing.
        """
        here = pulse.is_here()
        system = pulse.SoundServer(timeout_s=_ANSWER_S) if here else self._elsewhere()
        try:
            return system.devices()
        finally:
            system.close()

    def live(self, wanted: WantedDevice, report: Callable[[AudioNotice], None]) -> "LiveSource":
        """Make a source that records from a device, and reports on a thread of its own.

        Raises:
            AudioError: a library is missing.
        """
        with _libraries():
            from engine.audio.live_source import LiveSource  # noqa: PLC0415  a library may be missing

            return LiveSource(self._system(), wanted, report)

    def file(
        self, path: Path, report: Callable[[AudioNotice], None], *, real_time: bool
    ) -> AudioSource:
        """Make a source that reads a file, and reports within ``read``.

        Raises:
            AudioError: a library is missing.
        """
        with _libraries():
            from engine.audio.file_source import FileSource  # noqa: PLC0415  a library may be missing

            return FileSource(path, report, real_time=real_time)

    def _system(self) -> SoundSystem:
        return pulse.SoundServer() if pulse.is_here() else self._elsewhere()

    def _elsewhere(self) -> SoundSystem:
        with _libraries():
            from engine.audio.backends.portaudio import PortAudio  # noqa: PLC0415  a library may be missing

            self._portaudio = self._portaudio or PortAudio()
            if not _on_windows():
                return self._portaudio
            from engine.audio.backends.wasapi_loopback import Loopback  # noqa: PLC0415  only on Windows

            return _Both(microphones=self._portaudio, outputs=Loopback())


class _Both:
    """Microphones of one system, outputs of another."""

    def __init__(self, *, microphones: SoundSystem, outputs: SoundSystem) -> None:
        self._systems = {DeviceKind.MICROPHONE: microphones, DeviceKind.SYSTEM: outputs}

    def devices(self) -> tuple[AudioDevice, ...]:
        found: list[AudioDevice] = []
        failures = []
        for kind, system in self._systems.items():
            try:
                found += [device for device in system.devices() if device.kind is kind]
            except NoSoundError as error:
                failures.append(error)
        if len(failures) == len(self._systems):
            raise failures[0]
        return tuple(found)

    def changed(self) -> bool:
        return any(system.changed() for system in self._systems.values())

    def open(self, device: AudioDevice) -> Tap:
        return self._systems[device.kind].open(device)

    def close(self) -> None:
        for system in self._systems.values():
            system.close()


def find_device(devices: Sequence[AudioDevice], kind: DeviceKind, text: str) -> AudioDevice:
    """Find the device a person means by its system name, its name, or a part of its name.

    Raises:
        AudioError: none is called so, or several are.
    """
    ours = [device for device in devices if device.kind is kind]
    meant = text.casefold()
    for is_meant in (
        lambda device: device.name == text,
        lambda device: device.description.casefold() == meant,
        lambda device: meant in device.description.casefold() or meant in device.name.casefold(),
    ):
        found = [device for device in ours if is_meant(device)]
        if len(found) == 1:
            return found[0]
        if found:
            msg = f"{text!r} may be any of these, so name one in full: {_names(found)}"
            raise AudioError(msg)
    word = "microphone" if kind is DeviceKind.MICROPHONE else "output"
    msg = f"no {word} is called {text!r}; there are: {_names(ours) or 'none at all'}"
    raise AudioError(msg)


def _on_windows() -> bool:
    return sys.platform == "win32"


def _names(devices: Sequence[AudioDevice]) -> str:
    return ", ".join(f"{device.description} ({device.name})" for device in devices)


@contextlib.contextmanager
def _libraries() -> Iterator[None]:
    try:
        yield
    except (ImportError, OSError) as error:  # OSError: the C library is missing
        raise AudioError(Code.SOUND_LIBRARIES_MISSING(reason=str(error))) from error
