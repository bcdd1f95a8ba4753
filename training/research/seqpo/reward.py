"""Rewards of sampled translations: one number from quality and lagging, and the group's baseline.

Source: SeqPO-SiMT (Xu et al. 2025, Findings of ACL), equation 2; the hinge is that of HPO (ACL
2026, its code). ``docs/decisions/0012-seqpo.md`` has our readings and deviations.
"""

import math
import os
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from sacrebleu.metrics.chrf import CHRF

from engine.metrics.latency import average_lagging, length_adaptive_average_lagging
from engine.metrics.quality import make_bleu
from engine.metrics.units import n_reference_units
from training.errors import UsageError
from training.research.comparison.comet import MODEL, PYTHON, ask
from training.research.comparison.comet_scorer import Request, Sample
from training.research.seqpo.settings import SeqpoSettings

_FREE_LENGTH = 0.25
"""How far the logarithm of the ratio of lengths may be from 0 before quality falls."""

_LENGTH_PRICE = 0.5

_LEAST_QUALITY_STD, _LEAST_LAG_STD = 0.01, 0.15
"""Smaller standard deviations are raised to these: noise among equals is no reason to learn."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """A sampled translation, as rewards see it.

    Attributes:
        source: text.
        hypothesis: text.
        reference: text.
        delays: as in ``engine.metrics.translation``.
    """

    source: str
    hypothesis: str
    reference: str
    delays: Sequence[int]


class Quality(Protocol):
    """A measure of translations; more is better, 1 is about the best."""

    def __call__(self, sampled: Sequence[Sampled]) -> list[float]:
        """Score each translation."""


class StringQuality:
    """Half chrF2 and half smoothed sentence BLEU, less for a wrong length.

    chrF2 alone favours long output, which also lowers LAAL: so BLEU, and a price for a length far
    from that of the reference.
    """

    def __init__(self, language: str) -> None:
        self._language = language
        self._chrf = CHRF()
        self._bleu = make_bleu(language)
        self._bleu.effective_order = True

    def __call__(self, sampled: Sequence[Sampled]) -> list[float]:
        """Score each translation; one without text has 0."""
        return [self._score(one) for one in sampled]

    def _score(self, one: Sampled) -> float:
        if not one.hypothesis:
            return 0.0
        chrf = float(self._chrf.sentence_score(one.hypothesis, [one.reference]).score)
        bleu = float(self._bleu.sentence_score(one.hypothesis, [one.reference]).score)
        written = n_reference_units(one.hypothesis, self._language)
        wanted = n_reference_units(one.reference, self._language)
        too_far = max(0.0, abs(math.log(written / wanted)) - _FREE_LENGTH)
        return 0.5 * chrf / 100 + 0.5 * bleu / 100 - _LENGTH_PRICE * too_far


@dataclass(frozen=True, slots=True)
class CometQuality:
    """COMET in its own environment; one process for each step."""

    python: Path
    device: str
    model: str = MODEL

    @classmethod
    def installed(cls, python: Path | None, device: str) -> "CometQuality":
        """Use the environment of this Python, or that of ``scripts/comet-environment``.

        Raises:
            UsageError: it is missing.
        """
        python = python or PYTHON
        if not os.access(python, os.X_OK):
            msg = (
                f"COMET is not installed ({python} is missing): make its environment with "
                "scripts/comet-environment, or set quality to string"
            )
            raise UsageError(msg)
        return cls(python, device)

    def __call__(self, sampled: Sequence[Sampled]) -> list[float]:
        """Score each translation; raise TrainingError if COMET fails."""
        samples = [Sample(src=one.source, mt=one.hypothesis, ref=one.reference) for one in sampled]
        request = Request(model=self.model, device=self.device, batch_size=16, samples=samples)
        return list(ask(self.python, request)["scores"])


def lagging(one: Sampled, language: str, *, adaptive: bool = True) -> float:
    """Return LAAL (or AL) in source words; the length of the source if nothing was written."""
    n_source = len(one.source.split())
    if not one.delays:
        return float(n_source)
    measure = length_adaptive_average_lagging if adaptive else average_lagging
    return measure(one.delays, n_source, n_reference_units(one.reference, language))


def rewards(
    qualities: Sequence[float], laggings: Sequence[float], settings: SeqpoSettings
) -> list[float]:
    """Fuse quality and lagging of one group, the translations of one source, into rewards."""
    if settings.reward == "hinge":
        return _hinge_rewards(qualities, laggings, settings)
    bound = settings.lag_bound
    lags = list(laggings)
    if settings.truncation == "before":
        lags = [max(bound, lag) for lag in lags]
    if settings.normalised:
        qualities = standardised(qualities, _LEAST_QUALITY_STD)
        lags = standardised(lags, _LEAST_LAG_STD)
    if settings.truncation in {"literal", "after"}:
        floor = bound if settings.truncation == "literal" else settings.lag_floor
        lags = [max(floor, lag) for lag in lags]
    return [
        settings.balance * quality - settings.lag_weight * lag
        for quality, lag in zip(qualities, lags, strict=True)
    ]


def _hinge_rewards(
    qualities: Sequence[float], laggings: Sequence[float], settings: SeqpoSettings
) -> list[float]:
    """Credit low lagging only where the quality is at least the group's median."""
    threshold, most = statistics.median(qualities), max(laggings)
    gains = [
        most - lag if quality >= threshold else 0.0
        for quality, lag in zip(qualities, laggings, strict=True)
    ]
    return [
        settings.hinge_quality * quality + settings.hinge_lag * gain
        for quality, gain in zip(
            standardised(qualities, _LEAST_QUALITY_STD),
            standardised(gains, _LEAST_LAG_STD),
            strict=True,
        )
    ]


def standardised(values: Sequence[float], least_std: float) -> list[float]:
    """Subtract the mean and divide by the sample standard deviation, at least ``least_std``."""
    mean = statistics.fmean(values)
    std = max(statistics.stdev(values), least_std)
    return [(value - mean) / std for value in values]


def advantages(group: Sequence[float]) -> list[float]:
    """Subtract the mean of the group: the baseline that stands for a critic."""
    mean = statistics.fmean(group)
    return [reward - mean for reward in group]
