"""Collects the measurements for the latency window from events, and records them to a file."""

import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.config.system.background import BackgroundQueue
from app.config.system.process_memory import resident_bytes
from app.dialogs.latency.measurement_file import MeasurementFile
from app.dialogs.latency.record import LatencyRecord
from engine.events import Event, Ready, Statistics
from engine.metrics.word_lags import Sample, StageTime
from engine.utterances import Utterance

_INTERVAL_MS = 1000
_NEWEST_WORDS = 20  # words in the lag that is shown
_FRESH_S = 8.0
"""So long after the newest heard word its lag says something about now."""


class LatencyCollector(QObject):
    """Update the record of the session from its events.

    Signals:
        changed(): the record changed.
        lags_came(list of StageTime): lags of the newest heard words, once a second; empty once
            there was none for some seconds.
        failed(str): measurements cannot be written; recording has stopped.

    Attributes:
        record: all measurements since the start or the last reset.
        ready: the newest report that the engine is ready; None before it.
        lost_s: seconds of sound that were lost since listening began.
    """

    changed = Signal()
    lags_came = Signal(list)
    failed = Signal(str)
    _write_failed = Signal(str)

    def __init__(
        self, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self.record = LatencyRecord()
        self.ready: Ready | None = None
        self.lost_s = 0.0
        self._clock = clock
        self._file: MeasurementFile | None = None
        self._write_failed.connect(self._stop_after_failure)  # emitted on the thread of the queue
        self._background = BackgroundQueue(self._write_failed.emit)
        self._timer = QTimer(self)
        self._timer.setInterval(_INTERVAL_MS)
        self._timer.timeout.connect(self.measure_memory)
        self._timer.timeout.connect(self._report_lags)
        self._timer.start()

    @property
    def is_recording(self) -> bool:
        """Whether measurements are written to a file."""
        return self._file is not None

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
        return facts | {"sound lost": f"{self.lost_s:.2f} s"}

    def record_to(self, path: Path) -> None:
        """Start writing measurements to a file."""
        self.stop_recording()
        self._file = MeasurementFile(path, self._clock())
        self.measure_memory()

    def stop_recording(self) -> None:
        """Stop writing."""
        file, self._file = self._file, None
        if file is not None:
            self._background.run(file.close)

    def clear(self) -> None:
        """Reset the record."""
        self.record.clear(self._clock())
        self.changed.emit()

    def close(self) -> None:
        """Stop the timer and finish the file."""
        self._timer.stop()
        self.stop_recording()
        self._background.close()

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
            now_s = self._clock()
            self.record.count(event, now_s)
            self._write(lambda file: file.write_statistics(event, now_s))
            self.changed.emit()

    @Slot(float)
    def take_lost(self, seconds: float) -> None:
        """Record how much sound was lost."""
        self.lost_s = seconds

    @Slot(object, object)
    def take_utterance(self, _event: Event, utterance: Utterance) -> None:
        """Record the lags of an utterance that changed."""
        now_s = self._clock()
        self._keep(self.record.lags.take(utterance, now_s), now_s)

    @Slot(object)
    def take_painted(self, utterance: Utterance) -> None:
        """Record that an utterance was painted in its current state."""
        now_s = self._clock()
        self._keep(self.record.lags.painted(utterance, now_s), now_s)

    @Slot()
    def measure_memory(self) -> None:
        """Record the memory of this process."""
        n_bytes, now_s = resident_bytes(), self._clock()
        if n_bytes is not None:
            self.record.memory.add(now_s, n_bytes)
            self._write(lambda file: file.write_memory(n_bytes, now_s))
            self.changed.emit()

    @Slot()
    def _report_lags(self) -> None:
        heard_at_s = self.record.lags.heard_at_s
        is_fresh = heard_at_s is not None and self._clock() - heard_at_s <= _FRESH_S
        self.lags_came.emit(self.heard_lags if is_fresh else [])

    def _keep(self, samples: list[Sample], now_s: float) -> None:
        if samples:
            self._write(lambda file: file.write_samples(samples, now_s))
            self.changed.emit()

    def _write(self, write: Callable[[MeasurementFile], None]) -> None:
        if self._file is not None:
            self._background.run(partial(write, self._file))

    @Slot(str)
    def _stop_after_failure(self, message: str) -> None:
        self.stop_recording()
        self.failed.emit(message)
