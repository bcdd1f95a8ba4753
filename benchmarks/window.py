"""Type into the real window for a while: does it stay quick, how soon is a word's caption seen?

The window stands on the display it is given, with the real model and a home of its own. Our own
sentences are typed key by key, one word every ``--word-s`` seconds, Enter after each. Told are

* gap: milliseconds from one turn of the window's event loop to the next, by a timer that wants one
  every 4 ms; for ``--idle-s`` seconds before the first word, and then while words come. *slow* is
  the share of the time that went by in gaps of more than 33 ms, two frames.
* word to paint: from the key that commits a word to the paint of the overlay that shows a caption
  resting on it. The policy's waiting is in it: read:3 needs two more words.
* last word to paint: the same of the words that a caption was waiting for, without that waiting.
* event to paint: from the event of the session in the window's thread to that paint.
* unseen: words whose captions had not come three seconds after the last word.
* memory: the resident set; growth an hour is the slope of a line through what was measured after
  the first third.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.config.preferences import LaunchSettings
from app.controllers.application import Application
from app.session.engine_bridge import EngineBridge
from benchmarks.talk import resident_mib, talk
from engine.events import CaptionChanged, Event, Failed, Ready, SourceChanged, UtteranceEnded

COLUMNS = (
    "date", "machine", "load", "words", "s a word", "gap idle ms: p99", "gap ms: p50",
    "gap ms: p99", "gap ms: max", "slow %", "word to paint ms: p50", "word to paint ms: p95",
    "last word to paint ms: p50", "last word to paint ms: p95", "event to paint ms: p95", "unseen",
    "MiB after a third", "growth MiB an hour",
)  # fmt: skip
_TICK_MS = 4
_SLOW_MS = 33
_MEMORY_MS = 2000
_DRAIN_MS = 3000
_LONGEST_GAP_MS = 20_000
_LONGEST_LINE = 25  # words; then Enter comes without a sentence's end


class Gaps:
    """Times between turns of the event loop, counted by tenths of a millisecond.

    A list of them would grow by megabytes, which are not the window's.
    """

    def __init__(self) -> None:
        self._counts = np.ones(_LONGEST_GAP_MS * 10, dtype=np.int64)  # written, so that it is there
        self._counts[:] = 0
        self.longest_ms = 0.0

    def add(self, gap_ms: float) -> None:
        """Count one."""
        self._counts[min(int(gap_ms * 10), len(self._counts) - 1)] += 1
        self.longest_ms = max(self.longest_ms, gap_ms)

    def percentile(self, share: int) -> float:
        """Give the gap below which so many percent lie; not a number where there is none."""
        counted = self._counts.cumsum()
        if not counted[-1]:
            return float("nan")
        return float(np.searchsorted(counted, counted[-1] * share / 100)) / 10

    def time_above(self, gap_ms: int) -> float:
        """Give the share of all time that went by in longer gaps."""
        times = self._counts * np.arange(len(self._counts))
        return float(times[10 * gap_ms :].sum() / max(1, times.sum()))


@dataclass(kw_only=True)
class Seen:
    """What a run showed; all times in milliseconds.

    Attributes:
        resident: (seconds since the first, MiB).
    """

    idle_gaps: Gaps = field(default_factory=Gaps)
    gaps: Gaps = field(default_factory=Gaps)
    word_to_paint: list[float] = field(default_factory=list)
    last_word_to_paint: list[float] = field(default_factory=list)
    event_to_paint: list[float] = field(default_factory=list)
    resident: list[tuple[float, float]] = field(default_factory=list)
    n_words: int = 0
    failure: str | None = None


class WordClock:
    """Follow typed words to the paint that shows a caption of them. Times are milliseconds."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._typed: list[float] = []  # when each word was committed, in the order of typing
        self._bases: dict[int, int] = {}  # utterance -> words before it
        self._lengths: dict[int, int] = {}
        self._n_painted = 0
        self._waiting: list[tuple[float, int]] = []  # events that no paint followed yet

    def word(self, now_ms: float) -> None:
        """A word was committed."""
        self._typed.append(now_ms)

    def event(self, event: Event, now_ms: float) -> None:
        """The session said something."""
        match event:
            case SourceChanged(utterance=number, words=words):
                if number not in self._bases:
                    self._bases[number] = sum(self._lengths.values())
                self._lengths[number] = len(words)
            case CaptionChanged(utterance=number, n_read=n_read):
                self._waiting.append((now_ms, self._bases[number] + n_read))
            case UtteranceEnded(
                utterance=number
            ):  # its last words may need no caption of their own
                self._waiting.append((now_ms, self._bases[number] + self._lengths[number]))
            case _:
                pass

    def painted(self, now_ms: float) -> None:
        """The overlay shows all that was said until now."""
        for event_ms, n_read in self._waiting:
            self._seen.event_to_paint.append(now_ms - event_ms)
            for n in range(self._n_painted, n_read):
                self._seen.word_to_paint.append(now_ms - self._typed[n])
            if n_read > self._n_painted:
                self._seen.last_word_to_paint.append(now_ms - self._typed[n_read - 1])
                self._n_painted = n_read
        self._waiting.clear()


class Typist(QObject):
    """Type into the window, and watch it."""

    def __init__(self, application: Application, words: Iterator[str], word_s: float) -> None:
        super().__init__(application)
        self.seen = Seen()
        self._application = application
        self._words = words
        self._clock = WordClock(self.seen)
        self._gaps = self.seen.idle_gaps
        self._last_ms: float | None = None
        self._n_in_line = 0
        self._ticks = self._timer(_TICK_MS, self._tick)
        self._memory = self._timer(_MEMORY_MS, self._weigh)
        self._typing = self._timer(round(1000 * word_s), self._type)
        application.bridge.event_came.connect(self._note)
        application.overlay.installEventFilter(self)

    def eventFilter(self, _watched: QObject, event: QEvent) -> bool:  # noqa: N802  Qt's name
        """See that the overlay is painted; it has been when the loop comes round again."""
        if event.type() is QEvent.Type.Paint:
            QTimer.singleShot(0, self._note_paint)
        return False

    @Slot()
    def begin(self) -> None:
        """Type from now on."""
        self._gaps, self._last_ms = self.seen.gaps, None
        self._typing.start()
        self._memory.start()

    @Slot()
    def end(self) -> None:
        """Type no more; leave when the last captions have come."""
        for timer in (self._typing, self._ticks, self._memory):
            timer.stop()
        QTimer.singleShot(_DRAIN_MS, self._application.window.close)

    def watch(self) -> None:
        """Measure gaps from now on."""
        self._ticks.start()

    def _timer(self, interval_ms: int, act: object) -> QTimer:
        timer = QTimer(self)
        timer.setTimerType(Qt.TimerType.PreciseTimer)
        timer.setInterval(interval_ms)
        timer.timeout.connect(act)
        return timer

    @Slot()
    def _tick(self) -> None:
        now = _now_ms()
        if self._last_ms is not None:
            self._gaps.add(now - self._last_ms)
        self._last_ms = now

    @Slot()
    def _weigh(self) -> None:
        self.seen.resident.append((time.monotonic(), resident_mib()))

    @Slot()
    def _type(self) -> None:
        line = self._application.window.typed_line
        word = next(self._words)
        QTest.keyClicks(line, f"{word} ")
        self._clock.word(_now_ms())
        self.seen.n_words += 1
        self._n_in_line += 1
        if word[-1] in ".?!" or self._n_in_line == _LONGEST_LINE:
            QTest.keyClick(line, Qt.Key.Key_Return)
            self._n_in_line = 0

    @Slot(object)
    def _note(self, event: Event) -> None:
        self._clock.event(event, _now_ms())
        if isinstance(event, Failed):
            self.seen.failure = str(event.message)
            self._application.window.close()

    @Slot()
    def _note_paint(self) -> None:
        self._clock.painted(_now_ms())


def _now_ms() -> float:
    return 1000 * time.perf_counter()


def run(arguments: argparse.Namespace) -> Seen:
    """Open the window, type, and leave."""
    qt = QApplication(["surtitle"])
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        settings = LaunchSettings(
            preferences_file=home / "settings.toml",
            places_file=home / "places.toml",
            data_folder=home,
            log_folder=home / "logs",
            model=arguments.model,
            policy=arguments.policy,
        )
        bridge = EngineBridge()
        application = Application(settings, bridge)
        n_words = round(60 * arguments.minutes / arguments.word_s)
        typist = Typist(application, talk(n_words + 1000), arguments.word_s)

        def when_ready(event: Event) -> None:
            if isinstance(event, Ready):
                typist.watch()
                idle_ms = round(1000 * arguments.idle_s)
                QTimer.singleShot(idle_ms, typist.begin)
                QTimer.singleShot(idle_ms + round(60_000 * arguments.minutes), typist.end)

        bridge.event_came.connect(when_ready)
        application.finished.connect(qt.quit)
        application.show()
        qt.exec()
    return typist.seen


def summary(seen: Seen, word_s: float) -> dict[str, str | float]:
    """Make a row of results.md."""
    seconds, mib = np.array(seen.resident[len(seen.resident) // 3 :]).T
    slope = float(np.polyfit(seconds - seconds[0], mib, 1)[0])
    load = os.getloadavg()[0]
    values: list[str | float] = [
        time.strftime("%Y-%m-%d"), f"{os.cpu_count()} {platform.machine()} cores", load,
        seen.n_words, word_s, seen.idle_gaps.percentile(99),
        seen.gaps.percentile(50), seen.gaps.percentile(99), seen.gaps.longest_ms,
        100 * seen.gaps.time_above(_SLOW_MS),
        _percentile(seen.word_to_paint, 50), _percentile(seen.word_to_paint, 95),
        _percentile(seen.last_word_to_paint, 50), _percentile(seen.last_word_to_paint, 95),
        _percentile(seen.event_to_paint, 95), seen.n_words - len(seen.word_to_paint),
        float(mib[0]), 3600 * slope,
    ]  # fmt: skip
    return dict(zip(COLUMNS, values, strict=True))


def _percentile(values: Sequence[float], share: float) -> float:
    return float(np.percentile(values, share)) if values else float("nan")


def main(argv: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description="Type into the real window and watch it.")
    parser.add_argument("--model", type=Path, metavar="DIR", help="model folder (the bundled one)")
    parser.add_argument("--policy", default="read:3", help="(%(default)s)")
    parser.add_argument("--minutes", type=float, default=2, metavar="N", help="(%(default)s)")
    parser.add_argument("--word-s", type=float, default=0.1, metavar="S", help="(%(default)s)")
    parser.add_argument("--idle-s", type=float, default=20, metavar="S", help="(%(default)s)")
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    arguments = parser.parse_args(argv)
    if not sys.platform.startswith("linux"):
        sys.exit("window: the resident set is read from /proc: run it on Linux")
    if not os.environ.get("DISPLAY"):
        sys.exit("window: there is no screen: put scripts/with-display before the command")
    seen = run(arguments)
    if seen.failure is not None:
        sys.exit(f"window: {seen.failure}")
    row = summary(seen, arguments.word_s)
    cells = [f"{value:.1f}" if isinstance(value, float) else str(value) for value in row.values()]
    print("| " + " | ".join(COLUMNS) + " |\n|" + "---|" * len(COLUMNS))
    print("| " + " | ".join(cells) + " |")
    if arguments.out is not None:
        content = {**row, "resident": seen.resident}
        arguments.out.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
