"""Quality of translations by sacreBLEU, with signatures, so that others can check."""

from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF

from engine.errors import ScoringError

_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Quality:
    """Corpus scores of sacreBLEU, with what one must know to compute them again."""

    bleu: float
    bleu_signature: str
    chrf: float
    chrf_signature: str


def measure_quality(hypotheses: Sequence[str], references: Sequence[str], language: str) -> Quality:
    """Compute corpus BLEU and chrF2 of detokenised text.

    Raises:
        ScoringError: sacreBLEU lacks its tokenizer for the language.
    """
    bleu, chrf = make_bleu(language), CHRF()
    bleu_score = bleu.corpus_score(hypotheses, [references]).score
    chrf_score = chrf.corpus_score(hypotheses, [references]).score
    return Quality(
        bleu=bleu_score,
        bleu_signature=str(bleu.get_signature()),
        chrf=chrf_score,
        chrf_signature=str(chrf.get_signature()),
    )


def make_bleu(language: str) -> BLEU:
    """Make BLEU with the tokenizer that papers use for a language.

    Raises:
        ScoringError: sacreBLEU lacks that tokenizer.
    """
    tokenizer = _TOKENIZERS.get(language, "13a")
    try:
        return BLEU(tokenize=tokenizer)
    except (ImportError, RuntimeError) as error:
        name = tokenizer.removesuffix("-mecab")
        msg = f"BLEU for {language} needs more of sacreBLEU: pip install 'sacrebleu[{name}]'"
        raise ScoringError(msg) from error
