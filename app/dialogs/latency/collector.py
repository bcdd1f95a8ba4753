"""Collects what the latency window shows, from what the other parts tell; records it if wanted."""

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from app.dialogs.latency.measurement_file import MeasurementFile
from app.dialogs.latency.record import LatencyRecord, Sample, StageTime
from app.system.background import BackgroundQueue
from app.system.process_memory import resident_bytes
from engine.events import Event, Statistics
from engine.utterances import Utterance

if TYPE_CHECKING:
    from engine.speech.word_tracker import StageLag

_MEMORY_MS = 1000
_RECOGNISED = "recognised"  # from spoken to committed, as engine.speech.word_tracker calls it


class LatencyDesk(QObject):
    """Keep the record of the session; its slots take what happens, when it happens.

    Signals:
        changed(): there is more to show.
        failed(str): measurements cannot be written; recording has stopped.

    Attributes:
        record: what is known.
    """

    changed = Signal()
    failed = Signal(str)
    _write_failed = Signal(str)

    def __init__(
        self, parent: QObject | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(parent)
        self.record = LatencyRecord()
        self._clock = clock
        self._file: MeasurementFile | None = None
        self._write_failed.connect(self._stop_after_failure)  # emitted on the thread of the queue
        self._background = BackgroundQueue(self._write_failed.emit)
        self._timer = QTimer(self)
        self._timer.setInterval(_MEMORY_MS)
        self._timer.timeout.connect(self.measure_memory)
        self._timer.start()

    @property
    def is_recording(self) -> bool:
        """Tell whether measurements are written."""
        return self._file is not None

    def record_to(self, path: Path) -> None:
        """Write measurements into a file from now on."""
        self.stop_recording()
        self._file = MeasurementFile(path, self._clock())
        self.measure_memory()

    def stop_recording(self) -> None:
        """Write no more."""
        file, self._file = self._file, None
        if file is not None:
            self._background.run(file.close)

    def clear(self) -> None:
        """Begin anew."""
        self.record.clear(self._clock())
        self.changed.emit()

    def close(self) -> None:
        """Write what is left."""
        self._timer.stop()
        self.stop_recording()
        self._background.close()

    @Slot(list)
    def take_lags(self, lags: Sequence["StageLag"]) -> None:
        """Take what the recogniser tells of its newest words."""
        self.record.told(
            StageTime(
                stage="recognition", n_words=lag.n_words, median_s=lag.median_s, p95_s=lag.p95_s
            )
            for lag in lags
            if lag.stage == _RECOGNISED
        )
        self.changed.emit()

    @Slot(object)
    def take_event(self, event: Event) -> None:
        """Take an event of the session."""
        if isinstance(event, Statistics):
            now_s = self._clock()
            self.record.count(event, now_s)
            self._write(lambda file: file.write_statistics(event, now_s))
            self.changed.emit()

    @Slot(object, object)
    def take_utterance(self, _event: Event, utterance: Utterance) -> None:
        """Take an utterance that changed."""
        now_s = self._clock()
        self._keep(self.record.take(utterance, now_s), now_s)

    @Slot(object)
    def take_painted(self, utterance: Utterance) -> None:
        """Take that an utterance stands on a screen as it is now."""
        now_s = self._clock()
        self._keep(self.record.painted(utterance, now_s), now_s)

    @Slot()
    def measure_memory(self) -> None:
        """Look how much memory the process holds."""
        n_bytes, now_s = resident_bytes(), self._clock()
        if n_bytes is not None:
            self.record.memory.add(now_s, n_bytes)
            self._write(lambda file: file.write_memory(n_bytes, now_s))
            self.changed.emit()

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
