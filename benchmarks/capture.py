"""Count lost samples: a ramp of numbers goes through the real capture path while threads are busy.

Run it under ``scripts/with-sound``, whose microphone plays the ramp: every number is one more than
the last, so that each sample that is missing shows. Told beside is how long chunks kept us waiting.
"""

import argparse
import datetime as dt
import itertools
import json
import os
import platform
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np

from engine.audio.backends.portaudio import PortAudio
from engine.audio.backends.pulse import SoundServer
from engine.audio.chunks import AudioChunk, SoundSystem
from engine.audio.devices import AudioDevice, DeviceKind, WantedDevice
from engine.audio.live_source import LiveSource

ROOT = Path(__file__).parent.parent
COLUMNS = (
    "date",
    "machine",
    "by",
    "busy threads",
    "seconds",
    "samples",
    "lost",
    "counted as lost",
    "gap between chunks: p50 ms",
    "p99 ms",
    "longest ms",
)


class PortAudioAt16kHz(PortAudio):
    """PortAudio takes any rate, but only this one leaves the ramp as it is."""

    def devices(self) -> tuple[AudioDevice, ...]:
        name = "microphone"
        return (
            AudioDevice(name=name, description=name, kind=DeviceKind.MICROPHONE, rate_hz=16_000),
        )


WAYS = {"parec": SoundServer, "PortAudio": PortAudioAt16kHz}


def keep_busy(stopping: threading.Event) -> None:
    """Hold the interpreter's lock as much as a thread can."""
    n = 0
    while not stopping.is_set():
        n += 1


def record(system: SoundSystem, seconds: float, n_busy: int) -> tuple[list[AudioChunk], int]:
    """Record for so long; return the chunks, and the samples the source says were lost."""
    source = LiveSource(system, WantedDevice(kind=DeviceKind.MICROPHONE), print)
    stopping = threading.Event()
    threads = [threading.Thread(target=keep_busy, args=(stopping,)) for _ in range(n_busy)]
    for thread in threads:
        thread.start()
    source.start()
    end_s, chunks = time.monotonic() + seconds, []
    while not source.ended:
        if chunk := source.read(0.1):
            chunks.append(chunk)
        if time.monotonic() >= end_s:
            source.stop()
    stopping.set()
    for thread in threads:
        thread.join()
    return chunks, source.n_dropped


def measure(by: str, seconds: float, n_busy: int) -> dict[str, str]:
    """Make a row of the table."""
    chunks, n_dropped = record(WAYS[by](), seconds, n_busy)
    samples = np.concatenate([chunk.samples for chunk in chunks])
    numbers = np.round(samples.astype(np.float64) * 32768).astype(np.int64)
    n_lost = int(((np.diff(numbers) - 1) % 65536).sum())
    gaps_ms = [
        1000 * (later.heard_at_s - sooner.heard_at_s)
        for sooner, later in itertools.pairwise(chunks)
    ]
    values = (
        dt.datetime.now(tz=dt.UTC).date().isoformat(),
        f"{os.cpu_count()} {platform.machine()} cores",
        by,
        n_busy,
        f"{seconds:g}",
        len(samples),
        n_lost,
        n_dropped,
        *(f"{np.percentile(gaps_ms, percent):.1f}" for percent in (50, 99, 100)),
    )
    return dict(zip(COLUMNS, map(str, values), strict=True))


def main() -> None:
    """Measure each way without and with busy threads; print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--busy", type=int, default=2, metavar="N", help="busy threads")
    parser.add_argument("--out", type=Path, metavar="FILE.json", help="write everything as JSON")
    arguments = parser.parse_args()
    place = os.environ.get("SOUND_PLACE")
    if place is None:
        sys.exit("capture: type scripts/with-sound .venv/bin/python -m benchmarks.capture")
    command = [
        sys.executable,
        str(ROOT / "tests/support/feed_microphone.py"),
        f"{place}/microphone",
    ]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as feeder:
        rows = [
            measure(by, arguments.seconds, n_busy)
            for by in WAYS
            for n_busy in sorted({0, arguments.busy})
        ]
        feeder.communicate()
    print("| " + " | ".join(COLUMNS) + " |")
    print("|---" * len(COLUMNS) + "|")
    for row in rows:
        print("| " + " | ".join(row.values()) + " |")
    if arguments.out is not None:
        arguments.out.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
