"""What case and punctuation are worth: BLEU of captions with them, without, and with them restored.

The lines of the meeting set are translated word by word as they are written; in small letters
without punctuation, as a recogniser tells them that knows neither; and as
``engine.text.punctuation`` writes these, a pause behind each line. Then all lines are restored as
one running text without any pause, and the ends of sentences and the case of words are counted.

With ``--wrong`` the words are misheard first, at a rate of errors: six in ten become another word
that sounds alike (by espeak-ng's sounds, among the words of our sentences), a quarter are left out,
the rest gain a word. The shares are an assumption. Each rate is drawn three times.

    python -m benchmarks.listening.punctuation --wrong 0.05 0.15
"""

import argparse
import functools
import random
from collections.abc import Callable, Sequence
from pathlib import Path

from app.cli.score import score_translations
from benchmarks.listening.kinds import translator
from engine.text.punctuation import Punctuation, SentenceMarks, punctuation_for
from engine.translation.feed import translate_lines
from tests.support.sounds import n_edits
from training.research.speech.espeak import phonemes

_MEETINGS = Path(__file__).parents[1] / "meetings" / "en-de.tsv"
_SENTENCES = Path(__file__).parents[1] / "sentences.en"
_OTHERWISE, _LEFT_OUT = 0.6, 0.25  # of the errors
_NEAREST = 3  # words that sound alike, of which one is drawn
_SEEDS = 3
_MARKS = ",;:.!?\"'“”()"
COLUMNS = ("lines", "words", "as written", "neither case nor punctuation", "restored")
MISHEARD = ("drawn wrong %", "draw", "wrong %", "as recognised", "restored")
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


def sounding_alike(lexicon: Sequence[str], rng: random.Random) -> Callable[[str], str]:
    """Return what gives another word for a word, that sounds like it."""
    sounds = {word: phonemes(word) for word in sorted(set(lexicon))}

    @functools.cache
    def nearest(word: str) -> Sequence[str]:
        said = sounds.get(word) or phonemes(word)
        near = [
            (n_edits(said, heard), other)
            for other, heard in sounds.items()
            if other != word and abs(len(heard) - len(said)) <= 1
        ]
        return [other for _, other in sorted(near)[:_NEAREST]] or [word]

    return lambda word: rng.choice(nearest(word))


def misheard(
    words: Sequence[str], rate: float, rng: random.Random, alike: Callable[[str], str]
) -> list[str]:
    """Return words as a recogniser tells them that errs at a rate."""
    told = list[str]()
    for word in words:
        share = rng.random() / rate
        if share >= 1:
            told.append(word)
        elif share < _OTHERWISE:
            told.append(alike(word))
        elif share >= _OTHERWISE + _LEFT_OUT:
            told += [word, alike(word)]
    return told


def measure_misheard(
    heard: Sequence[Sequence[str]],
    references: Sequence[str],
    rates: Sequence[float],
    it: Punctuation,
) -> None:
    """Print BLEU of captions of words that were misheard."""
    print(f"| {' | '.join(MISHEARD)} |\n{'|---' * len(MISHEARD)}|")
    lines = [*_SENTENCES.read_text(encoding="utf-8").splitlines(), *map(" ".join, heard)]
    lexicon = [word for line in lines for word in bare(line) if word.isalpha()]
    n_words = sum(map(len, heard))
    for rate in rates:
        for seed in range(_SEEDS):
            rng = random.Random(seed)
            alike = sounding_alike(lexicon, rng)
            told = [misheard(words, rate, rng, alike) for words in heard]
            wrong = sum(map(n_edits, heard, told)) / n_words
            raw = bleu([" ".join(words) for words in told], references)
            written = bleu([restored(SentenceMarks(it), words) for words in told], references)
            row = (
                f"{100 * rate:g}",
                str(seed),
                f"{100 * wrong:.1f}",
                f"{raw:.1f}",
                f"{written:.1f}",
            )
            print(f"| {' | '.join(row)} |", flush=True)


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
    parser.add_argument("--wrong", type=float, nargs="+", default=[], help="rates of word errors")
    given = parser.parse_args()
    rows = [line.split("\t") for line in _MEETINGS.read_text(encoding="utf-8").splitlines()]
    sources = [row[0] for row in rows][: given.lines]
    references = [row[1] for row in rows][: given.lines]
    english = punctuation_for("en")
    if english is None:
        parser.error("there are no weights for English: make them by surtitle-train punctuation")
    heard = [bare(line) for line in sources]
    if given.wrong:
        measure_misheard(heard, references, given.wrong, english)
        return
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
