"""Find output that loops or runs on without end, and policies that hardly translate live.

Both hide behind other scores: to BLEU a loop is one bad sentence among many, and a policy that
writes a few words early and the rest at the end can have a fair LAAL.
"""

import re
from collections.abc import Iterable, Sequence

from engine.metrics.latency import yet_another_average_lagging

_LONGEST_PHRASE = 12  # units
_LOOP_WORDS = 4  # a shorter loop is emphasis: very, very, very
_LOOP_CHARACTERS = 8  # times in a row inside a unit
_CHARACTERS_PER_WORD = 2  # in a language written without blanks
_UNIT = re.compile(r"[^\W_]+")
_CHARACTER = re.compile(r"[0-9a-z]+|[^\W_]")


def is_degenerate(hypothesis: str, source: Sequence[str], *, spaced: bool) -> bool:
    """Tell whether an output loops or runs on, so that it cannot be a translation of its source.

    Compared are units without case and punctuation: runs of letters and digits, so that the parts
    of ``S-S-S-S`` are four; single characters where there are no blanks, but numbers and Latin
    words whole. The output is degenerate when one of these holds:

    * A phrase of 1 to 12 units stands in it at least two times more in a row than any phrase does
      in the source, and the row is at least four words long. (One repetition is a slip, and what
      the source repeats its translation may.)
    * Inside a unit 1 to 4 characters stand in a row 8 times or more, and more often than in any
      unit of the source (``1000000000``).
    * It has over three times as many words as the source, and five more.

    Two characters count as a word where a language is written without blanks. The numbers
    were chosen on references of seven languages and the output of a small model: of 44,652
    references none is found, and what is found of the output is broken.

    Args:
        hypothesis: one translation; an empty one is not degenerate.
        source: its words.
        spaced: whether the target is written with blanks between words.
    """
    units = (_UNIT if spaced else _CHARACTER).findall(hypothesis.casefold())
    source_units = _UNIT.findall(" ".join(source).casefold())
    per_word = 1 if spaced else _CHARACTERS_PER_WORD
    if len(units) > per_word * (3 * len(source_units) + 5):
        return True
    return _loops(units, source_units, per_word) or _stutters(units, source_units)


def short_form_degeneracy(
    sentences: Iterable[tuple[Sequence[float], float, int]],
) -> tuple[float | None, float | None]:
    """Compare how much was written while the source went on with how much its lagging promises.

    The first number, SWF, is the share of target words written before the source ended. The second,
    EFSW, is the share of the source that comes after the mean lagging (YAAL), which is what SWF
    should be for a translation that flows evenly. OmniSTEval calls a policy degenerate when they
    are over 20 apart: it writes a word or two early and the rest at the end.

    Args:
        sentences: for each its delays (none where nothing was written), the length of the source in
            the same unit, and the words of the reference.

    Returns:
        SWF and EFSW in per cent; SWF is None where nothing was written, EFSW where nothing was
        written before its source ended, as an offline system does.
    """
    n_early = n_words = 0
    ahead = total = 0.0
    for delays, source_length, target_length in sentences:
        if not delays:
            continue
        n_early += sum(delay < source_length for delay in delays)
        n_words += len(delays)
        lag = yet_another_average_lagging(delays, source_length, target_length)
        if lag is not None:
            ahead += source_length - lag  # above 0: all words that count came before the end
            total += source_length
    return (100 * n_early / n_words if n_words else None, 100 * ahead / total if total else None)


def _loops(units: Sequence[str], source: Sequence[str], per_word: int) -> bool:
    sizes = range(1, _LONGEST_PHRASE + 1)
    allowed = 1 + max(_repeats(source, size) for size in sizes)
    return any(
        repeats > allowed and repeats * size >= _LOOP_WORDS * per_word
        for size in sizes
        for repeats in [_repeats(units, size)]
    )


def _stutters(units: Sequence[str], source: Sequence[str]) -> bool:
    allowed = max((_stutter(unit) for unit in source), default=0)
    return any(_stutter(unit) > max(allowed, _LOOP_CHARACTERS - 1) for unit in units)


def _stutter(unit: str) -> int:
    return max(_repeats(unit, size) for size in range(1, 5))


def _repeats(units: Sequence[str], size: int) -> int:
    """Count how often in a row a phrase of a size stands at most; 1 where none is repeated."""
    most = same = 0  # units in a row that equal the one a phrase earlier
    for earlier, later in zip(units, units[size:], strict=False):
        same = same + 1 if earlier == later else 0
        most = max(most, same)
    return 1 + most // size
