"""One JSON line per event, with a monotonic clock; scores are computed from it afterwards.

Schema 1. Every line has ``event`` and ``at_s`` (seconds, monotonic, from the log's start):

* ``session``: ``schema``, ``model``, ``language``, ``policy``, ``slot_length``, ``parameters``
* ``source``: ``utterance``, ``words`` (all committed words), ``ended``
* ``fed``: ``utterance``, ``ids``, ``positions``, ``times``, ``cached_rows``, ``again`` (recomputed)
* ``written``: ``utterance``, ``id``, ``text`` (may be empty), ``n_read`` (source words)
* ``probe``: ``utterance``; the wait-k row fed last was taken back
* ``rewound``: ``utterance``, ``word``, ``cached_rows``, ``kept`` (characters of the caption)
* ``cut``: ``utterance``; a write that did not end was ended
* ``ended``: ``utterance``, ``tokens_fed``, ``forwards``, ``tokens_recomputed``, ``probes``
"""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO

SCHEMA = 1

Value = str | int | float | bool | Sequence[int] | Sequence[str]
"""What a field may hold."""


class EventLog:
    """Write events to a file, or nowhere.

    Each line is flushed, so a crash loses at most the line it was writing.
    """

    def __init__(
        self, path: Path | None = None, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._file: TextIO | None = None if path is None else path.open("w", encoding="utf-8")
        self._clock = clock
        self._start_s = clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def write(self, event: str, **fields: Value) -> None:
        """Write one line."""
        if self._file is None:
            return
        at_s = round(self._clock() - self._start_s, 6)
        line = json.dumps({"event": event, "at_s": at_s, **fields}, ensure_ascii=False)
        self._file.write(line + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file; writing afterwards does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None
