"""Record the sound that Windows plays: WASAPI's loopback, through SoundCard.

SoundCard fills in the silence that WASAPI leaves out while nothing plays. Its calls are the same on
every system, so this file can be tested without Windows.
"""

import threading

import numpy as np
import soundcard

from engine.audio.chunks import Ring, Samples, Tap
from engine.audio.devices import AudioDevice, DeviceKind
from engine.errors import NoSoundError, TapEndedError
from engine.messages import Code

_RATE_HZ = 48_000  # Windows converts where it must
_BLOCK_S = 0.02
_RING_S = 20.0
_JOIN_S = 2.0


class Loopback:
    """The outputs of this computer as devices."""

    def devices(self) -> tuple[AudioDevice, ...]:
        try:
            default = str(soundcard.default_speaker().id)
            listed = soundcard.all_microphones(include_loopback=True)
        except (RuntimeError, IndexError, AttributeError) as error:  # what SoundCard raises
            raise NoSoundError(Code.NO_OUTPUTS_LISTED(reason=str(error))) from error
        return tuple(
            AudioDevice(
                name=str(device.id),
                description=str(device.name).removeprefix("Monitor of "),
                kind=DeviceKind.SYSTEM,
                rate_hz=_RATE_HZ,
                is_default=device.id in (default, f"{default}.monitor"),
            )
            for device in listed
            if device.isloopback
        )

    def changed(self) -> bool:
        """Return False: SoundCard does not report changes."""
        return False

    def open(self, device: AudioDevice) -> Tap:
        return LoopbackTap(device)

    def close(self) -> None:
        """Do nothing: taps are closed by their owners."""


class LoopbackTap:
    """A thread that records into a ring; SoundCard does not report moves."""

    moved_to: int | None = None

    def __init__(self, device: AudioDevice) -> None:
        self.rate_hz = device.rate_hz
        self._device = device
        self._ring = Ring(round(_RING_S * device.rate_hz))
        self._closing = threading.Event()
        self._failure = "it was closed"
        self._thread = threading.Thread(target=self._run, name="surtitle-loopback", daemon=True)
        self._thread.start()

    @property
    def n_dropped(self) -> int:
        return self._ring.n_dropped

    def read(self, timeout_s: float) -> Samples:
        block = self._ring.wait(timeout_s, self._thread.is_alive)
        if block is None:
            msg = f"{self._device.description} cannot be recorded: {self._failure}"
            raise TapEndedError(msg)
        return block

    def close(self) -> None:
        """Stop recording; the thread of a device that hangs is abandoned."""
        self._closing.set()
        self._thread.join(_JOIN_S)

    def _run(self) -> None:
        n_block = round(_BLOCK_S * self.rate_hz)
        try:
            microphone = soundcard.get_microphone(self._device.name, include_loopback=True)
            with microphone.recorder(self.rate_hz, channels=2, blocksize=n_block) as recorder:
                while not self._closing.is_set():
                    block = recorder.record(n_block)  # (n_block, 2)
                    self._ring.write(np.mean(block, axis=1, dtype=np.float32))
        except (RuntimeError, IndexError, OSError, TypeError) as error:  # what SoundCard raises
            self._failure = str(error)
