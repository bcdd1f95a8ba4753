"""BLEU by sacreBLEU, with the tokenizer that papers use for a language."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sacrebleu.metrics.bleu import BLEU

_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab", "ko": "ko-mecab"}


def make_bleu(language: str) -> "BLEU":
    """Make BLEU for a language.

    Raises:
        ValueError: sacreBLEU lacks its tokenizer.
    """
    from sacrebleu.metrics.bleu import BLEU  # noqa: PLC0415  slow, and only where asked

    tokenizer = _TOKENIZERS.get(language, "13a")
    try:
        return BLEU(tokenize=tokenizer)
    except (ImportError, RuntimeError) as error:
        name = tokenizer.removesuffix("-mecab")
        msg = f"BLEU for {language} needs more of sacreBLEU: pip install 'sacrebleu[{name}]'"
        raise ValueError(msg) from error
