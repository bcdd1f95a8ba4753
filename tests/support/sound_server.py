"""A sound server for tests, started by the project's own script; what speaks into it."""

import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
WAIT_S = 90  # a machine may do much else; nothing waits longer than it must


def needs_sound_server():
    """Mark tests that are skipped where there is no PulseAudio, but for CI, where they must run."""
    is_missing = shutil.which("pulseaudio") is None or shutil.which("parec") is None
    return pytest.mark.skipif(
        is_missing and os.environ.get("CI") != "true", reason="PulseAudio is not installed"
    )


def wait_until(condition):
    """Wait for something that must come; give what it gave."""
    end_s = time.monotonic() + WAIT_S
    while not (found := condition()):
        assert time.monotonic() < end_s, f"waited {WAIT_S} s in vain"
        time.sleep(0.01)
    return found


class TestServer:
    """PulseAudio in a folder; it can be killed and started again in the same place."""

    __test__ = False

    def __init__(self, place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.place = place
        self._monkeypatch = monkeypatch
        self._keepers: list[subprocess.Popen[bytes]] = []
        self.start()

    def start(self) -> None:
        self._script = subprocess.Popen(
            [ROOT / "scripts/with-sound", "bash", "-c", "env -0; echo -n end; exec cat"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | {"SOUND_PLACE": str(self.place)},
        )
        said = b""
        while not said.endswith(b"\0end"):
            part = self._script.stdout.read1()
            assert part, "the sound server did not start"
            said += part
        for line in said.decode().split("\0"):
            name, _, value = line.partition("=")
            if name.startswith(("PULSE_", "ALSA_")):
                self._monkeypatch.setenv(name, value)
        self._monkeypatch.delenv("DBUS_SESSION_BUS_ADDRESS", raising=False)

    @property
    def pid(self) -> int:
        return int((self.place / "pulseaudio.pid").read_text())

    def control(self, *words: str) -> str:
        done = subprocess.run(["pactl", *words], check=True, capture_output=True, text=True)
        return done.stdout.strip()

    def add_sink(self, name: str) -> str:
        """Add an output; return the number that ``unload-module`` takes."""
        number = self.control(
            "load-module",
            "module-null-sink",
            f"sink_name={name}",
            f"sink_properties=device.description={name.capitalize()}",
        )
        self.keep_running(f"{name}.monitor")
        return number

    def keep_running(self, source: str) -> None:
        """Read a source all the time, so that it is quick when somebody else does."""
        self._keepers.append(
            subprocess.Popen(
                ["parec", f"--device={source}", "--latency-msec=20"],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
        )

    def kill(self) -> None:
        os.kill(self.pid, signal.SIGKILL)
        self._end_script()

    def stop(self) -> None:
        for keeper in self._keepers:
            keeper.kill()
            keeper.wait()
        self._end_script()

    def _end_script(self) -> None:
        self._script.communicate(timeout=300)


class Feeder:
    """Speak into the microphone of a server: ``ramp``, ``zeros`` or ``nothing``."""

    def __init__(self, server: TestServer, what: str = "ramp") -> None:
        self._process = subprocess.Popen(
            [
                sys.executable,
                ROOT / "tests/support/feed_microphone.py",
                server.place / "microphone",
            ],
            stdin=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.say(what)

    def say(self, what: str) -> None:
        self._process.stdin.write(f"{what}\n")

    def stop(self) -> None:
        self._process.communicate(timeout=300)


def numbers(samples):
    """The 16-bit numbers that float samples were made of."""
    exact = samples.astype(np.float64) * 32768
    assert np.array_equal(exact, np.round(exact))
    return exact.astype(np.int64)


def n_missing(samples):
    """Count the numbers that a stretch of the ramp lacks."""
    return int(((np.diff(numbers(samples)) - 1) % 65536).sum())
