"""Captions for a room: how late they are on many phones, and what that costs the window.

    python -m benchmarks.audience.room [--readers 500] [--minutes 30] [--words-per-second 4]

A window's event loop shows a growing session; readers on loopback follow it from a process of their
own, and a tenth of them leaves at random and comes back. In one run there are, one after the other:
the window alone while somebody speaks, the window shared while nobody does, and shared while
somebody does. Printed is a row for results.md: the delay from a changed view to the event on a
page, the delay of a timer of the window's loop, the seconds of processor that a second takes in the
window's process (which another program beside it does not change), the memory that was added, and
the captions that a reader lost or got twice.
"""

import argparse
import asyncio
import contextlib
import json
import multiprocessing
import os
import platform
import random
import resource
import statistics
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from multiprocessing.queues import Queue

from PySide6.QtCore import QCoreApplication, QTimer

from app.captions.model import UtteranceView
from app.sharing.networks import LOOPBACK
from app.sharing.room import Room

TICK_MS = 5
SENTENCE_WORDS = 12
AWAY_S = 2.0
ONE_IN = 10  # readers leaves and comes back
ALONE_S = 60.0  # at most, without readers
QUIET_S = 30.0  # at most, with readers while nobody speaks
AFTER_S = 3.0  # for the last words to arrive


@dataclass
class Window:
    """An event loop as that of the window, while somebody speaks."""

    room: Room | None
    seconds: float
    words_per_second: float
    late_ms: list[float] = field(default_factory=list)
    views: list[UtteranceView] = field(default_factory=list)
    n_words: int = 0
    due_s: float = 0.0
    load: float = 0.0

    def run(self, application: QCoreApplication) -> "Window":
        """Run for so long; without words a second, nobody speaks."""
        timers, pace = [QTimer(interval=TICK_MS)], self.words_per_second
        timers += [QTimer(interval=round(1000 / pace))] if pace else []
        for timer, act in zip(timers, (self.tick, self.say), strict=False):
            timer.timeout.connect(act)
            timer.start()
        self.due_s = time.perf_counter() + TICK_MS / 1000
        QTimer.singleShot(round(1000 * self.seconds), application.quit)
        began_s, worked_s = time.perf_counter(), time.process_time()
        application.exec()
        self.load = (time.process_time() - worked_s) / (time.perf_counter() - began_s)
        return self

    def tick(self) -> None:
        now_s = time.perf_counter()
        self.late_ms.append(1000 * max(0.0, now_s - self.due_s))
        self.due_s = now_s + TICK_MS / 1000

    def say(self) -> None:
        """Add a word; the source is the time of it, by a clock that all processes share."""
        number, word = divmod(self.n_words, SENTENCE_WORDS)
        self.n_words += 1
        if not word:
            self.views.append(UtteranceView(key=number, language="de"))
        ended = word == SENTENCE_WORDS - 1
        source = f"{time.monotonic():.6f}"
        caption = f"{self.views[-1].caption} w{word}"
        self.views[-1] = replace(self.views[-1], caption=caption, source=source, ended=ended)
        if self.room is not None:
            self.room.show_views(self.views)


@dataclass
class Phone:
    """A reader of the source, as the page is one."""

    port: int
    key: str
    leaves: bool
    rng: random.Random
    until_s: float
    seen: str = ""
    rows: dict[int, tuple[str, bool]] = field(default_factory=dict)
    delays_ms: list[float] = field(default_factory=list)
    n_twice: int = 0

    async def read(self) -> None:
        while time.monotonic() < self.until_s:
            stays_s = self.rng.uniform(3, 30) if self.leaves else float("inf")
            left_s = min(stays_s, self.until_s - time.monotonic())
            with contextlib.suppress(OSError):  # TimeoutError is one
                async with asyncio.timeout(left_s):
                    await self.connect()
            away_s = AWAY_S if self.leaves else self.rng.uniform(0, 1)
            await asyncio.sleep(min(away_s, max(0.0, self.until_s - time.monotonic())))

    async def connect(self) -> None:
        reader, writer = await asyncio.open_connection(LOOPBACK, self.port)
        path = f"/captions?key={self.key}&show=source&after={self.seen}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {LOOPBACK}\r\n\r\n".encode())
        try:
            await self.follow(reader)
        finally:
            writer.close()

    async def follow(self, reader: asyncio.StreamReader) -> None:
        n_events, position = 0, ""
        while line := (await reader.readline()).decode():
            if line.startswith("id: "):
                position = line[4:].strip()
            elif line.startswith("data: {"):
                self.take(json.loads(line[6:]), is_new=n_events > 0)
                self.seen = position
                n_events += 1

    def take(self, told: dict, *, is_new: bool) -> None:
        """Take rows; the first event after coming back tells what is older."""
        now_s = time.monotonic()
        for row in told["rows"]:
            state = row["text"], row["ended"]
            self.n_twice += self.rows.get(row["key"]) == state
            self.rows[row["key"]] = state
            if is_new:
                self.delays_ms.append(1000 * (now_s - float(row["text"])))

    @property
    def n_lost(self) -> int:
        """Number of sentences of which the end never came."""
        newest = max(self.rows, default=-1)
        return sum(not self.rows.get(key, ("", False))[1] for key in range(newest))


def be_phones(port: int, key: str, n_readers: int, until_s: float, results: Queue) -> None:
    """Be all readers, in a process of their own."""
    rng = random.Random(0)
    phones = [Phone(port, key, not at % ONE_IN, rng, until_s) for at in range(n_readers)]

    async def work() -> None:
        await asyncio.gather(*(phone.read() for phone in phones))

    asyncio.run(work())
    delays_ms = [delay for phone in phones for delay in phone.delays_ms]
    n_lost, n_twice = sum(one.n_lost for one in phones), sum(one.n_twice for one in phones)
    newest = {max(phone.rows, default=-1) for phone in phones}
    results.put((percentiles(delays_ms), len(delays_ms), n_lost, n_twice, newest))


def percentiles(values: list[float]) -> tuple[float, float, float]:
    cuts = statistics.quantiles(values, n=100)
    return cuts[49], cuts[94], cuts[98]


def parts(values: Iterable[float], decimals: int = 1) -> str:
    return " / ".join(f"{value:.{decimals}f}" for value in values)


def memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def row(cells: Sequence[object]) -> str:
    return f"| {' | '.join(map(str, cells))} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--readers", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--words-per-second", type=float, default=4.0)
    arguments = parser.parse_args()
    n_readers, pace = arguments.readers, arguments.words_per_second
    application, seconds = QCoreApplication([]), 60 * arguments.minutes
    alone = Window(None, min(seconds, ALONE_S), pace).run(application)
    room, before_mb = Room(LOOPBACK, {"source": "en", "caption": "de"}), memory_mb()
    context = multiprocessing.get_context("spawn")
    results, until_s = context.Queue(), time.monotonic() + seconds
    port = int(room.address.rstrip("/").rpartition(":")[2])
    wanted = port, room.access.key, n_readers, until_s, results
    process = context.Process(target=be_phones, args=wanted)
    process.start()
    while room.n_readers < 0.8 * n_readers and time.monotonic() < until_s:
        time.sleep(0.1)
    quiet = Window(room, min(seconds / 4, QUIET_S), 0.0).run(application)
    shared = Window(room, max(1.0, until_s - AFTER_S - time.monotonic()), pace).run(application)
    late_ms, n_events, n_lost, n_twice, newest = results.get()
    process.join()
    room.close()
    added_mb = memory_mb() - before_mb
    windows = alone, quiet, shared
    cells = {
        "date": date.today().isoformat(),
        "machine": f"{os.cpu_count()} x {platform.machine()}, one run",
        "readers": n_readers,
        "minutes": f"{shared.seconds / 60:.1f}",
        "words": shared.n_words,
        "events": n_events,
        "word to page, ms: p50": f"{late_ms[0]:.0f}",
        "p95": f"{late_ms[1]:.0f}",
        "p99": f"{late_ms[2]:.0f}",
        "timer late, ms, p95: alone / quiet / spoken": parts(
            percentiles(one.late_ms)[1] for one in windows
        ),
        "p99: alone / quiet / spoken": parts(percentiles(one.late_ms)[2] for one in windows),
        "processor, s a second: alone / quiet / spoken": parts(
            (one.load for one in windows), decimals=3
        ),
        "memory, MB more": f"{added_mb:.0f}",
        "lost": n_lost,
        "twice": n_twice,
    }
    print("\n".join(map(row, (cells, ["---"] * len(cells), cells.values()))))
    print(f"newest sentence of the readers: {newest}, of the session: {len(shared.views) - 1}")


if __name__ == "__main__":
    main()
