"""What a live translation of one source line was: the record that every score is computed from."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """One source line, translated word by word and replayed from its event log.

    A unit is a word between blanks, or a character where a language is written without blanks.

    Attributes:
        index: of the line, from 0.
        source: its words.
        hypothesis: what was committed, blanks made single.
        delays: for each target unit, source words that had arrived when its last character was
            committed.
        emitted_ms: for each target unit, milliseconds of computing from the arrival of source word
            ``delays[i]`` (counted from 1) to that commit.
        ms: for each source word, milliseconds from its arrival to the end of what it set off.
        token_ms: for each target token chosen, milliseconds since the one before it, or since the
            arrival of a word, whichever is later.
        tokens_fed: rows computed, those of probes and recomputed ones among them.
        tokens_recomputed: rows computed again.
        forwards: forward passes.
        probes: wait-k rows computed to look at their successor, then taken back.
        flops: floating-point operations of all forward passes, as the engine counts them.
        n_erased: target units that were committed and taken away again.
        n_cut: writes that did not end by themselves and were ended.
        peak_memory_bytes: the most memory the process had held by the end of the line.
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
