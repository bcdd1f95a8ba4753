"""Score translations against references: quality by sacreBLEU, lagging, cost. Pure functions.

The target's unit of lagging is the word between blanks, or the character where a language is
written without blanks. Means are taken over sentences, as SimulEval takes them: a sentence without
output has no lagging, so it is counted and left out.
"""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from engine.latency import average_lagging, length_adaptive_average_lagging
from training.errors import TrainingError
from training.writing import WRITINGS

_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Translation:
    """One source line, translated word by word.

    Attributes:
        index: of the line, from 0.
        source: its words.
        hypothesis: what was written, blanks made single.
        delays: for each target unit, source words read when its last character was written.
        ms: for each source word, milliseconds from its arrival to the end of what it set off.
        tokens_fed: rows computed, those of probes and recomputed ones among them.
        tokens_recomputed: rows computed again; 0 unless the engine is broken.
        forwards: forward passes.
        probes: wait-k rows computed to look at their successor, then taken back.
    """

    index: int
    source: tuple[str, ...]
    hypothesis: str
    delays: tuple[int, ...]
    ms: tuple[float, ...]
    tokens_fed: int
    tokens_recomputed: int
    forwards: int
    probes: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Corpus scores of sacreBLEU, with what one must know to compute them again."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores of one policy over a test set: an object of ``summary.json``.

    Attributes:
        al: mean average lagging in source words; None where nothing was written.
        laal: mean length-adaptive average lagging, likewise.
        ms_per_word_p50: median of ``Translation.ms`` over all source words.
        ms_per_word_p95: 95th percentile, likewise.
        tokens_fed: sum over all sentences; the sums below likewise.
        n_empty: sentences without output.
    """

    policy: str
    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str
    al: float | None
    laal: float | None
    ms_per_word_p50: float
    ms_per_word_p95: float
    tokens_fed: int
    tokens_recomputed: int
    forwards: int
    probes: int
    n_sentences: int
    n_empty: int


def score(
    policy: str, translations: Sequence[Translation], references: Sequence[str], language: str
) -> Scores:
    """Score what a policy wrote.

    Args:
        policy: its name.
        translations: at least one.
        references: one for each of them, in the same order.
        language: two-letter code of the target.

    Raises:
        TrainingError: sacreBLEU lacks its tokenizer for the language.
    """
    quality = measure_quality([one.hypothesis for one in translations], references, language)
    laggings = [
        lagging(one, reference, language)
        for one, reference in zip(translations, references, strict=True)
        if one.delays
    ]
    ms = [value for one in translations for value in one.ms]
    return Scores(
        policy=policy,
        bleu=quality.bleu,
        bleu_signature=quality.bleu_signature,
        chrf=quality.chrf,
        chrf_signature=quality.chrf_signature,
        al=_mean([al for al, _ in laggings]),
        laal=_mean([laal for _, laal in laggings]),
        ms_per_word_p50=percentile(ms, 50),
        ms_per_word_p95=percentile(ms, 95),
        tokens_fed=sum(one.tokens_fed for one in translations),
        tokens_recomputed=sum(one.tokens_recomputed for one in translations),
        forwards=sum(one.forwards for one in translations),
        probes=sum(one.probes for one in translations),
        n_sentences=len(translations),
        n_empty=sum(not one.delays for one in translations),
    )


def measure_quality(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Quality:
    """Compute corpus BLEU and chrF2 of detokenised text.

    Raises:
        TrainingError: sacreBLEU lacks its tokenizer for the language.
    """
    tokenizer = _TOKENIZERS.get(language, "13a")
    try:
        bleu = BLEU(tokenize=tokenizer)
    except (ImportError, RuntimeError) as error:
        name = tokenizer.removesuffix("-mecab")
        msg = f"BLEU for {language} needs more of sacreBLEU: pip install 'sacrebleu[{name}]'"
        raise TrainingError(msg) from error
    chrf = CHRF()
    bleu_score = bleu.corpus_score(hypotheses, [references]).score
    chrf_score = chrf.corpus_score(hypotheses, [references]).score
    return Quality(
        bleu=bleu_score,
        bleu_signature=str(bleu.get_signature()),
        chrf=chrf_score,
        chrf_signature=str(chrf.get_signature()),
    )


def lagging(translation: Translation, reference: str, language: str) -> tuple[float, float]:
    """Compute AL and LAAL of a translation that is not empty."""
    length = len(translation.source)
    n_units = n_reference_units(reference, language)
    return (
        average_lagging(translation.delays, length, n_units),
        length_adaptive_average_lagging(translation.delays, length, n_units),
    )


def n_reference_units(reference: str, language: str) -> int:
    """Count a reference's words or characters as SimulEval does: split at single blanks.

    So two blanks in a row count a word between them, and an empty reference is one word long.
    """
    return len(reference.split(" ")) if is_spaced(language) else max(1, len(reference.strip()))


def is_spaced(language: str) -> bool:
    """Tell whether a language puts blanks between words; an unknown one is taken to."""
    return language not in WRITINGS or WRITINGS[language].spaced


def percentile(values: Sequence[float], percent: float) -> float:
    """Interpolate between the nearest ranks; 0 where there are no values."""
    return float(np.percentile(values, percent)) if values else 0.0


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None
