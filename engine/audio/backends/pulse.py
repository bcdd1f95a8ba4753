"""The devices of a PulseAudio or PipeWire server, by its own tools ``pactl`` and ``parec``.

The tools run as separate processes: a server that hangs, or a library that aborts, cannot end this
program, and the monitor of an output is a device like any other. docs/decisions/0005-audio.md
compares libraries.
"""

import contextlib
import os
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np

from engine.audio.chunks import Samples, Tap
from engine.audio.devices import AudioDevice, DeviceKind
from engine.errors import NoSoundError, TapEndedError
from engine.messages import Code

# Nothing is lost between the server and this program: ``parec`` runs independently of our threads
# and holds any length of sound (measured: eight seconds unread, none lost). It logs its device to
# standard error, so a recording that the server moved is noticed at once.

_BLOCK_BYTES = 1 << 18
_MOVED = re.compile(rb"Stream moved to device .* \((\d+), ")
_REMEMBERED_BYTES = 1000
_BYTES = np.dtype(np.float32).itemsize


class ParecTap:
    """A running ``parec``; ``n_dropped`` is always 0, as nothing is discarded here."""

    def __init__(self, command: list[str], rate_hz: int) -> None:
        """Start recording raw float32 of one channel, in this machine's byte order."""
        self.rate_hz = rate_hz
        self.n_dropped = 0
        self.moved_to: int | None = None
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._bytes = bytearray(_BLOCK_BYTES)  # reused; a sample may be cut in two by a read
        self._n_kept = 0
        self._log = b""  # the end of its standard error

    def read(self, timeout_s: float) -> Samples:
        sound, log = self._process.stdout, self._process.stderr
        if sound is None or log is None or sound.closed:
            raise self._ended()
        end_s = time.monotonic() + timeout_s
        while True:
            ready = select.select([sound, log], [], [], max(end_s - time.monotonic(), 0))[0]
            if sound in ready:
                return self._take(sound.fileno())
            if not ready or not self._read_log(log.fileno()):
                return np.zeros(0, np.float32)

    def close(self) -> None:
        end_process(self._process)

    def _take(self, pipe: int) -> Samples:
        n_came = os.readv(pipe, [memoryview(self._bytes)[self._n_kept :]])
        if not n_came:
            raise self._ended()
        n_held = self._n_kept + n_came
        n_whole = n_held - n_held % _BYTES
        samples = np.frombuffer(self._bytes, np.float32, n_whole // _BYTES).copy()
        self._n_kept = n_held - n_whole
        self._bytes[: self._n_kept] = self._bytes[n_whole:n_held]
        return samples

    def _read_log(self, pipe: int) -> bool:
        added = os.read(pipe, _BLOCK_BYTES)
        self._log = (self._log + added)[-_REMEMBERED_BYTES:]
        for match in _MOVED.finditer(self._log):
            self.moved_to = int(match[1])
        return bool(added)

    def _ended(self) -> TapEndedError:
        log = self._process.stderr
        if log is not None and not log.closed:
            while self._read_log(log.fileno()):
                pass
        self.close()
        lines = self._log.decode(errors="replace").split("\n")
        reason = next((line for line in lines if "rror" in line or "ailure" in line), "it ended")
        return TapEndedError(f"the recording was ended by the sound server: {reason.strip()}")


def end_process(process: subprocess.Popen[bytes]) -> None:
    """End a process, wait for it, and close its pipes."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()  # it has nothing to save
    process.wait()
    for pipe in (process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()


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
        """List microphones and monitors, in the server's order."""
        if self._changes is None:  # before listing, so that no change in between is missed
            self._changes = _started("subscribe")
        try:
            return parse_devices(*_answers(self._timeout_s))
        except NoSoundError:
            self.close()  # subscribe to the next server
            raise

    def changed(self) -> bool:
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
    for entry in re.split(r"^(?:Source|Sink) #", listing, flags=re.MULTILINE)[1:]:
        number, _, rest = entry.partition("\n")
        fields: dict[str, str] = {}
        for line in rest.splitlines():
            if match := _FIELD.fullmatch(line):
                fields[match[1]] = match[2]
        if number.isdigit() and fields.get("Name"):
            yield int(number), fields
