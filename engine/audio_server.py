"""The devices of a PulseAudio or PipeWire server, by its own tools ``pactl`` and ``parec``.

They run as processes of their own: a server that hangs, or a library that aborts, cannot take the
program along, and a monitor of what the computer plays is a device like any other. Libraries were
tried as well: docs/decisions/0003-audio.md.
"""

import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator

from engine.audio import AudioDevice, DeviceKind, Tap
from engine.audio_parec import ParecTap, end_process
from engine.errors import NoSoundError

TIMEOUT_S = 0.5
"""A server that is well answers in a few milliseconds; one that must be started first does not."""

PLAIN = ("env", "LC_ALL=C", "LANGUAGE=")
"""Makes the tools speak English; names of devices stay what they are."""

_MIXERS = ("source", "sink")
_FIELD = re.compile(r"\t(\w[\w ]*): (.*)")
_RATE = re.compile(r"\b(\d+)Hz\b")


def is_here() -> bool:
    """Tell whether this computer has the tools; a server may still be missing."""
    tools = ("pactl", "parec")
    return sys.platform == "linux" and all(shutil.which(tool) is not None for tool in tools)


class SoundServer:
    """The sound server of this session, running or not."""

    def __init__(self, *, timeout_s: float = TIMEOUT_S) -> None:
        """Prepare; nothing is asked yet. A server that lets us wait longer counts as gone."""
        self._timeout_s = timeout_s
        self._news: subprocess.Popen[bytes] | None = (
            None  # writes a line whenever something changes
        )

    def devices(self) -> tuple[AudioDevice, ...]:
        """List microphones and monitors, in the server's order.

        Raises:
            NoSoundError: no server answers.
        """
        if self._news is None:  # before listing, so that nothing can change in between unseen
            self._news = _started("subscribe")
        try:
            return parse_devices(*(_asked(self._timeout_s, *words) for words in _QUESTIONS))
        except NoSoundError:
            self.close()  # a new server is asked anew
            raise

    def changed(self) -> bool:
        """Tell whether the server, or its end, was heard of since the last call."""
        news = self._news
        if news is None or news.stdout is None:
            return True
        heard = False
        while select.select([news.stdout], [], [], 0)[0]:
            heard = True
            if not os.read(news.stdout.fileno(), 1 << 16):
                self.close()  # the server is gone
                break
        return heard

    def open(self, device: AudioDevice) -> Tap:
        """Begin to record; whether it can be done shows when it is read."""
        return ParecTap(
            [
                *PLAIN,
                "parec",
                "--verbose",  # tells of moves
                "--client-name=Surtitle",
                f"--stream-name={device.kind.capitalize()}",
                f"--device={device.name}",
                f"--rate={device.rate_hz}",
                "--channels=1",
                "--format=float32ne",
                "--latency-msec=20",
            ],
            device.rate_hz,
        )

    def close(self) -> None:
        """Hear no more news."""
        if self._news is not None:
            end_process(self._news)
            self._news = None


_QUESTIONS = (("info",), ("list", "sources"), ("list", "sinks"))


def _started(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*PLAIN, "pactl", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _asked(timeout_s: float, *words: str) -> str:
    process = _started(*words)
    try:
        answer, _ = process.communicate(timeout=timeout_s)
    except subprocess.TimeoutExpired as error:
        msg = f"the sound server did not answer within {timeout_s:g} s: restart it"
        raise NoSoundError(msg) from error
    finally:
        end_process(process)
    if process.returncode:
        msg = "no sound server answers: start PipeWire or PulseAudio"
        raise NoSoundError(msg)
    return answer.decode(errors="replace")


def parse_devices(info: str, sources: str, sinks: str) -> tuple[AudioDevice, ...]:
    """Read what ``pactl`` says.

    Args:
        info: of ``pactl info``.
        sources: of ``pactl list sources``.
        sinks: of ``pactl list sinks``; what is played through a muted one cannot be heard.
    """
    defaults = dict(line.split(": ", 1) for line in info.splitlines() if ": " in line)
    muted_sinks = {fields["Name"] for _, fields in _entries(sinks) if fields.get("Mute") == "yes"}
    return tuple(
        _device(number, fields, defaults, muted_sinks) for number, fields in _entries(sources)
    )


def _device(
    number: int, fields: dict[str, str], defaults: dict[str, str], muted_sinks: set[str]
) -> AudioDevice:
    name = fields["Name"]
    sink = fields.get("Monitor of Sink", "n/a")
    rate = _RATE.search(fields.get("Sample Specification", ""))
    is_muted = fields.get("Mute") == "yes"
    description = fields.get("Description", name)
    if sink == "n/a":
        kind, is_default = DeviceKind.MICROPHONE, name == defaults.get("Default Source")
    else:
        kind, is_default = DeviceKind.SYSTEM, sink == defaults.get("Default Sink")
        is_muted |= sink in muted_sinks
        description = description.removeprefix("Monitor of ")
    return AudioDevice(
        name=name,
        description=description,
        kind=kind,
        rate_hz=int(rate[1]) if rate else 48_000,
        number=number,
        is_default=is_default,
        is_muted=is_muted,
    )


def _entries(listing: str) -> Iterator[tuple[int, dict[str, str]]]:
    """Yield the number and the fields of every source or sink that has a name."""
    for entry in re.split(r"^(?:Source|Sink) #", listing, flags=re.MULTILINE)[1:]:
        number, _, rest = entry.partition("\n")
        fields: dict[str, str] = {}
        for line in rest.splitlines():
            if match := _FIELD.fullmatch(line):
                fields.setdefault(match[1], match[2])
        if number.isdigit() and fields.get("Name"):
            yield int(number), fields
