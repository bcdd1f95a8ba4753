"""Measure the quality of translations by sacreBLEU, with its signatures."""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from engine.errors import ScoringError

_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Corpus scores of sacreBLEU, with the signatures that make them reproducible."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


def measure_quality(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Quality:
    """Compute corpus BLEU and chrF2 of detokenised text.

    Where no reference has four words, BLEU counts the runs that there are, and its signature says
    ``eff:yes``: as usual it would be 0 for perfect translations, too.

    Raises:
        ScoringError: sacreBLEU lacks its tokenizer for the language.
    """
    bleu, chrf = make_bleu(language), CHRF()
    bleu_score = bleu.corpus_score(hypotheses, [references])
    if not bleu_score.totals[-1] and not bleu.corpus_score(references, [references]).totals[-1]:
        bleu = make_bleu(language, effective_order=True)
        bleu_score = bleu.corpus_score(hypotheses, [references])
    chrf_score = chrf.corpus_score(hypotheses, [references]).score
    return Quality(
        bleu=bleu_score.score,
        bleu_signature=str(bleu.get_signature()),
        chrf=chrf_score,
        chrf_signature=str(chrf.get_signature()),
    )


def make_bleu(language: str, *, effective_order: bool = False) -> BLEU:
    """Return BLEU with the usual tokenizer of a language; raise ScoringError if it is missing."""
    tokenizer = _TOKENIZERS.get(language, "13a")
    try:
        return BLEU(tokenize=tokenizer, effective_order=effective_order)
    except (ImportError, RuntimeError) as error:
        name = tokenizer.removesuffix("-mecab")
        msg = f"BLEU for {language} needs more of sacreBLEU: pip install 'sacrebleu[{name}]'"
        raise ScoringError(msg) from error
