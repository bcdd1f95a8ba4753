"""Write the event log of a system: settings, forward passes, totals.

The schema is in ``engine.metrics.event_log``.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.layout.rows import Row
from engine.metrics.event_log import SCHEMA, EventLog
from engine.models.resolve import Resolved
from engine.runtime.causal_model import AnyModel
from engine.runtime.loader import AnyWeights
from engine.translation.captioned import n_same


@dataclass(slots=True)
class Counters:
    """Rows computed more than once, and why; writes that were cut because they looped."""

    tokens_recomputed: int = 0
    probes: int = 0
    loops_cut: int = 0


def log_session(log: EventLog, weights: AnyWeights, language: str, resolved: Resolved) -> None:
    """Log the settings of the next utterances."""
    log.write(
        "session",
        schema=SCHEMA,
        system=resolved.system,
        model=weights.card.name,
        parameters=weights.n_parameters,
        language=language,
        policy=str(resolved.policy),
        slot_length=resolved.layout.slot_length,
    )


def log_source(
    log: EventLog,
    utterance: int,
    old: Sequence[str],
    words: Sequence[str],
    *,
    ended: bool,
    full_stop: str = "",
) -> None:
    """Log the change of an utterance's committed words."""
    kept = n_same(old, words)
    added = {"full_stop": full_stop} if full_stop else {}
    news = list(words[kept:])
    log.write("source", utterance=utterance, kept=kept, words=news, ended=ended, **added)


def log_fed(
    log: EventLog, model: AnyModel, utterance: int, rows: Sequence[Row], *, n_again: int = 0
) -> None:
    """Log the last forward pass of the model."""
    log.write(
        "fed",
        utterance=utterance,
        ids=[row.id for row in rows],
        positions=[row.position for row in rows],
        times=[row.time for row in rows],
        n_again=n_again,
        flops=model.last_flops,
        cached_rows=model.n_rows,
    )


def log_cut(log: EventLog, counters: Counters, utterance: int, *, loops: bool) -> None:
    """Log that a write was cut because it loops, or else because it is too long."""
    counters.loops_cut += loops
    log.write("cut", utterance=utterance, why="loop" if loops else "length")


def log_end(
    log: EventLog,
    model: AnyModel,
    counters: Counters,
    utterance: int,
    *,
    mean_log_probability: float = 0.0,
) -> None:
    """Log the end of an utterance, with the totals so far."""
    log.write(
        "ended",
        utterance=utterance,
        mean_log_probability=mean_log_probability,
        tokens_fed=model.tokens_fed,
        forwards=model.forwards,
        tokens_recomputed=counters.tokens_recomputed,
        probes=counters.probes,
        flops=model.flops,
        cached_rows=model.n_rows,
        peak_memory_bytes=model.peak_memory_bytes,
    )
