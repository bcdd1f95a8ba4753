"""Score what a policy translated: quality, lagging, steadiness, cost, loops. Pure functions.

A calibration is a logistic curve from the mean log-probability of a caption to how likely it is
good: its chrF against the reference at least ``GOOD_CHRF``. It is fitted by Newton's method.

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
from numpy.typing import NDArray
from sacrebleu.metrics.chrf import CHRF

from engine.models.model_card import Calibration
from training.errors import TrainingError
from training.evaluation.runs import Sentence

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
