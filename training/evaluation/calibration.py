"""Calibrate how sure a model is of a caption: a logistic curve over the mean log-probability.

A caption is good when its chrF against the reference is at least ``GOOD_CHRF``. The curve is
fitted by Newton's method; no other parameters are tuned.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.chrf import CHRF

from engine.models.model_card import Calibration
from training.errors import TrainingError
from training.evaluation.runs import Sentence

GOOD_CHRF = 45.0
_N_STEPS = 50
_RIDGE = 1e-3
"""Keeps the curve finite where all captions are good, or none is."""

_LEAST = 50


def calibrate(sentences: Sequence[Sentence], threshold: float) -> Calibration:
    """Fit the curve to captions with references.

    Args:
        threshold: see ``Calibration``.
    """
    noted = [one for one in sentences if one.translation.log_probability < 0]
    if len(noted) < _LEAST:
        msg = (
            f"expected at least {_LEAST} captions with a log-probability, got {len(noted)}: "
            "run evaluate again with this version"
        )
        raise TrainingError(msg)
    features = np.array([[one.translation.log_probability, 1.0] for one in noted])  # (N, 2)
    weights = _fit(features, np.array([is_good(one) for one in noted], dtype=float))
    slope, offset = map(float, weights)
    if slope <= 0:
        msg = f"likelier captions of this run are no better (slope {slope:.2f}): use a larger set"
        raise TrainingError(msg)
    return Calibration(slope=round(slope, 3), offset=round(offset, 3), threshold=threshold)


def is_good(sentence: Sentence) -> bool:
    """Return whether a caption is close enough to its reference to be understood."""
    score = CHRF().sentence_score(sentence.translation.hypothesis, [sentence.reference])
    return float(score.score) >= GOOD_CHRF


def calibration_error(
    calibration: Calibration, sentences: Sequence[Sentence], n_bins: int = 10
) -> float:
    """Return the expected calibration error (Guo et al. 2017, https://arxiv.org/abs/1706.04599).

    Args:
        n_bins: of equal width.
    """
    said = np.array([calibration.probability(one.translation.log_probability) for one in sentences])
    good = np.array([is_good(one) for one in sentences], dtype=float)
    bins = np.minimum((said * n_bins).astype(int), n_bins - 1)
    gaps = [abs(float(said[bins == n].sum() - good[bins == n].sum())) for n in range(n_bins)]
    return sum(gaps) / len(sentences)


def marked(
    calibration: Calibration, sentences: Sequence[Sentence]
) -> tuple[list[Sentence], list[Sentence]]:
    """Part sentences into those that are marked as doubtful and the others."""
    doubtful, sure = list[Sentence](), list[Sentence]()
    for one in sentences:
        is_low = calibration.confidence(one.translation.log_probability).is_low
        (doubtful if is_low else sure).append(one)
    return doubtful, sure


def _fit(features: NDArray[np.float64], good: NDArray[np.float64]) -> NDArray[np.float64]:
    """Maximise the likelihood of a logistic regression.

    Args:
        features: shape (N, D).
        good: shape (N,), 0 or 1.

    Returns:
        weights, shape (D,).
    """
    weights = np.zeros(features.shape[1])
    for _ in range(_N_STEPS):
        likely = 1 / (1 + np.exp(-features @ weights))  # (N,)
        gradient = features.T @ (good - likely) - _RIDGE * weights
        curvature = (features.T * (likely * (1 - likely))) @ features
        weights += np.linalg.solve(curvature + _RIDGE * np.eye(len(weights)), gradient)
    return weights
