"""Microphones by PortAudio, where there is no PulseAudio or PipeWire: macOS, Windows, bare ALSA.

On macOS that is also how to hear what is played: by a driver like BlackHole (docs/speech.md).

PortAudio calls us from a thread of its own whenever a block is there; the block is copied into a
ring, and nothing is allocated on that way. What PortAudio cannot do is see devices come and go:
``audio_portaudio_list`` does, and before a device is opened PortAudio is made to look again if no
other stream is open.
"""

import json
import subprocess
import sys
import threading
import time

import numpy as np
import sounddevice

from engine.audio.backends import portaudio_probe
from engine.audio.backends.portaudio_probe import Input, list_inputs
from engine.audio.backends.ring_buffer import Ring
from engine.audio.chunks import Samples, Tap
from engine.audio.devices import AudioDevice, DeviceKind
from engine.errors import AudioError, NoSoundError, TapEndedError
from engine.messages import Code

_RING_S = 20.0
_POLL_S = 0.01
_LIST_TIMEOUT_S = 10.0
_MOST_CHANNELS = 2
_LONGEST_BLOCK = 1 << 16  # samples

_VIRTUAL = ("BlackHole", "Loopback Audio", "Soundflower")
"""Drivers that hand on what a Mac plays, and look like microphones."""


class PortAudio:
    """PortAudio as it is in this process; all sources that use it share one of these."""

    def __init__(self) -> None:
        self._lock = threading.Lock()  # two sources may open at the same time
        self._open: set[PortAudioTap] = set()

    def devices(self) -> tuple[AudioDevice, ...]:
        """List microphones as they are now, by asking another process.

        Raises:
            NoSoundError: PortAudio does not work here.
        """
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
        """Tell nothing: PortAudio has no news of devices."""
        return False

    def open(self, device: AudioDevice) -> Tap:
        """Begin to record.

        Raises:
            AudioError: PortAudio says no.
        """
        with self._lock:
            self._open = {tap for tap in self._open if tap.is_open}
            if not self._open:
                sounddevice._terminate()  # nothing else makes it look again
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
    """A running stream and its ring.

    Attributes:
        rate_hz: samples a second.
        moved_to: always None: PortAudio would not know.
    """

    moved_to: int | None = None

    def __init__(self, device: AudioDevice) -> None:
        """Open the device and begin.

        Raises:
            ValueError: there is no such device.
            sounddevice.PortAudioError: it cannot be opened.
        """
        self.rate_hz = device.rate_hz
        self._ring = Ring(round(_RING_S * device.rate_hz))
        self._mixed = np.zeros(_LONGEST_BLOCK, np.float32)
        found = next((entry for entry in list_inputs() if entry["name"] == device.name), None)
        if found is None:
            msg = "it is not there"
            raise ValueError(msg)
        self._stream = sounddevice.InputStream(
            device=found["index"],
            channels=min(found["n_channels"], _MOST_CHANNELS),
            samplerate=device.rate_hz,
            dtype="float32",
            latency="high",
            callback=self._take,
        )
        self._stream.start()

    @property
    def n_dropped(self) -> int:
        """Count the samples that found no room in the ring."""
        return self._ring.n_dropped

    @property
    def is_open(self) -> bool:
        """Tell whether the stream was not closed yet."""
        return not self._stream.closed

    def read(self, timeout_s: float) -> Samples:
        """Return what came, waiting until something has come.

        Raises:
            TapEndedError: the stream has stopped.
        """
        end_s = time.monotonic() + timeout_s
        while True:
            is_active = self.is_open and self._stream.active
            block = self._ring.read()
            if len(block):
                return block
            if not is_active:
                msg = "PortAudio stopped the recording"
                raise TapEndedError(msg)
            if time.monotonic() >= end_s:
                return block
            time.sleep(_POLL_S)

    def close(self) -> None:
        """Stop recording."""
        self._stream.close(ignore_errors=True)

    def _take(self, block: Samples, n_frames: int, _times: object, _status: object) -> None:
        """Mix the channels into the ring, on PortAudio's thread; what it lost, the clock finds."""
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
