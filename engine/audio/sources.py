"""Make sources of sound: a recording by this computer's sound system, or a file.

The libraries of the extra ``speech`` are imported on first use; without them only typed text is
translated.
"""

import contextlib
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from engine.audio.backends import pulse
from engine.audio.chunks import SoundSystem, Tap
from engine.audio.devices import AudioDevice, AudioNotice, DeviceKind, WantedDevice
from engine.errors import AudioError, NoSoundError
from engine.messages import Code

if TYPE_CHECKING:
    from engine.audio.backends.portaudio import PortAudio
    from engine.audio.file_source import FileSource
    from engine.audio.live_source import LiveSource

_ANSWER_S = 5.0
"""Time limit of an explicit listing: the server may have to be started first."""


class AudioSources:
    """Make sources; the program has one of these, since all sources share PortAudio."""

    def __init__(self) -> None:
        self._portaudio: PortAudio | None = None

    def devices(self) -> tuple[AudioDevice, ...]:
        """List the devices; raises AudioError if there is none, or a library is missing."""
        system = self._system(timeout_s=_ANSWER_S)
        try:
            return system.devices()
        finally:
            system.close()

    def live(
        self,
        wanted: WantedDevice,
        report: Callable[[AudioNotice], None],
        *,
        patience_s: float | None = None,
    ) -> "LiveSource":
        """Make a source that records from a device and reports on its own thread.

        It fails after ``patience_s`` without any answer of the sound system; None: it waits.

        Raises:
            AudioError: a library is missing.
        """
        with _libraries():
            from engine.audio.live_source import LiveSource  # noqa: PLC0415  a library may be missing

            return LiveSource(self._system(), wanted, report, patience_s=patience_s)

    def file(
        self,
        path: Path,
        report: Callable[[AudioNotice], None],
        *,
        real_time: bool,
        track: int | None = None,
        language: str = "",
    ) -> "FileSource":
        """Make a source that reads a file and reports during ``start`` and ``read``.

        Its audio ``track``, from 1, or one in the ``language`` if it has several.

        Raises:
            AudioError: a library is missing.
        """
        with _libraries():
            from engine.audio.file_source import FileSource  # noqa: PLC0415  a library may be missing

            return FileSource(path, report, real_time=real_time, track=track, language=language)

    def _system(self, *, timeout_s: float = pulse.TIMEOUT_S) -> SoundSystem:
        if pulse.is_here():
            return pulse.SoundServer(timeout_s=timeout_s)
        with _libraries():
            from engine.audio.backends.portaudio import PortAudio  # noqa: PLC0415  a library may be missing

            self._portaudio = self._portaudio or PortAudio()
            if not _on_windows():
                return self._portaudio
            from engine.audio.backends.wasapi_loopback import Loopback  # noqa: PLC0415  only on Windows

            return _Both(microphones=self._portaudio, outputs=Loopback())


class _Both:
    """The microphones of one sound system and the outputs of another."""

    def __init__(self, *, microphones: SoundSystem, outputs: SoundSystem) -> None:
        self._systems = {DeviceKind.MICROPHONE: microphones, DeviceKind.SYSTEM: outputs}

    def devices(self) -> tuple[AudioDevice, ...]:
        devices: list[AudioDevice] = []
        failures = []
        for kind, system in self._systems.items():
            try:
                devices += [device for device in system.devices() if device.kind is kind]
            except NoSoundError as error:
                failures.append(error)
        if len(failures) == len(self._systems):
            raise failures[0]
        return tuple(devices)

    def changed(self) -> bool:
        return any(system.changed() for system in self._systems.values())

    def open(self, device: AudioDevice) -> Tap:
        return self._systems[device.kind].open(device)

    def close(self) -> None:
        for system in self._systems.values():
            system.close()


def find_device(devices: Sequence[AudioDevice], kind: DeviceKind, text: str) -> AudioDevice:
    """Find a device by its system name, its description, or a part of either.

    Raises:
        AudioError: no device matches, or several do.
    """
    candidates = [device for device in devices if device.kind is kind]
    folded = text.casefold()
    for is_match in (
        lambda device: device.name == text,
        lambda device: device.description.casefold() == folded,
        lambda device: folded in device.description.casefold() or folded in device.name.casefold(),
    ):
        matches = [device for device in candidates if is_match(device)]
        if len(matches) == 1:
            return matches[0]
        if matches:
            msg = f"{text!r} may be any of these, so name one in full: {_names(matches)}"
            raise AudioError(msg)
    word = "microphone" if kind is DeviceKind.MICROPHONE else "output"
    msg = f"no {word} is called {text!r}; there are: {_names(candidates) or 'none at all'}"
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
