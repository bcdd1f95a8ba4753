"""Sound as it is handed on: chunks, devices, what is told about them, and who supplies them.

A source has a timeline of its own: seconds since it was started, or since the beginning of a
file. Where sound is missing (a device was unplugged), the next chunk starts later than the one
before it ended.
"""

import enum
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

SAMPLE_RATE_HZ = 16_000
"""What recognisers are trained on; every chunk has this rate."""

Samples = NDArray[np.float32]
"""Sound of one channel, shape (n_samples,), float32 from -1 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AudioChunk:
    """A piece of sound; its receiver owns the samples.

    Attributes:
        samples: shape (n_samples,), 16 kHz mono, at least one.
        start_s: where the first sample stands on the source's timeline.
        heard_at_s: ``time.monotonic()`` when the last sample was there.
    """

    samples: Samples
    start_s: float
    heard_at_s: float

    @property
    def end_s(self) -> float:
        """Tell where the first sample after the chunk would stand."""
        return self.start_s + len(self.samples) / SAMPLE_RATE_HZ


class DeviceKind(enum.StrEnum):
    """What a device hears."""

    MICROPHONE = "microphone"
    SYSTEM = "system"  # what the computer plays


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioDevice:
    """Something sound can be recorded from.

    Attributes:
        name: the system's own name; another device never has it at the same time.
        description: its name for people.
        kind: what it hears.
        rate_hz: samples per second it gives without being resampled by the system.
        number: given anew whenever the device is plugged in, where the system does that; else 0.
        is_default: it is the one the system uses where none is named.
        is_muted: the system lets only silence through.
    """

    name: str
    description: str
    kind: DeviceKind
    rate_hz: int
    number: int = 0
    is_default: bool = False
    is_muted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedDevice:
    """Which device a person chose.

    Attributes:
        kind: what is to be heard.
        name: its system name, or None for whatever the default is at any time.
    """

    kind: DeviceKind
    name: str | None = None


class NoticeKind(enum.StrEnum):
    """What happened to a source."""

    LISTENING = "listening"  # sound is expected from a device that was silent or new
    LOST = "lost"  # the device is gone; another takes its place if there is one
    STALLED = "stalled"  # the device is there and gives nothing
    MOVED = "moved"  # the default or the mixer's choice is another device now
    RETURNED = "returned"  # back to the device that was chosen
    MUTED = "muted"  # the system lets only silence through
    SILENT = "silent"  # only zeros come, as from a microphone with a switch
    HEARD = "heard"  # not muted or silent any more
    NO_SERVER = "no server"  # nothing can be recorded at all
    WOKE = "woke"  # the computer slept
    DROPPED = "dropped"  # sound was lost
    FAILED = "failed"  # recording has ended for good


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioNotice:
    """Something a person should know about a source.

    Attributes:
        kind: what happened.
        device: name for people of the device it is about, empty where there is none.
        message: one sentence.
        missed: name for people of the device in whose place it is, empty where there is none.
    """

    kind: NoticeKind
    device: str
    message: str
    missed: str = ""


class AudioSource(Protocol):
    """Where chunks come from. One thread reads; any thread may stop it."""

    def start(self) -> None:
        """Begin; the timeline starts here.

        Raises:
            AudioError: a file cannot be read. A device that is missing is told, and waited for.
        """

    def read(self, timeout_s: float) -> AudioChunk | None:
        """Return the next chunk, or None where none came in time or none comes any more.

        Raises:
            AudioError: a file cannot be read any further.
        """

    def stop(self) -> None:
        """End. What is recorded already can still be read; returns when nothing runs any more."""

    @property
    def ended(self) -> bool:
        """Tell whether ``read`` will never return a chunk again."""

    @property
    def n_dropped(self) -> int:
        """Count the 16 kHz samples that were recorded or should have been, and were lost."""


class Tap(Protocol):
    """An open device. It is closed when the block ends or its owner says so."""

    @property
    def rate_hz(self) -> int:
        """Tell the samples per second of ``read``."""

    @property
    def n_dropped(self) -> int:
        """Count the samples that had to be thrown away here."""

    @property
    def moved_to(self) -> int | None:
        """Tell the number of the device the system has moved this recording to, if it has."""

    def read(self, timeout_s: float) -> Samples:
        """Return what came, owned by the caller; nothing where nothing came in time.

        Raises:
            TapEndedError: nothing will come any more; all that came was returned before.
        """

    def close(self) -> None:
        """Stop recording; closing twice does no harm."""


class SoundSystem(Protocol):
    """What knows the devices of this computer and opens them. One thread uses it."""

    def devices(self) -> tuple[AudioDevice, ...]:
        """List what can be recorded from.

        Raises:
            NoSoundError: nothing can be, for now.
        """

    def changed(self) -> bool:
        """Tell whether ``devices`` may have another answer than the last time; costs nothing."""

    def open(self, device: AudioDevice) -> Tap:
        """Begin to record.

        Raises:
            AudioError: the device cannot be opened.
        """

    def close(self) -> None:
        """Let go of everything; the next call begins anew."""
