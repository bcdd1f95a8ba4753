"""Devices that sound is recorded from, levels and notices. No numpy: the windows import it."""

import enum
from dataclasses import dataclass

from engine.messages import Message

SAMPLE_RATE_HZ = 16_000
"""Samples per second of every chunk: the rate that recognisers are trained on."""

FLOOR_DB = -100.0
"""What silence counts as; no microphone is as quiet as this."""


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
        message: what to tell the person.
    """

    kind: NoticeKind
    device: str
    message: Message


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Loudness in dBFS, from ``FLOOR_DB`` to 0.

    Attributes:
        rms_db: the mean over the piece; 0 is a square wave as loud as can be, and so a sine wave
            as loud as can be has -3.
        peak_db: the loudest sample; what is above -1 is probably cut off.
    """

    rms_db: float
    peak_db: float
