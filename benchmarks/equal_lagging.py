"""Compare BLEU at equal LAAL, with the line between the points of other policies."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from statistics import fmean
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from engine.metrics.quality import make_bleu
from training.research.comparison.paired_bootstrap import BootstrapSettings, draw_sentences

DRAWS = BootstrapSettings(n_samples=1000, seed=1)


class Point(Protocol):
    """A policy on a test set."""

    @property
    def laal(self) -> float:
        """LAAL in source words; NaN for a policy that wrote nothing."""

    @property
    def hypotheses(self) -> Sequence[str]:
        """Its captions, in the order of the lines."""


class Comparison:
    """BLEU of a policy against the line through the points of others, at equal LAAL."""

    def __init__(self, others: Sequence[Point], references: Sequence[str], language: str) -> None:
        self._bleu = make_bleu(language)
        self._references = references
        known = [one for one in others if not math.isnan(one.laal)]
        self._others = sorted(known, key=lambda one: one.laal)
        draws = draw_sentences(len(references), DRAWS)
        self._times = np.stack([np.bincount(draw, minlength=len(references)) for draw in draws])
        everything = np.ones((1, len(references)), dtype=np.int64)
        self._times = np.concatenate([everything, self._times])  # (1 + samples, sentences)
        self._points = [self._drawn(one) for one in self._others]

    def gain(self, *seeds: Point) -> tuple[str, str]:
        """Return the difference of BLEU and its two-sided p; empty beyond the ends of the line.

        Args:
            seeds: the policy, or the same with each seed of its training; means are compared.
        """
        laals, laal = [one.laal for one in self._others], fmean(one.laal for one in seeds)
        if len(laals) < 2 or not laals[0] <= laal <= laals[-1]:
            return "", ""
        after = max(1, bisect_left(laals, laal))
        low, high = laals[after - 1], laals[after]
        share = (laal - low) / (high - low) if high > low else 0.0
        line = (1 - share) * self._points[after - 1] + share * self._points[after]
        differences = np.mean([self._drawn(one) for one in seeds], axis=0) - line
        observed, drawn = differences[0], differences[1:]
        n_as_far = int(np.sum(np.abs(drawn - observed) >= abs(observed)))
        return f"{observed:+.2f}", f"{(n_as_far + 1) / (len(drawn) + 1):.3f}"

    def _drawn(self, point: Point) -> NDArray[np.float64]:
        """Return BLEU of all sentences, then of each draw, shape (1 + samples,)."""
        statistics = np.array(
            self._bleu._extract_corpus_statistics(list(point.hypotheses), [self._references]),
            dtype=np.float64,
        )
        return np.array(
            [
                self._bleu._compute_score_from_stats(summed.tolist()).score
                for summed in self._times @ statistics
            ]
        )
