"""Read event logs and reconstruct the translation of each line; all scores are computed from this.

A line without ``line_ended`` was interrupted and does not count; neither does an incomplete last
row of a log whose writer was killed.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import cast

from engine.errors import ScoringError
from engine.metrics.event_log import SCHEMA, Event
from engine.metrics.translation import Translation
from engine.metrics.units import is_spaced, unit_ends


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
    """The cost of a line."""

    tokens_fed: int = 0
    tokens_recomputed: int = 0
    forwards: int = 0
    probes: int = 0
    flops: int = 0
    n_cut: int = 0
    peak_memory_bytes: int = 0
    log_probability: float = 0.0

    def take(self, event: Event) -> None:
        """Count an event; most of them cost nothing."""
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
        """Take an event between the line's start and its end."""
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
        """End the step of the last word."""
        if self.n_arrived:
            self.ms.append(1000 * (at_s - self.arrived_s))

    def translation(self) -> Translation:
        """Return the line's translation."""
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
