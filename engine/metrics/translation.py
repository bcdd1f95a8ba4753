"""The record of a live translation of one source line, from which every score is computed."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """One source line, translated word by word and replayed from its event log.

    A unit is a word between blanks, or a character in languages written without blanks.

    Attributes:
        index: of the line, from 0.
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
        forwards: forward passes.
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
