"""Record microphones by PortAudio on systems without PulseAudio or PipeWire.

On macOS a driver like BlackHole makes the computer's own sound a device, too (docs/speech.md).

PortAudio calls back on its own thread with each block, which is copied into a ring without
allocating memory. It does not notice devices that come and go: ``portaudio_probe`` lists them in
another process, and PortAudio is initialised again before a device is opened while no other is.
"""

import json
import subprocess
import sys
import threading

import numpy as np
import sounddevice

from engine.audio.backends import portaudio_probe
from engine.audio.backends.portaudio_probe import Input, list_inputs
from engine.audio.chunks import Ring, Samples, Tap
from engine.audio.devices import AudioDevice, DeviceKind
from engine.errors import AudioError, NoSoundError, TapEndedError
from engine.messages import Code

_RING_S = 20.0
_LIST_TIMEOUT_S = 10.0
_MOST_CHANNELS = 2
_LONGEST_BLOCK = 1 << 16  # samples

_VIRTUAL = ("BlackHole", "Loopback Audio", "Soundflower")
"""Drivers that record the sound a Mac plays, and look like microphones."""


class PortAudio:
    """PortAudio in this process; all sources share one of these."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # two sources may open at the same time
        self._open: set[PortAudioTap] = set()

    def devices(self) -> tuple[AudioDevice, ...]:
        try:
            done = subprocess.run(
                [sys.executable, "-P", portaudio_probe.__file__],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_LIST_TIMEOUT_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            raise NoSoundError(Code.NO_PORTAUDIO(reason=str(error))) from error
        return tuple(_device(entry) for entry in json.loads(done.stdout))

    def changed(self) -> bool:
        """Return False: PortAudio does not report changes."""
        return False

    def open(self, device: AudioDevice) -> Tap:
        with self._lock:
            self._open = {tap for tap in self._open if tap.is_open}
            if not self._open:
                sounddevice._terminate()  # the only way to refresh its list
                sounddevice._initialize()
            try:
                tap = PortAudioTap(device)
            except (sounddevice.PortAudioError, ValueError) as error:
                message = Code.CANNOT_RECORD(device=device.description, reason=str(error))
                raise AudioError(message) from error
            self._open.add(tap)
            return tap

    def close(self) -> None:
        """Do nothing: taps are closed by their owners."""


class PortAudioTap:
    """A running stream and its ring; PortAudio does not report moves."""

    moved_to: int | None = None

    def __init__(self, device: AudioDevice) -> None:
        self.rate_hz = device.rate_hz
        self._ring = Ring(round(_RING_S * device.rate_hz))
        self._mixed = np.zeros(_LONGEST_BLOCK, np.float32)
        entry = next((entry for entry in list_inputs() if entry["name"] == device.name), None)
        if entry is None:
            msg = "it is not there"
            raise ValueError(msg)
        self._stream = sounddevice.InputStream(
            device=entry["index"],
            channels=min(entry["n_channels"], _MOST_CHANNELS),
            samplerate=device.rate_hz,
            dtype="float32",
            latency="high",
            callback=self._take,
        )
        self._stream.start()

    @property
    def n_dropped(self) -> int:
        return self._ring.n_dropped

    @property
    def is_open(self) -> bool:
        return not self._stream.closed

    def read(self, timeout_s: float) -> Samples:
        block = self._ring.wait(timeout_s, lambda: self.is_open and self._stream.active)
        if block is None:
            msg = "PortAudio stopped the recording"
            raise TapEndedError(msg)
        return block

    def close(self) -> None:
        self._stream.close(ignore_errors=True)

    def _take(self, block: Samples, n_frames: int, _times: object, _status: object) -> None:
        """Mix the channels into the ring, on PortAudio's thread; the sample clock finds losses."""
        mixed = self._mixed[:n_frames]
        np.mean(block, axis=1, out=mixed)
        self._ring.write(mixed)


def _device(entry: Input) -> AudioDevice:
    return AudioDevice(
        name=entry["name"],
        description=entry["name"],
        kind=(DeviceKind.SYSTEM if entry["name"].startswith(_VIRTUAL) else DeviceKind.MICROPHONE),
        rate_hz=entry["rate_hz"],
        is_default=entry["is_default"],
    )
