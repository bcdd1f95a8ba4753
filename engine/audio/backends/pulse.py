"""The devices of a PulseAudio or PipeWire server, by its own tools ``pactl`` and ``parec``.

The tools run as separate processes: a server that hangs, or a library that aborts, cannot end this
program, and the monitor of an output is a device like any other. docs/decisions/0005-audio.md
compares libraries.
"""

import os
import re
import select
import shutil
import subprocess
import sys
from collections.abc import Iterator

from engine.audio.backends.parec import ParecTap, end_process
from engine.audio.chunks import Tap
from engine.audio.devices import AudioDevice, DeviceKind
from engine.errors import NoSoundError
from engine.messages import Code

TIMEOUT_S = 0.5
"""A healthy server answers in a few milliseconds; one that must be started first takes longer."""

_PLAIN = ("env", "LC_ALL=C", "LANGUAGE=")
"""Makes the tools write English; names of devices stay the same."""

_LEASH = ("setpriv", "--pdeathsig", "TERM", "--")
"""Ends a tool with the thread that started it, even if the program is killed."""

_FIELD = re.compile(r"\t(\w[\w ]*): (.*)")
_CHANGE = re.compile(rb" on (source|sink|server) #")  # not of clients: this program is one
_QUESTIONS = (("info",), ("list", "sources"), ("list", "sinks"))
_RATE = re.compile(r"\b(\d+)Hz\b")


def is_here() -> bool:
    """Return whether this computer has the tools; a server may still be missing."""
    tools = ("pactl", "parec")
    return sys.platform == "linux" and all(shutil.which(tool) is not None for tool in tools)


class SoundServer:
    """The sound server of this session, running or not."""

    def __init__(self, *, timeout_s: float = TIMEOUT_S) -> None:
        """Prepare; a server that does not answer within ``timeout_s`` counts as gone."""
        self._timeout_s = timeout_s
        self._changes: subprocess.Popen[bytes] | None = None  # writes a line for each change

    def devices(self) -> tuple[AudioDevice, ...]:
        """List microphones and monitors, in the server's order.

        Raises:
            NoSoundError: no server answers.
        """
        if self._changes is None:  # before listing, so that no change in between is missed
            self._changes = _started("subscribe")
        try:
            return parse_devices(*_answers(self._timeout_s))
        except NoSoundError:
            self.close()  # subscribe to the next server
            raise

    def changed(self) -> bool:
        """Return whether the server reported a change, or ended, since the last call."""
        changes = self._changes
        if changes is None or changes.stdout is None:
            return True
        lines = b""
        while select.select([changes.stdout], [], [], 0)[0]:
            part = os.read(changes.stdout.fileno(), 1 << 16)
            if not part:
                self.close()  # the server is gone
                return True
            lines += part
        return _CHANGE.search(lines) is not None

    def open(self, device: AudioDevice) -> Tap:
        """Start recording; a failure is raised by the first read."""
        return ParecTap(
            [
                *_prefix(),
                "parec",
                "--verbose",  # logs moves
                "--client-name=Surtitle",
                f"--stream-name={device.kind.capitalize()}",
                f"--device={device.name}",
                "--property=node.dont-reconnect=true",  # or PipeWire follows the default output
                f"--rate={device.rate_hz}",
                "--channels=1",
                "--format=float32ne",
                "--latency-msec=20",
            ],
            device.rate_hz,
        )

    def close(self) -> None:
        """Stop watching for changes."""
        if self._changes is not None:
            end_process(self._changes)
            self._changes = None


def _prefix() -> tuple[str, ...]:
    return (*_LEASH, *_PLAIN) if shutil.which(_LEASH[0]) else _PLAIN


def _started(*words: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*_prefix(), "pactl", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _answers(timeout_s: float) -> list[str]:
    """Run all queries at once, since starting a process takes most of the time."""
    processes = [_started(*words) for words in _QUESTIONS]
    try:
        answers = [process.communicate(timeout=timeout_s)[0] for process in processes]
    except subprocess.TimeoutExpired as error:
        raise NoSoundError(Code.SERVER_SLOW(seconds=timeout_s)) from error
    finally:
        for process in processes:
            end_process(process)
    if any(process.returncode for process in processes):
        raise NoSoundError(Code.NO_SERVER_RUNS())
    return [answer.decode(errors="replace") for answer in answers]


def parse_devices(info: str, sources: str, sinks: str) -> tuple[AudioDevice, ...]:
    """Parse the output of ``pactl info``, ``list sources`` and ``list sinks``.

    The monitor of a muted sink records silence, so it counts as muted.
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
                fields[match[1]] = match[2]
        if number.isdigit() and fields.get("Name"):
            yield int(number), fields
