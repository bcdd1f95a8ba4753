"""What case and punctuation are worth: BLEU of captions with them, without, and with them restored.

The lines of the meeting set are translated word by word as they are written; in small letters
without punctuation, as a recogniser tells them that knows neither; and as
``engine.text.punctuation`` writes these, a pause behind each line. Then all lines are restored as
one running text without any pause, and the ends of sentences and the case of words are counted.

    python -m benchmarks.listening.punctuation
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from app.cli.score import score_translations
from benchmarks.listening.kinds import translator
from engine.text.punctuation import SentenceMarks, punctuation_for
from engine.translation.feed import translate_lines

_MEETINGS = Path(__file__).parents[1] / "meetings" / "en-de.tsv"
_MARKS = ",;:.!?\"'“”()"
COLUMNS = ("lines", "words", "as written", "neither case nor punctuation", "restored")
RUNNING = ("sentence ends: precision %", "recall %", "capitals right %", "words that waited %")


def bare(text: str) -> list[str]:
    """Return the words as a recogniser without case and punctuation tells them."""
    words = (word.strip(_MARKS).lower() for word in text.split())
    return [
        "I" + word[1:] if word == "i" or word.startswith("i'") else word for word in words if word
    ]


def restored(marks: SentenceMarks, words: Sequence[str]) -> str:
    """Return the words with case and punctuation, a pause behind them."""
    written = [told for word in words for told in marks.feed(word)]
    return " ".join([*written, *marks.pause()])


def bleu(lines: Sequence[str], references: Sequence[str]) -> float:
    """Return BLEU of the captions of lines."""
    found = list(translate_lines(translator, enumerate(lines)))
    return score_translations(found, references, "de").bleu


def running(marks: SentenceMarks, lines: Sequence[str]) -> tuple[float, float, float, float]:
    """Count what is right where no pause tells anything."""
    written = [word for line in lines for word in line.split() if bare(word)]
    told, n_late = list[str](), 0
    for n, word in enumerate((word for line in lines for word in bare(line)), 1):
        told += marks.feed(word)
        n_late += len(told) < n
    told += marks.pause()
    pairs = list(zip(written, told, strict=True))
    ends = [(a.rstrip("\"'”)")[-1] in ".!?", b[-1] in ".?") for a, b in pairs]
    both = sum(a and b for a, b in ends)
    capitals = [a.strip(_MARKS)[0].isupper() == b[0].isupper() for a, b in pairs]
    precision, recall = both / sum(b for _, b in ends), both / sum(a for a, _ in ends)
    shares = (precision, recall, sum(capitals) / len(pairs), n_late / len(pairs))
    return tuple(100 * share for share in shares)  # type: ignore[return-value]


def main() -> None:
    """Measure, and print two tables."""
    parser = argparse.ArgumentParser(prog="benchmarks.listening.punctuation", description=__doc__)
    parser.add_argument("--lines", type=int, help="the first ones only")
    given = parser.parse_args()
    rows = [line.split("\t") for line in _MEETINGS.read_text(encoding="utf-8").splitlines()]
    sources = [row[0] for row in rows][: given.lines]
    references = [row[1] for row in rows][: given.lines]
    english = punctuation_for("en")
    if english is None:
        parser.error("there are no weights for English: make them by surtitle-train punctuation")
    heard = [bare(line) for line in sources]
    variants = (
        sources,
        [" ".join(words) for words in heard],
        [restored(SentenceMarks(english), words) for words in heard],
    )
    scores = [f"{bleu(lines, references):.1f}" for lines in variants]
    for columns, values in (
        (COLUMNS, [str(len(sources)), str(sum(map(len, heard))), *scores]),
        (RUNNING, [f"{share:.1f}" for share in running(SentenceMarks(english), sources)]),
    ):
        print(f"| {' | '.join(columns)} |\n{'|---' * len(columns)}|\n| {' | '.join(values)} |\n")


if __name__ == "__main__":
    main()
