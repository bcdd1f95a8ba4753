"""When the words of a test set come: read from a file, or drawn like those of people and programs.

A line of such a file has ``SAID:CAME`` for each word of the same line of the source, in seconds
since the line began: the end of its sound, and when it comes to the translator. Words that come at
the same moment come together.
"""

import random
from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import inf
from pathlib import Path

from engine.translation.feed import Arrival
from training.data.corpus import read_lines
from training.errors import UsageError

_WORDS_A_SECOND = 2.7
_TYPED_A_SECOND = 0.7
_STREAMING_S, _WHISPER_S = 0.5, 1.6  # after the (last) word, see docs/results.md, Hearing
_BURST = (3, 6)
_LENGTHS = (0.5, 1.5)  # of a word, of the mean

DRAWN = ("spoken", "streaming", "whisper", "typed", "at-once")
"""Heard as it is said; committed word by word half a second later; in bursts; typed; a file."""


def arrivals_of(what: str | None, n_words: Sequence[int]) -> list[Sequence[Arrival]]:
    """Return when the words of each line come.

    Args:
        what: one of ``DRAWN``, or the name of a file; None has no times.
    """
    if what is None:
        return [()] * len(n_words)
    if what in DRAWN:
        return [_drawn(what, n, random.Random(index)) for index, n in enumerate(n_words)]
    lines = [line.decode("utf-8", "replace") for line in read_lines(Path(what))]
    if len(lines) < len(n_words):
        msg = f"{what} has {len(lines)} lines, fewer than the {len(n_words)} of the source"
        raise UsageError(msg)
    return [
        _read(f"line {number} of {what}", line, n)
        for number, (line, n) in enumerate(zip(lines, n_words, strict=False), start=1)
    ]


def _drawn(kind: str, n_words: int, rng: random.Random) -> list[Arrival]:
    """Draw when the words of a line come; the same seed draws the same."""
    if kind == "at-once":
        return [(0.0, 0.0)] * n_words
    rate = _TYPED_A_SECOND if kind == "typed" else _WORDS_A_SECOND
    ends = accumulate(rng.randint(*_BURST) for _ in range(n_words))
    bursts = [slice(*ends) for ends in pairwise((0, *ends))]
    lengths = (rng.uniform(*_LENGTHS) / rate for _ in range(n_words))
    said = [round(end, 3) for end in accumulate(lengths)]
    if kind == "whisper":
        return [
            (one, round(said[burst][-1] + _WHISPER_S, 3)) for burst in bursts for one in said[burst]
        ]
    later = _STREAMING_S if kind == "streaming" else 0.0
    return [(one, round(one + later, 3)) for one in said]


def _read(where: str, line: str, n_words: int) -> list[Arrival]:
    try:
        found = [(float(said), float(came)) for said, came in (w.split(":") for w in line.split())]
    except ValueError as error:
        msg = f"{where}: expected SAID:CAME for each word, in seconds, got {line[:60]!r}"
        raise UsageError(msg) from error
    came_s = [came for _, came in found]
    ordered = came_s == sorted(came_s) and all(0 <= said <= came < inf for said, came in found)
    if len(found) != n_words or not ordered:
        msg = (
            f"{where}: expected {n_words} words, none before it was said and none before another "
            f"that stands before it, got {line[:60]!r}"
        )
        raise UsageError(msg)
    return found
