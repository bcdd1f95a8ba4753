"""How good captions of a file are, and how late: BLEU and chrF of sacreBLEU, lagging in words, WER.

Nothing here translates or recognises; who does hands in what came out. Plain Python.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from app.system.text_io import TextError
from engine.metrics.bleu import make_bleu
from engine.metrics.latency import average_lagging, length_adaptive_average_lagging

_UNSPACED = ("ja", "th", "zh")
_NO_WORD = re.compile(r"[^\w']+")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredLine:
    """A line that was translated word by word.

    Attributes:
        n_words: of the source.
        hypothesis: the whole caption.
        reference: what was expected.
        delays: for each word of the hypothesis (each character, where a language is written without
            blanks) the source words that had come when its last character stood there.
        seconds: of computing.
    """

    n_words: int
    hypothesis: str
    reference: str
    delays: tuple[int, ...]
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class FileScore:
    """Scores of a file; lagging in source words, a mean over the lines that have a caption.

    Attributes:
        bleu, chrf: of the whole, by sacreBLEU.
        signature: of BLEU, so that others can compute it again.
        al: average lagging (Ma et al. 2019).
        laal: length-adaptive average lagging (Papi et al. 2022).
        n_lines: translated.
        n_empty: of these without a caption; left out of the lagging.
        ms_per_word: milliseconds of computing for a source word.
    """

    bleu: float
    chrf: float
    signature: str
    al: float
    laal: float
    n_lines: int
    n_empty: int
    ms_per_word: float


def unit_delays(pieces: Iterable[tuple[int, str]], language: str) -> tuple[str, tuple[int, ...]]:
    """Join the pieces of a caption, and tell when each of its units was complete.

    Args:
        pieces: source words that had come, and what was appended then.
        language: code of the target.

    Returns:
        the caption with single blanks, and the delays of its units.
    """
    text, came = "", list[int]()  # of each character
    for n_words, piece in pieces:
        text += piece
        came += [n_words] * len(piece)
    spans = [match.span() for match in re.finditer(r"\S+", text)]
    if language in _UNSPACED:
        spans = [(at, at + 1) for first, last in spans for at in range(first, last)]
    return " ".join(text.split()), tuple(came[last - 1] for _, last in spans)


def score_lines(lines: Sequence[ScoredLine], language: str) -> FileScore:
    """Score the lines of a file.

    Raises:
        TextError: there are none, or sacreBLEU lacks its tokenizer for the language.
    """
    if not lines:
        msg = "there is nothing to score: name files that have lines"
        raise TextError(msg)
    from sacrebleu.metrics.chrf import CHRF  # noqa: PLC0415  slow, and only where asked

    hypotheses = [line.hypothesis for line in lines]
    references = [[line.reference for line in lines]]
    try:
        bleu = make_bleu(language)
    except ValueError as error:
        raise TextError(str(error)) from error
    laggings = [_lagging(line, language) for line in lines if line.delays and line.n_words]
    n_words = sum(line.n_words for line in lines)
    return FileScore(
        bleu=bleu.corpus_score(hypotheses, references).score,
        chrf=CHRF().corpus_score(hypotheses, references).score,
        signature=str(bleu.get_signature()),
        al=fmean(al for al, _ in laggings) if laggings else 0.0,
        laal=fmean(laal for _, laal in laggings) if laggings else 0.0,
        n_lines=len(lines),
        n_empty=len(lines) - len(laggings),
        ms_per_word=1000 * sum(line.seconds for line in lines) / max(1, n_words),
    )


def _lagging(line: ScoredLine, language: str) -> tuple[float, float]:
    reference = line.reference.split()
    n_units = len("".join(reference)) if language in _UNSPACED else len(reference)
    n_units = max(1, n_units)
    return (
        average_lagging(line.delays, line.n_words, n_units),
        length_adaptive_average_lagging(line.delays, line.n_words, n_units),
    )


def word_error_rate(hypothesis: str, reference: str) -> float:
    """Tell how many words were heard wrongly, for each that was said; 0 is perfect, 1 and more bad.

    Words that are put in, left out or said otherwise (Levenshtein), in lower case and without
    punctuation.

    Raises:
        ValueError: the reference has no word.
    """
    heard, said = _plain_words(hypothesis), _plain_words(reference)
    if not said:
        msg = "a word error rate needs a reference with words"
        raise ValueError(msg)
    costs = list(range(len(heard) + 1))
    for row, word in enumerate(said, start=1):
        diagonal, costs[0] = costs[0], row
        for column, other in enumerate(heard, start=1):
            best = min(costs[column] + 1, costs[column - 1] + 1, diagonal + (word != other))
            diagonal, costs[column] = costs[column], best
    return costs[-1] / len(said)


def _plain_words(text: str) -> list[str]:
    return _NO_WORD.sub(" ", text.lower().replace("’", "'")).split()
