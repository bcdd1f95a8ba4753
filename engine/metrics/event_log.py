"""One JSON line per event, with a monotonic clock; every score is computed from it afterwards.

Schema 2. Every line has ``event`` and ``at_s``: seconds since the log was opened, by a monotonic
clock. ``n_`` marks counts, characters are Unicode code points. Other events may be added without a
new schema; readers skip them.

Once, and whenever the settings change:

* ``session``: ``schema``; ``system`` (``slots`` or ``retranslate``); ``model`` (its name);
  ``parameters`` (count); ``language``; ``policy``; ``slot_length`` (positions).

Input, written by the feeder:

* ``line``: ``index`` (from 0; -1 for one that is not counted), ``words``. A line of a test set, or
  a talk, begins. Only where its words have times: ``said_s``, when the sound of each ended, and
  ``came_s``, when it came, in seconds since the line began.
* ``arrived``: ``n_words`` (of the line so far), ``ended``. The events up to the next one are caused
  by this word, and by those that came together with it.
* ``line_ended``: ``index``. All of it is translated.

Work of the engine; each line has ``utterance``, its number:

* ``source``: committed source words: the first ``kept`` stay, ``words`` follow; ``ended``;
  ``full_stop`` only if the model is fed one that is in no word.
* ``heard``: blocks of sound in the place of words, ``n_blocks`` of them; ``ended``.
* ``read``: the policy took a word; ``n_read`` (words and end markers read).
* ``fed``: rows of one forward pass: ``ids``, ``positions``, ``times``; ``n_again`` (how many of
  them were computed before); ``flops`` (of this pass); ``cached_rows`` (after it).
* ``written``: ``id`` of the chosen target token; ``n_read``.
* ``drafted``: ``text``, the whole hypothesis of a re-translation; ``n_read``.
* ``committed``: ``text`` appended to the caption, which stays unless the source is edited;
  ``n_read``.
* ``probe``: the ``n_rows`` rows fed last were taken back (wait-k).
* ``rewound``: an edit: ``n_read`` words stay read, ``cached_rows`` rows and the first ``kept``
  characters of the caption stay.
* ``evicted``: the utterance's oldest phase was dropped, ``n_rows`` rows; the rest moved up by
  ``distance`` positions.
* ``cut``: a write that did not end was ended; ``why``: ``length`` or ``loop``.
* ``pace``: the steps are now ``factor`` times as large as the policy's, since ``backlog_words``
  words wait; 1: none waits any more. (Of the session, without ``utterance``.)
* ``ended``: the utterance is translated. Totals since the engine was made: ``tokens_fed``,
  ``forwards``, ``tokens_recomputed``, ``probes``, ``flops``; ``cached_rows`` now;
  ``peak_memory_bytes`` of the process (of the device, on CUDA); ``mean_log_probability`` of the
  caption's tokens, in nats.
"""

import json
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO, TypedDict, cast

SCHEMA = 2

Value = str | int | float | bool | Sequence[int] | Sequence[float] | Sequence[str]
"""A value of a field."""


class Event(TypedDict, total=False):
    """A row of the log for its readers; its fields depend on ``event``."""

    event: str
    at_s: float
    schema: int
    language: str
    index: int
    words: list[str]
    said_s: list[float]
    came_s: list[float]
    n_words: int
    utterance: int
    ids: list[int]
    id: int
    n_again: int
    n_rows: int
    flops: int
    text: str
    kept: int
    peak_memory_bytes: int
    mean_log_probability: float


class EventLog:
    """Write events to a file, to a list, or nowhere.

    Each line of a file is flushed, so a crash loses at most the line it was writing.
    """

    def __init__(
        self,
        to: Path | list[Event] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._rows = to if isinstance(to, list) else None
        self._file: TextIO | None = to.open("w", encoding="utf-8") if isinstance(to, Path) else None
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
        if self._file is None and self._rows is None:
            return
        row = {"event": event, "at_s": round(self._clock() - self._start_s, 6), **fields}
        if self._rows is not None:
            self._rows.append(cast("Event", row))
        if self._file is not None:
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._file.flush()

    def close(self) -> None:
        """Close the file; writing afterwards does nothing."""
        if self._file is not None:
            self._file.close()
            self._file = None
