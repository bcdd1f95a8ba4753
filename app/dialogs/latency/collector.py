"""Collects the measurements for the latency window from events."""

import os
import time
from bisect import bisect_left
from collections.abc import Callable, Iterable
from dataclasses import asdict
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine.events import Event, Ready, Statistics
from engine.metrics.word_lags import StageTime, WordLags
from engine.utterances import Utterance

_INTERVAL_MS = 1000
_STATM = Path("/proc/self/statm")
_NEWEST_WORDS = 20  # words in the lag that is shown
_FRESH_S = 8.0
"""So long after the newest heard word its lag says something about now."""


class LatencyRecord:
    """All measurements since the start, or since ``clear``.

    Attributes:
        lags: of words.
        memory_bytes: of this program; None before it was measured.
        newest: the newest counters of the session; None before the first.
    """

    def __init__(self) -> None:
        self.lags = WordLags()
        self.clear()

    def clear(self, now_s: float = 0.0) -> None:
        """Reset everything; words now in progress are not measured."""
        self.lags.clear(now_s)
        self.newest: Statistics | None = None
        self.memory_bytes: int | None = None


EDGES_S = (0.1, 0.2, 0.35, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 10.0)
"""Upper edges of the bars of a histogram; one more bar has no upper edge."""


def histogram(seconds: Iterable[float]) -> list[int]:
    """Count the times up to each edge, that edge included; the last count is of those above."""
    counts = [0] * (len(EDGES_S) + 1)
    for value in seconds:
        counts[bisect_left(EDGES_S, value)] += 1
    return counts


class LatencyCollector(QObject):
    """Update the record of the session from its events.

    Signals:
        changed(): the record changed.
        lags_came(list of StageTime): lags of the newest heard words, once a second; empty once
            there was none for some seconds.

    Attributes:
        record: all measurements since the start or the last reset.
        ready: the newest report that the engine is ready; None before it.
        lost_s: seconds of sound that were lost since listening began.
    """

    changed = Signal()
    lags_came = Signal(list)

    def __init__(
        self, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self.record = LatencyRecord()
        self.ready: Ready | None = None
        self.lost_s = 0.0
        self._clock = clock
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self.measure_memory)
        self._timer.timeout.connect(self._report_lags)
        self._timer.start()

    @property
    def heard_lags(self) -> list[StageTime]:
        """The lag of the newest heard words, stage by stage."""
        return self.record.lags.heard(_NEWEST_WORDS)

    @property
    def facts(self) -> dict[str, str | float]:
        """The model, the lags and the counters as plain values for diagnostics."""
        facts: dict[str, str | float] = {}
        if self.ready is not None and self.ready.model:
            facts |= {"model": self.ready.model, "loaded in s": round(self.ready.load_s, 1)}
        newest = self.record.newest
        facts |= {} if newest is None else asdict(newest)
        facts |= {f"lag, {lag.stage}": f"{lag.median_s:.2f} s" for lag in self.heard_lags}
        lags = self.record.lags
        for lane in lags.lanes if len(lags.lanes) > 1 else ():
            facts |= {f"lag, {lane}": f"{lags.heard(_NEWEST_WORDS, lane)[-1].median_s:.2f} s"}
        return facts | {"sound lost": f"{self.lost_s:.2f} s"}

    def clear(self) -> None:
        """Reset the record."""
        self.record.clear(self._clock())
        self.changed.emit()

    def close(self) -> None:
        """Stop the timer."""
        self._timer.stop()

    @Slot()
    def begin_listening(self) -> None:
        """Reset the lags of heard words: the sources changed."""
        self.record.lags.begin_listening()

    @Slot(object)
    def take_event(self, event: Event) -> None:
        """Record the statistics of the session, and when it became ready."""
        if isinstance(event, Ready):
            self.ready = event
            self.changed.emit()
        if isinstance(event, Statistics):
            self.record.newest = event
            self.changed.emit()

    @Slot(float)
    def take_lost(self, seconds: float) -> None:
        """Record how much sound was lost."""
        self.lost_s = seconds

    @Slot(object, object)
    def take_utterance(self, _event: Event, utterance: Utterance) -> None:
        """Record the lags of an utterance that changed."""
        if self.record.lags.take(utterance, self._clock()):
            self.changed.emit()

    @Slot(object)
    def take_painted(self, utterance: Utterance) -> None:
        """Record that an utterance was painted in its current state."""
        if self.record.lags.painted(utterance, self._clock()):
            self.changed.emit()

    @Slot()
    def measure_memory(self) -> None:
        """Record the memory of this process."""
        self.record.memory_bytes = resident_bytes()
        self.changed.emit()

    @Slot()
    def _report_lags(self) -> None:
        heard_at_s = self.record.lags.heard_at_s
        is_fresh = heard_at_s is not None and self._clock() - heard_at_s <= _FRESH_S
        self.lags_came.emit(self.heard_lags if is_fresh else [])


def resident_bytes() -> int | None:
    """Return the resident set of this process; None if the system is not Linux."""
    try:
        n_pages = int(_STATM.read_text(encoding="ascii").split()[1])
        return n_pages * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):  # only Linux has it
        return None
