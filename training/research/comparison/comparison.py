"""Compare two runs over the same sentences, in quality and in lagging."""

from collections.abc import Callable
from dataclasses import dataclass

from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.chrf import CHRF

from engine.metrics.lagging import Laggings, laggings
from engine.metrics.quality import make_bleu
from engine.metrics.units import n_reference_units
from training.evaluation.runs import PolicyRun
from training.research.comparison.paired_bootstrap import (
    BootstrapSettings,
    Difference,
    QualityDifference,
    compare_means,
    compare_quality,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """The second run minus the first, by measure.

    Attributes:
        bleu, chrf: of the corpus.
        al, laal: over the sentences for which both wrote something; None without any.
        laal_ca: likewise, with computing time, each on the machine it ran on; None where lines were
            translated side by side.
    """

    bleu: QualityDifference
    chrf: QualityDifference
    al: Difference | None
    laal: Difference | None
    laal_ca: Difference | None


def compare(
    first: PolicyRun, second: PolicyRun, language: str, settings: BootstrapSettings
) -> Comparison:
    """Compare two runs over the same source lines.

    Args:
        first: the baseline.
        second: with the same references.
        language: two-letter code of the target.
        settings: of the bootstrap.

    Raises:
        TrainingError: sacreBLEU lacks its tokenizer for the language.
        ValueError: the numbers of lines differ.
    """
    hypotheses = _hypotheses(first), _hypotheses(second)
    references = [one.reference for one in first.sentences]
    lags = _laggings(first, language), _laggings(second, language)

    def quality(metric: Metric) -> QualityDifference:
        return compare_quality(metric, hypotheses, references, settings)

    def mean(measure: Callable[[Laggings], float]) -> Difference | None:
        before, after = ([None if one is None else measure(one) for one in each] for each in lags)
        return compare_means(before, after, settings)

    timed = all(run.scores.laal_ca is not None for run in (first, second))
    return Comparison(
        bleu=quality(make_bleu(language)),
        chrf=quality(CHRF()),
        al=mean(lambda one: one.al),
        laal=mean(lambda one: one.laal),
        laal_ca=mean(lambda one: one.laal_ca) if timed else None,
    )


def _hypotheses(policy: PolicyRun) -> list[str]:
    return [one.translation.hypothesis for one in policy.sentences]


def _laggings(policy: PolicyRun, language: str) -> list[Laggings | None]:
    return [
        laggings(one.translation, n_reference_units(one.reference, language))
        if one.translation.delays
        else None
        for one in policy.sentences
    ]
