"""Devices that sound is recorded from, levels and notices. No numpy: the windows import it."""

import enum
from dataclasses import dataclass, field

from engine.messages import Message

SAMPLE_RATE_HZ = 16_000
"""Samples per second of every chunk: the rate that recognisers are trained on."""

FLOOR_DB = -100.0
"""The level of silence; no microphone is as quiet as this."""


class DeviceKind(enum.StrEnum):
    """The kind of sound that a device records."""

    MICROPHONE = "microphone"
    SYSTEM = "system"  # the sound that the computer plays


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioDevice:
    """A microphone, or the monitor of an output.

    Attributes:
        name: the system's name, unique among the devices that are plugged in.
        rate_hz: samples per second before the system resamples.
        number: changes whenever the device is plugged in, on systems that number devices; else 0.
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
    """The device that a person chose; without a name, the current default of its kind.

    ``before`` names the device used before, which goes on where the chosen one fails; None for the
    default.
    """

    kind: DeviceKind
    name: str | None = None
    before: str | None = field(default=None, compare=False)


class NoticeKind(enum.StrEnum):
    """Kinds of notices about a source."""

    LISTENING = "listening"  # recording from a device that was silent or is new
    LOST = "lost"  # the device is gone; another one replaces it if there is one
    STALLED = "stalled"  # the device is listed and delivers nothing
    MOVED = "moved"  # recording from the new default, or from the mixer's choice
    RETURNED = "returned"  # recording from the chosen device again
    MUTED = "muted"  # the system has muted the device
    SILENT = "silent"  # the device delivers only zeros, like a microphone with a switch
    HEARD = "heard"  # no longer muted or silent
    NO_SERVER = "no server"  # no sound server answers
    WOKE = "woke"  # the computer slept
    DROPPED = "dropped"  # sound was lost
    FAILED = "failed"  # recording has stopped for good


@dataclass(frozen=True, slots=True, kw_only=True)
class AudioNotice:
    """A notice about a source for the user; ``device`` is a description, or empty for none."""

    kind: NoticeKind
    device: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Loudness in dBFS, from ``FLOOR_DB`` to 0.

    Attributes:
        rms_db: root mean square; a full-scale square wave has 0, a full-scale sine wave -3.
        peak_db: the loudest sample; above -1 the sound is probably clipped.
    """

    rms_db: float
    peak_db: float
