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
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Self, TextIO, TypedDict, cast

from engine.errors import ScoringError

# Lagging, erasure and resegmentation count these units; they are defined only here.

_UNSPACED = frozenset({"ja", "th", "zh"})


def is_spaced(language: str) -> bool:
    """Return whether a language puts blanks between words; True for an unknown one."""
    return language not in _UNSPACED


def unit_ends(text: str, *, spaced: bool) -> list[int]:
    return [match.end() - 1 for match in re.finditer(r"\S+" if spaced else r"\S", text)]


def n_reference_units(reference: str, language: str) -> int:
    """Count the units of a reference as SimulEval does: split at single blanks.

    So two blanks in a row count a word between them, and an empty reference is one word long.
    """
    return len(reference.split(" ")) if is_spaced(language) else max(1, len(reference.strip()))


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
        if self._file is None and self._rows is None:
            return
        row = {"event": event, "at_s": round(self._clock() - self._start_s, 6), **fields}
        if self._rows is not None:
            self._rows.append(cast("Event", row))
        if self._file is not None:
            self._file.write(json.dumps(row, ensure_ascii=False) + "\n")
            self._file.flush()

    def close(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


# The record of a live translation of one source line, from which every score is computed.


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """One source line, translated word by word and replayed from its event log.

    A unit is a word between blanks, or a character in languages written without blanks.

    Attributes:
        source: its words.
        hypothesis: the committed text with single blanks.
        delays: for each target unit, source words that had arrived when its last character was
            committed.
        emitted_ms: for each target unit, milliseconds of computing from the arrival of source word
            ``delays[i]`` (counted from 1) to that commit.
        ms: for each source word, milliseconds from its arrival to the end of its processing; 0 for
            one that came together with the next.
        token_ms: for each chosen target token, milliseconds since the previous one, or since the
            arrival of a word, whichever is later.
        tokens_fed: rows computed, with those of probes and recomputed ones.
        tokens_recomputed: rows computed again.
        probes: rows that wait-k asked and took back.
        flops: floating-point operations of all forward passes, as the engine counts them.
        n_erased: target units that were committed and then removed.
        n_cut: writes that were cut because they did not end by themselves.
        peak_memory_bytes: peak memory of the process by the end of the line.
        log_probability: mean over the target tokens, in nats; 0 if it was not logged.
        said_s, came_s: for each source word, seconds from the start of the line to the end of its
            sound, and until it came; empty where words have no times.
    """

    index: int
    source: tuple[str, ...]
    hypothesis: str
    delays: tuple[int, ...]
    emitted_ms: tuple[float, ...]
    ms: tuple[float, ...]
    token_ms: tuple[float, ...]
    tokens_fed: int
    tokens_recomputed: int
    forwards: int
    probes: int
    flops: int
    n_erased: int
    n_cut: int
    peak_memory_bytes: int
    log_probability: float = 0.0
    said_s: tuple[float, ...] = ()
    came_s: tuple[float, ...] = ()


# All scores are computed from the translations that are read of event logs. A line without
# ``line_ended`` was interrupted and does not count; neither does an incomplete last row of a log
# whose writer was killed.


def read_events(path: Path) -> Iterator[Event]:
    """Read a log row by row.

    Raises:
        ScoringError: it cannot be read, a row is garbled, or another schema wrote it.
    """
    try:
        rows = path.read_bytes().split(b"\n")
    except OSError as error:
        msg = f"the log {path} cannot be read ({error.strerror}): run evaluate again"
        raise ScoringError(msg) from error
    for number, row in enumerate(rows[:-1], start=1):  # a complete row ends with a line feed
        try:
            event = cast("Event", json.loads(row))
            schema = event.get("schema", SCHEMA)
        except (ValueError, AttributeError) as error:
            msg = f"{path}:{number} is no event: delete this log and run evaluate again"
            raise ScoringError(msg) from error
        if schema != SCHEMA:
            msg = f"{path} has schema {schema}, expected {SCHEMA}: evaluate into another folder"
            raise ScoringError(msg)
        yield event


def replay(events: Iterable[Event]) -> Iterator[Translation]:
    """Yield the translation of each complete line of one log, in their order."""
    line: _Line | None = None
    spaced = True
    for event in events:
        match event["event"]:
            case "session":
                spaced = is_spaced(event["language"])
            case "line":
                line = (
                    _Line(
                        event["index"],
                        tuple(event["words"]),
                        spaced,
                        tuple(event.get("said_s", [])),
                        tuple(event.get("came_s", [])),
                    )
                    if event["index"] >= 0
                    else None
                )
            case "line_ended" if line is not None:
                line.end(event["at_s"])
                yield line.translation()
                line = None
            case _ if line is not None:
                line.take(event)


@dataclass(slots=True)
class _Caption:
    """The committed text of an utterance, with a delay and a time for each character."""

    text: str = ""
    delays: list[int] = field(default_factory=list)
    emitted_ms: list[float] = field(default_factory=list)


@dataclass(slots=True)
class _Cost:
    tokens_fed: int = 0
    tokens_recomputed: int = 0
    forwards: int = 0
    probes: int = 0
    flops: int = 0
    n_cut: int = 0
    peak_memory_bytes: int = 0
    log_probability: float = 0.0

    def take(self, event: Event) -> None:
        match event["event"]:
            case "fed":
                self.forwards += 1
                self.tokens_fed += len(event["ids"])
                self.tokens_recomputed += event["n_again"]
                self.flops += event["flops"]
            case "probe":
                self.probes += event["n_rows"]
            case "cut":
                self.n_cut += 1
            case "ended":
                self.peak_memory_bytes = event["peak_memory_bytes"]
                self.log_probability = event.get("mean_log_probability", 0.0)
            case _:
                pass


@dataclass(slots=True)
class _Line:
    """The state of a line after its events so far."""

    index: int
    words: tuple[str, ...]
    spaced: bool
    said_s: tuple[float, ...]
    came_s: tuple[float, ...]
    ms: list[float] = field(default_factory=list)
    token_ms: list[float] = field(default_factory=list)
    captions: dict[int, _Caption] = field(default_factory=dict)
    n_arrived: int = 0
    arrived_s: float = 0.0  # the newest word
    chosen_s: float = 0.0  # the newest token, or the newest word when that is later
    n_erased: int = 0
    cost: _Cost = field(default_factory=_Cost)

    def take(self, event: Event) -> None:
        match event["event"]:
            case "arrived":
                self._arrive(event["n_words"], event["at_s"])
            case "written":
                self.token_ms.append(1000 * (event["at_s"] - self.chosen_s))
                self.chosen_s = event["at_s"]
            case "committed":
                self._commit(event["utterance"], event["text"], event["at_s"])
            case "rewound":
                self._rewind(event["utterance"], event["kept"])
            case _:
                self.cost.take(event)

    def end(self, at_s: float) -> None:
        if self.n_arrived:
            self.ms.append(1000 * (at_s - self.arrived_s))

    def translation(self) -> Translation:
        whole = [caption for _, caption in sorted(self.captions.items())]
        ends = [(caption, end) for caption in whole for end in self._ends(caption)]
        texts = (" ".join(caption.text.split()) for caption in whole)
        return Translation(
            index=self.index,
            source=self.words,
            said_s=self.said_s,
            came_s=self.came_s,
            hypothesis=(" " if self.spaced else "").join(filter(None, texts)),
            delays=tuple(caption.delays[end] for caption, end in ends),
            emitted_ms=_rounded([caption.emitted_ms[end] for caption, end in ends]),
            ms=_rounded(self.ms),
            token_ms=_rounded(self.token_ms),
            n_erased=self.n_erased,
            **asdict(self.cost),
        )

    def _arrive(self, n_words: int, at_s: float) -> None:
        self.chosen_s = at_s
        if n_words == self.n_arrived:  # the next part of a very long word
            return
        self.end(at_s)
        self.ms += [0.0] * (n_words - self.n_arrived - 1)  # the work on words that came together
        self.n_arrived, self.arrived_s = n_words, at_s

    def _commit(self, utterance: int, text: str, at_s: float) -> None:
        caption = self.captions.setdefault(utterance, _Caption())
        caption.text += text
        caption.delays += [self.n_arrived] * len(text)
        caption.emitted_ms += [1000 * (at_s - self.arrived_s)] * len(text)

    def _rewind(self, utterance: int, kept: int) -> None:
        caption = self.captions.setdefault(utterance, _Caption())
        before = len(self._ends(caption))
        caption.text = caption.text[:kept]
        del caption.delays[kept:], caption.emitted_ms[kept:]
        self.n_erased += before - len(self._ends(caption))

    def _ends(self, caption: _Caption) -> list[int]:
        return unit_ends(caption.text, spaced=self.spaced)


def _rounded(values: Sequence[float]) -> tuple[float, ...]:
    """Round milliseconds to microseconds, as in the log."""
    return tuple(round(value, 3) for value in values)
