"""Find output that loops or does not end, and policies that hardly translate live.

Other scores hide both: for BLEU a loop is one bad sentence among many, and a policy that writes a
few words early and the rest at the end can have a fair LAAL.
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
    """Return whether an output loops or does not end, so that it is no translation of its source.

    Units are compared without case and punctuation: runs of letters and digits, so ``S-S-S-S`` has
    four; in a script without blanks single characters, but whole numbers and Latin words. The
    output is degenerate if one of these holds:

    * It repeats a phrase of 1 to 12 units in a row at least two times more than the source repeats
      any phrase, and the row is at least four words long. (One repetition is a slip, and the
      translation may repeat as the source does.)
    * A unit repeats 1 to 4 characters 8 times or more in a row, and more often than any unit of the
      source (``1000000000``).
    * It has over three times as many words as the source, and five more.

    In a script without blanks, two characters count as a word. The limits were chosen on references
    of seven languages and the output of a small model: none of 44,652 references is degenerate, and
    all degenerate output is broken.

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
    """Compare the share written before the source ended with the share its lagging promises.

    SWF is the share of target words written before the source ended. EFSW is the share of the
    source after the mean lagging (YAAL), which SWF would equal for a steady translation. OmniSTEval
    calls a policy degenerate if they differ by over 20: it writes a word or two early and the rest
    at the end.

    Args:
        sentences: for each its delays (none if nothing was written), the length of the source in
            the same unit, and the words of the reference.

    Returns:
        SWF and EFSW in per cent; SWF is None if nothing was written, EFSW if nothing was written
        before its source ended, as by an offline system.
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
    """Return the most repetitions in a row of a phrase of a size; 1 if none is repeated."""
    most = same = 0  # units in a row that equal the unit one phrase earlier
    for earlier, later in zip(units, units[size:], strict=False):
        same = same + 1 if earlier == later else 0
        most = max(most, same)
    return 1 + most // size
