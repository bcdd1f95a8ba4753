"""Score what a policy translated: quality, lagging, steadiness, cost, loops. Pure functions.

BLEU hides output that loops or does not end, a bad sentence among many; ``is_degenerate`` finds it.
"""

import re
import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.metrics.event_log import Translation, is_spaced
from engine.metrics.latency import Laggings, caption_lags_s, mean_laggings
from engine.metrics.quality import Quality, measure_quality

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


_TIMES = ("ms_per_", "laal_ca")
"""Beginnings of the names of scores that count the time of computing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Computation of a policy, and its times.

    Attributes:
        ms_per_token_p50, ms_per_token_p95: percentiles of ``Translation.token_ms``.
        ms_per_word_p50, ms_per_word_p95, ms_per_word_mean: of ``Translation.ms``, over all source
            words.
        tokens_fed: sum over all sentences; likewise ``tokens_recomputed``, ``forwards`` and
            ``probes``.
        gflops_per_sentence: 10^9 floating-point operations, mean.
        peak_memory_mib: the most that a process held.
    """

    ms_per_token_p50: float
    ms_per_token_p95: float
    ms_per_word_p50: float
    ms_per_word_p95: float
    ms_per_word_mean: float
    tokens_fed: int
    tokens_recomputed: int
    forwards: int
    probes: int
    gflops_per_sentence: float
    peak_memory_mib: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores of one policy over a test set: an object of ``summary.json``.

    Attributes:
        system: ``slots`` or ``retranslate``.
        laggings: None if nothing was written.
        normalised_erasure: target units taken away again for each unit that stayed.
        lag_s_p50, lag_s_p95: percentiles over all source words of the seconds from the end of its
            sound to its caption, see ``caption_lags_s``; None where words have no times.
        n_empty: sentences without output.
        n_degenerate: sentences whose output is a loop, see ``is_degenerate``.
        timed: False if the lines were translated side by side, where each waits for the others:
            then the row has no times, and no lagging with computing.
    """

    policy: str
    system: str
    quality: Quality
    laggings: Laggings | None
    normalised_erasure: float
    cost: Cost
    n_sentences: int
    n_empty: int
    n_degenerate: int
    lag_s_p50: float | None = None
    lag_s_p95: float | None = None
    timed: bool = True

    def row(self) -> dict[str, str | float | None]:
        row = flattened(self)
        if not row.pop("timed"):
            row |= dict.fromkeys(name for name in row if name.startswith(_TIMES))
        return row


def score(
    policy: str,
    system: str,
    translations: Sequence[Translation],
    references: Sequence[str],
    language: str,
) -> Scores:
    """Score the translations of a policy.

    Args:
        translations: at least one.
        references: one for each translation, in the same order.
    """
    spaced = is_spaced(language)
    lags_s = [lag for one in translations for lag in caption_lags_s(one)]
    return Scores(
        policy=policy,
        system=system,
        quality=measure_quality([one.hypothesis for one in translations], references, language),
        laggings=mean_laggings(translations, references, language),
        normalised_erasure=normalised_erasure(translations),
        cost=measure_cost(translations),
        n_sentences=len(translations),
        n_empty=sum(not one.delays for one in translations),
        n_degenerate=sum(
            is_degenerate(one.hypothesis, one.source, spaced=spaced) for one in translations
        ),
        lag_s_p50=percentile(lags_s, 50) if lags_s else None,
        lag_s_p95=percentile(lags_s, 95) if lags_s else None,
    )


def flattened(scores: "DataclassInstance") -> dict[str, str | float | None]:
    """Return the fields of scores, and those of the scores inside them, as one row."""
    row = dict[str, str | float | None]()
    for field in fields(scores):
        value = getattr(scores, field.name)
        if is_dataclass(value) and not isinstance(value, type):
            row |= asdict(value)
        elif field.name == "laggings":  # nothing was written
            row |= dict.fromkeys(lagging.name for lagging in fields(Laggings))
        else:
            row[field.name] = value
    return row


def normalised_erasure(translations: Sequence[Translation]) -> float:
    """Return the target units taken away again for each unit that stayed."""
    n_written = sum(len(translation.delays) for translation in translations)
    return sum(translation.n_erased for translation in translations) / max(1, n_written)


def measure_cost(translations: Sequence[Translation]) -> Cost:
    """Sum up computation and times."""
    token_ms = [value for one in translations for value in one.token_ms]
    word_ms = [value for one in translations for value in one.ms]
    return Cost(
        ms_per_token_p50=percentile(token_ms, 50),
        ms_per_token_p95=percentile(token_ms, 95),
        ms_per_word_p50=percentile(word_ms, 50),
        ms_per_word_p95=percentile(word_ms, 95),
        ms_per_word_mean=statistics.fmean(word_ms) if word_ms else 0.0,
        tokens_fed=sum(one.tokens_fed for one in translations),
        tokens_recomputed=sum(one.tokens_recomputed for one in translations),
        forwards=sum(one.forwards for one in translations),
        probes=sum(one.probes for one in translations),
        gflops_per_sentence=statistics.fmean(one.flops for one in translations) / 1e9,
        peak_memory_mib=max(one.peak_memory_bytes for one in translations) / 2**20,
    )


def percentile(values: Sequence[float], percent: float) -> float:
    """Interpolate between the nearest ranks; 0 without values."""
    return float(np.percentile(values, percent)) if values else 0.0


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
        spaced: whether the target is written with blanks between words.
    """
    units = (_UNIT if spaced else _CHARACTER).findall(hypothesis.casefold())
    source_units = _UNIT.findall(" ".join(source).casefold())
    per_word = 1 if spaced else _CHARACTERS_PER_WORD
    if len(units) > per_word * (3 * len(source_units) + 5):
        return True
    return _loops(units, source_units, per_word) or _stutters(units, source_units)


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
