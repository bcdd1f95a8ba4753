"""Score what a policy translated: quality, lagging, steadiness, cost. Pure functions."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields, is_dataclass
from typing import TYPE_CHECKING

import numpy as np

from engine.metrics.lagging import Laggings, caption_lags_s, mean_laggings
from engine.metrics.quality import Quality, measure_quality
from engine.metrics.translation import Translation
from engine.metrics.units import is_spaced, n_reference_units
from training.evaluation.degenerate import is_degenerate, short_form_degeneracy

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
        swf, efsw: per cent written before the source ended, and expected of the lagging, see
            ``training.evaluation.degenerate``; None if nothing is.
        n_empty: sentences without output.
        n_degenerate: sentences whose output is a loop, see ``training.evaluation.degenerate``.
        timed: False if the lines were translated side by side, where each waits for the others:
            then the row has no times, and no lagging with computing.
    """

    policy: str
    system: str
    quality: Quality
    laggings: Laggings | None
    normalised_erasure: float
    cost: Cost
    swf: float | None
    efsw: float | None
    n_sentences: int
    n_empty: int
    n_degenerate: int
    lag_s_p50: float | None = None
    lag_s_p95: float | None = None
    timed: bool = True

    def row(self) -> dict[str, str | float | None]:
        """Return all scores side by side, under their names."""
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
        policy: its name.
        system: ``slots`` or ``retranslate``.
        translations: at least one.
        references: one for each translation, in the same order.
        language: two-letter code of the target.

    Raises:
        TrainingError: sacreBLEU lacks its tokenizer for the language.
    """
    n_units = [n_reference_units(reference, language) for reference in references]
    swf, efsw = short_form_degeneracy(
        (one.delays, len(one.source), n) for one, n in zip(translations, n_units, strict=True)
    )
    spaced = is_spaced(language)
    lags_s = [lag for one in translations for lag in caption_lags_s(one)]
    return Scores(
        policy=policy,
        system=system,
        quality=measure_quality([one.hypothesis for one in translations], references, language),
        laggings=mean_laggings(translations, references, language),
        normalised_erasure=normalised_erasure(translations),
        cost=measure_cost(translations),
        swf=swf,
        efsw=efsw,
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
