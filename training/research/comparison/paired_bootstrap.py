"""Significance of a difference between two systems: paired bootstrap, for quality and lagging.

Both systems translated the same sentences. Sentences are drawn with replacement, as many as there
are, many times; both systems are scored on each draw (Koehn 2004,
https://aclanthology.org/W04-3250). The results, for the second system minus the first:

* the difference on all sentences;
* the interval from the 2.5th to the 97.5th percentile of the drawn differences;
* a two-sided p: the share of drawn differences at least as far from the observed difference as that
  is from 0 (Efron and Tibshirani 1993, chapter 16); the observed one counts, so p is never 0.

sacreBLEU scores quality from its statistics of each sentence, on the draws that ``sacrebleu
--paired-bs`` makes with the same seed. Its own p is reported beside ours as a check, but do not
rely on it: it compares absolute values, which makes it about half as large as a two-sided p, and
reports a difference between two equal systems.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sacrebleu.metrics.base import Metric

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class BootstrapSettings:
    """Number of draws, and their seed."""

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
        n_sentences: number of compared sentences.
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
        p_sacrebleu: p of ``sacrebleu --paired-bs`` for these sentences, samples and seed.
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
    """
    first, second = hypotheses
    return compare_runs(metric, ([first], [second]), references, settings)


def compare_runs(
    metric: Metric,
    hypotheses: tuple[Sequence[Sequence[str]], Sequence[Sequence[str]]],
    references: Sequence[str],
    settings: BootstrapSettings,
) -> QualityDifference:
    """Compare two systems that were each run several times, for example with several seeds.

    The runs of a system count as one text; a sentence is drawn with all its translations, so that
    more seeds do not pass for more sentences.

    Args:
        metric: as for ``compare_quality``.
        hypotheses: runs of the first system and of the second.
        references: one for each sentence.
        settings: the draws.
    """
    n_sentences = _common_length(*hypotheses[0], *hypotheses[1], references)

    def statistics(runs: Sequence[Sequence[str]]) -> Values:
        of_runs = [metric._extract_corpus_statistics(one, [references]) for one in runs]
        summed: Values = np.array(of_runs, dtype=np.float64).sum(axis=0)
        return summed

    first, second = map(statistics, hypotheses)

    def score(statistics: Values) -> float:
        return float(metric._compute_score_from_stats(statistics.tolist()).score)

    observed = score(second.sum(axis=0)) - score(first.sum(axis=0))
    draws = draw_sentences(n_sentences, settings)
    times = np.stack([np.bincount(draw, minlength=n_sentences) for draw in draws])
    pairs = zip(times @ first, times @ second, strict=True)  # whole numbers: the sums are exact
    drawn = np.array([score(after) - score(before) for before, after in pairs])
    low, high, p = _judge(observed, drawn)
    signature = metric.get_signature()
    signature.update("seed", str(settings.seed))
    signature.update("bs", settings.n_samples)
    return QualityDifference(
        difference=observed,
        low=low,
        high=high,
        p=p,
        n_sentences=n_sentences,
        p_sacrebleu=_sacrebleu_p(observed, drawn),
        signature=str(signature),
    )


def compare_means(
    first: Sequence[float | None], second: Sequence[float | None], settings: BootstrapSettings
) -> Difference | None:
    """Compare the means of a score of single sentences, such as LAAL.

    A sentence without output has no lagging; it is left out for both systems. So the difference may
    not equal that of the systems' own means, each of which leaves out its own silent sentences.

    Args:
        first: a value for each sentence, or None.
        second: likewise, in the same order.
        settings: the draws.

    Returns:
        the difference; None if no sentence has both values.
    """
    _common_length(first, second)
    pairs = zip(first, second, strict=True)
    differences = np.array(
        [after - before for before, after in pairs if before is not None and after is not None],
        dtype=np.float64,
    )
    if not len(differences):
        return None
    observed = float(differences.mean())
    draws = draw_sentences(len(differences), settings)
    low, high, p = _judge(observed, differences[draws].mean(axis=1))
    return Difference(difference=observed, low=low, high=high, p=p, n_sentences=len(differences))


def draw_sentences(n_sentences: int, settings: BootstrapSettings) -> npt.NDArray[np.int64]:
    """Draw sentences with replacement, as sacreBLEU does.

    Returns:
        int64, shape (samples, sentences): numbers of sentences, from 0.
    """
    generator = np.random.default_rng(settings.seed)
    return generator.choice(n_sentences, size=(settings.n_samples, n_sentences), replace=True)


def _judge(observed: float, drawn: Values) -> tuple[float, float, float]:
    """Compute the interval's ends and p."""
    low, high = np.percentile(drawn, [2.5, 97.5])
    n_as_far = int(np.sum(np.abs(drawn - observed) >= abs(observed)))
    return float(low), float(high), (n_as_far + 1) / (len(drawn) + 1)


def _sacrebleu_p(observed: float, drawn: Values) -> float:
    absolute = np.abs(drawn)
    return (int(np.sum(absolute - absolute.mean() > abs(observed))) + 1) / (len(drawn) + 1)


def _common_length(*columns: Sequence[object]) -> int:
    lengths = {len(column) for column in columns}
    if len(lengths) != 1 or lengths == {0}:
        msg = f"the same sentences were expected, at least one, got {sorted(lengths)}"
        raise ValueError(msg)
    return lengths.pop()
