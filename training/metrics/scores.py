"""Score what a policy translated: quality, lagging, steadiness, cost. Pure functions."""

import statistics
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields

import numpy as np

from engine.metrics.lagging import Laggings, mean_laggings
from engine.metrics.quality import Quality, measure_quality
from engine.metrics.translation import Translation
from engine.metrics.units import is_spaced, n_reference_units
from training.metrics.degenerate import is_degenerate, short_form_degeneracy


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """What a policy computed, and how long it took.

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
        laggings: None where nothing was written.
        normalised_erasure: target units taken away again for each one that stayed.
        swf, efsw: how much is written while the source goes on, per cent, see
            ``training.metrics.degenerate``; None where nothing is.
        n_empty: sentences without output.
        n_degenerate: sentences whose output is a loop, see ``training.metrics.degenerate``.
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

    def row(self) -> dict[str, str | float | None]:
        """Lay all scores side by side, under their names."""
        row: dict[str, str | float | None] = {"policy": self.policy, "system": self.system}
        row |= asdict(self.quality)
        nothing = {field.name: None for field in fields(Laggings)}
        row |= nothing if self.laggings is None else asdict(self.laggings)
        row["normalised_erasure"] = self.normalised_erasure
        row |= asdict(self.cost)
        for name in ("swf", "efsw", "n_sentences", "n_empty", "n_degenerate"):
            row[name] = getattr(self, name)
        return row


def score(
    policy: str,
    system: str,
    translations: Sequence[Translation],
    references: Sequence[str],
    language: str,
) -> Scores:
    """Score what a policy wrote.

    Args:
        policy: its name.
        system: ``slots`` or ``retranslate``.
        translations: at least one.
        references: one for each of them, in the same order.
        language: two-letter code of the target.

    Raises:
        TrainingError: sacreBLEU lacks its tokenizer for the language.
    """
    n_units = [n_reference_units(reference, language) for reference in references]
    swf, efsw = short_form_degeneracy(
        (one.delays, len(one.source), n) for one, n in zip(translations, n_units, strict=True)
    )
    spaced = is_spaced(language)
    return Scores(
        policy=policy,
        system=system,
        quality=measure_quality([one.hypothesis for one in translations], references, language),
        laggings=mean_laggings(translations, references, language),
        normalised_erasure=sum(one.n_erased for one in translations)
        / max(1, sum(len(one.delays) for one in translations)),
        cost=measure_cost(translations),
        swf=swf,
        efsw=efsw,
        n_sentences=len(translations),
        n_empty=sum(not one.delays for one in translations),
        n_degenerate=sum(
            is_degenerate(one.hypothesis, one.source, spaced=spaced) for one in translations
        ),
    )


def measure_cost(translations: Sequence[Translation]) -> Cost:
    """Sum up what was computed."""
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
    """Interpolate between the nearest ranks; 0 where there are no values."""
    return float(np.percentile(values, percent)) if values else 0.0
