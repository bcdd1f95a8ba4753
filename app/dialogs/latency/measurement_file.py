"""Measurements as JSON lines: lags of words, counters and memory. No text, no names.

The first line has ``schema``. Every line has ``event`` and ``at_s``, seconds since recording began:
``stage`` (``stage``, ``utterance``, ``seconds``), ``statistics`` (the counters of
``engine.events.Statistics``), ``memory`` (``bytes`` of this process).
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TextIO

from app.config.system.messages import AppCode
from app.config.system.text_io import TextError
from engine.errors import message_of
from engine.events import Statistics
from engine.metrics.word_lags import Sample

SCHEMA = 1


class MeasurementFile:
    """Write lines to a new file; all methods are called on one thread.

    Every method raises TextError if the file cannot be written; it is closed then.
    """

    def __init__(self, path: Path, start_s: float) -> None:
        """Keep the path; the first line creates the file."""
        self.path = path
        self._start_s = start_s
        self._file: TextIO | None = None
        self._is_broken = False

    def write_samples(self, samples: Iterable[Sample], now_s: float) -> None:
        """Write the lags of words."""
        for sample in samples:
            self._write("stage", now_s, asdict(sample))

    def write_statistics(self, statistics: Statistics, now_s: float) -> None:
        """Write the counters of the session."""
        self._write("statistics", now_s, asdict(statistics))

    def write_memory(self, n_bytes: int, now_s: float) -> None:
        """Write the memory of the process."""
        self._write("memory", now_s, {"bytes": n_bytes})

    def close(self) -> None:
        """Close the file."""
        self._is_broken = True
        if self._file is not None:
            self._file.close()
            self._file = None

    def _write(self, event: str, now_s: float, values: Mapping[str, object]) -> None:
        if self._is_broken:
            return
        try:
            if self._file is None:
                self._file = self.path.open("w", encoding="utf-8")
                self._put(self._file, {"event": "began", "at_s": 0.0, "schema": SCHEMA})
            at_s = round(now_s - self._start_s, 3)
            self._put(self._file, {"event": event, "at_s": at_s} | dict(values))
        except OSError as error:
            self._is_broken = True
            code = AppCode.MEASUREMENTS_UNWRITABLE
            raise TextError(code(path=str(self.path), reason=message_of(error))) from error

    def _put(self, file: TextIO, line: Mapping[str, object]) -> None:
        file.write(json.dumps(line) + "\n")
        file.flush()
