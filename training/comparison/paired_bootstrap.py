"""Tell a difference between two systems from chance: the paired bootstrap, for quality and lagging.

Both systems translated the same sentences. Sentences are drawn with replacement, as many as there
are, again and again; each time both systems are scored on the same draw (Koehn 2004,
https://aclanthology.org/W04-3250). What comes out, for the second system minus the first:

* the difference on all sentences;
* the interval from the 2.5th to the 97.5th percentile of the drawn differences;
* a two-sided p: how often a drawn difference lies at least as far from the difference found as
  that lies from 0 (Efron and Tibshirani 1993, chapter 16), the found one counted along, so never 0.

Quality is scored by sacreBLEU from the statistics it keeps of each sentence, on the draws
``sacrebleu --paired-bs`` makes with the same seed. sacreBLEU's own p is handed on beside ours, so
that both can be checked, but not relied on: it compares absolute values, which makes it about half
as large as a two-sided p, and calls two equal systems different.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.base import Metric

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSettings:
    """How often sentences are drawn, and from which start."""

    n_samples: int
    seed: int

    def __post_init__(self) -> None:
        if self.n_samples < 1:
            msg = f"a bootstrap needs at least one sample, got {self.n_samples}"
            raise ValueError(msg)
        if self.seed < 0:
            msg = f"a seed is 0 or more, got {self.seed}"
            raise ValueError(msg)


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """The second system minus the first.

    Attributes:
        difference: on the sentences as they are.
        low: lower end of the 95 % interval.
        high: its upper end.
        p: two-sided, above 0 and at most 1.
        n_sentences: how many were compared.
    """

    difference: float
    low: float
    high: float
    p: float
    n_sentences: int


@dataclass(frozen=True, slots=True, kw_only=True)
class QualityDifference(Difference):
    """A difference in quality.

    Attributes:
        p_sacrebleu: what ``sacrebleu --paired-bs`` prints for these sentences, samples and seed.
        signature: sacreBLEU's, with samples and seed.
    """

    p_sacrebleu: float
    signature: str


def compare_quality(
    metric: Metric,
    hypotheses: tuple[Sequence[str], Sequence[str]],
    references: Sequence[str],
    settings: BootstrapSettings,
) -> QualityDifference:
    """Compare two systems by a corpus metric of sacreBLEU.

    Args:
        metric: for example ``BLEU()``.
        hypotheses: of the first system and of the second, in the order of the references.
        references: one for each sentence, at least one.
        settings: the draws.

    Raises:
        ValueError: the numbers of sentences differ, or there is none.
    """
    n_sentences = _common_length(*hypotheses, references)
    first, second = (
        np.array(metric._extract_corpus_statistics(one, [references]), dtype=np.float64)
        for one in hypotheses
    )

    def score(statistics: Values) -> float:
        return float(metric._compute_score_from_stats(statistics.tolist()).score)

    found = score(second.sum(axis=0)) - score(first.sum(axis=0))
    draws = draw_sentences(n_sentences, settings)
    times = np.stack([np.bincount(draw, minlength=n_sentences) for draw in draws])
    pairs = zip(times @ first, times @ second, strict=True)  # whole numbers: the sums are exact
    drawn = np.array([score(after) - score(before) for before, after in pairs])
    low, high, p = _judge(found, drawn)
    signature = metric.get_signature()
    signature.update("seed", str(settings.seed))
    signature.update("bs", settings.n_samples)
    return QualityDifference(
        difference=found,
        low=low,
        high=high,
        p=p,
        n_sentences=n_sentences,
        p_sacrebleu=_sacrebleu_p(found, drawn),
        signature=str(signature),
    )


def compare_means(
    first: Sequence[float | None], second: Sequence[float | None], settings: BootstrapSettings
) -> Difference | None:
    """Compare the means of a score that each sentence has of its own, such as LAAL.

    A sentence without output has no lagging. Where either system lacks the value, the sentence is
    left out for both: like is compared with like. So the difference found may be another than that
    of the two systems' own means, each of which leaves out its own silent sentences only.

    Args:
        first: a value for each sentence, None where there is none.
        second: likewise, in the same order.
        settings: the draws.

    Returns:
        the difference; None where no sentence has both values.

    Raises:
        ValueError: the numbers of sentences differ, or there is none.
    """
    _common_length(first, second)
    pairs = zip(first, second, strict=True)
    differences = np.array(
        [after - before for before, after in pairs if before is not None and after is not None],
        dtype=np.float64,
    )
    if not len(differences):
        return None
    found = float(differences.mean())
    draws = draw_sentences(len(differences), settings)
    low, high, p = _judge(found, differences[draws].mean(axis=1))
    return Difference(difference=found, low=low, high=high, p=p, n_sentences=len(differences))


def draw_sentences(n_sentences: int, settings: BootstrapSettings) -> npt.NDArray[np.int64]:
    """Draw sentences with replacement, as sacreBLEU does.

    Returns:
        int64, shape (samples, sentences): numbers of sentences, from 0.
    """
    generator = np.random.default_rng(settings.seed)
    return generator.choice(n_sentences, size=(settings.n_samples, n_sentences), replace=True)


def _judge(found: float, drawn: Values) -> tuple[float, float, float]:
    """Compute the interval's ends and p."""
    low, high = np.percentile(drawn, [2.5, 97.5])
    n_as_far = int(np.sum(np.abs(drawn - found) >= abs(found)))
    return float(low), float(high), (n_as_far + 1) / (len(drawn) + 1)


def _sacrebleu_p(found: float, drawn: Values) -> float:
    absolute = np.abs(drawn)
    return (int(np.sum(absolute - absolute.mean() > abs(found))) + 1) / (len(drawn) + 1)


def _common_length(*columns: Sequence[object]) -> int:
    lengths = {len(column) for column in columns}
    if len(lengths) != 1 or lengths == {0}:
        msg = f"the same sentences were expected, at least one, got {sorted(lengths)}"
        raise ValueError(msg)
    return lengths.pop()
