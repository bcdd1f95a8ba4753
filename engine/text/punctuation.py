"""Add case and punctuation to words of a recogniser that knows neither; no word is changed.

For every word a linear model scores what stands behind it (nothing, a comma, a full stop or a
question mark) and how it is written (small, with a capital, in capitals), by the words around it,
the beginning of its sentence and how long that is. Most words are certain without the next one; the
others wait for it, or for a pause. ``surtitle-train punctuation`` makes the weights.
"""

import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

UNKNOWN, PAUSE = "<?>", "<.>"
"""Stand for the next word where it has not been heard, or is not said for a while."""

MARKS = ("", ",", ".", "?")
"""What stands behind a word, in the order of the scores; how it is written comes after them."""

N_SCORES = len(MARKS) + 3
N_ROWS = 1 << 16
"""Rows of weights, which features share by their hashes."""

_CAPITAL, _UPPER = 1, 2
_STOP, _QUESTION = 2, 3
_LONGEST = 12  # words since the beginning of a sentence; longer ones are alike
_OVERLONG = 30  # words after which a weaker sign ends a sentence
_CERTAIN, _WEAK = 0.95, 0.15
_FOLDER = Path(__file__).parents[2] / "assets" / "punctuation"

Hashes = npt.NDArray[np.uint64]
_MIX = tuple(np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9))


def hash_of(word: str) -> int:
    return zlib.crc32(word.lower().encode())


def end_hash_of(word: str) -> int:
    return zlib.crc32(b"~" + word.lower()[-3:].encode())


def rows(
    before: tuple[Hashes, Hashes],
    word: tuple[Hashes, Hashes],
    after: tuple[Hashes, Hashes],
    first: Hashes,
    n_since: npt.NDArray[np.int64],
) -> npt.NDArray[np.int64]:
    """Return the rows of weights that speak of words, shape (n, n_features).

    ``first`` is the first word of the sentence, ``n_since`` the words of it before each.
    """
    last, second = before
    it, end = word
    following, end_of_following = after
    n = np.minimum(n_since, _LONGEST).astype(np.uint64)
    nothing = np.zeros_like(it)
    pairs = (
        *((it, nothing), (last, nothing), (following, nothing), (end, nothing)),
        *((end_of_following, nothing), (last, it), (it, following), (last, following)),
        *((second, last), (first, following), (first, n), (n, nothing), (first, it)),
    )
    a, b = np.array(pairs).swapaxes(0, 1)
    numbers = np.arange(1, len(pairs) + 1, dtype=np.uint64)[:, None]
    with np.errstate(over="ignore"):
        mixed: Hashes = a * _MIX[0] + b * _MIX[1] + numbers * _MIX[2]
    return ((mixed.T >> np.uint64(40)) % np.uint64(N_ROWS)).astype(np.int64)


class Punctuation:
    """The weights for a language; sentences of several lanes use them."""

    def __init__(self, weights: npt.NDArray[np.int8], scale: float) -> None:
        """Take weights, shape (``N_ROWS``, ``N_SCORES``), and what one of them counts."""
        self._weights = weights
        self._scale = scale

    def chances(
        self, before: Sequence[str], word: str, after: str, first: str, n_since: int
    ) -> tuple[npt.NDArray[np.float64], int]:
        """Return how likely each of ``MARKS`` stands behind a word, and how it is written."""

        def one(text: str) -> Hashes:
            return np.array([hash_of(text)], np.uint64)

        def end(text: str) -> Hashes:
            return np.array([end_hash_of(text)], np.uint64)

        last, second = (before[-1] if before else "", before[-2] if len(before) > 1 else "")
        found = rows(
            (one(last), one(second)),
            (one(word), end(word)),
            (one(after), end(after)),
            one(first),
            np.array([n_since]),
        )
        scores = self._weights[found[0]].sum(axis=0, dtype=np.int64) * self._scale
        of_marks = np.exp(scores[: len(MARKS)] - scores[: len(MARKS)].max())
        return of_marks / of_marks.sum(), int(scores[len(MARKS) :].argmax())


def punctuation_for(language: str) -> Punctuation | None:
    """Load the weights for a language; None if the program has none."""
    path = _FOLDER / f"{language}.npz"
    if not language.isalpha() or not path.is_file():
        return None
    with np.load(path, allow_pickle=False) as file:
        return Punctuation(file["weights"], float(file["scale"]))


class SentenceMarks:
    """Feed the words of a speaker, get them back in order, written as sentences."""

    def __init__(self, punctuation: Punctuation) -> None:
        self._punctuation = punctuation
        self._sentence: list[str] = []  # its words so far, as they were heard
        self._before: list[str] = []
        self._waiting = ""

    def feed(self, word: str) -> list[str]:
        """Take a further word; return those that are certain now, at most two."""
        written = self.pause(after=word)
        chances, form = self._chances(word, UNKNOWN)
        if chances[0] >= _CERTAIN and len(self._sentence) < _OVERLONG:
            return [*written, self._written(word, form)]
        self._waiting = word
        return written

    def pause(self, after: str = PAUSE, *, ends: bool = False) -> list[str]:
        """Return the word that waits, if one does: nothing is said for a while.

        With ``ends`` the speech is over, so that a word which may end a sentence does.
        """
        word, self._waiting = self._waiting, ""
        if not word:
            return []
        chances, form = self._chances(word, after)
        mark = int(chances.argmax())
        is_overlong = len(self._sentence) >= _OVERLONG
        if ends or (is_overlong and chances[_STOP] + chances[_QUESTION] >= _WEAK):
            mark = _STOP if chances[_STOP] >= chances[_QUESTION] else _QUESTION
        return [self._written(word, form, mark)]

    def _chances(self, word: str, after: str) -> tuple[npt.NDArray[np.float64], int]:
        first = self._sentence[0] if self._sentence else word
        return self._punctuation.chances(self._before, word, after, first, len(self._sentence))

    def _written(self, word: str, form: int, mark: int = 0) -> str:
        text = word.upper() if form == _UPPER else word
        if form == _CAPITAL or not self._sentence:
            text = text[:1].upper() + text[1:]
        if text.casefold() != word.casefold():
            text = word
        self._before = [*self._before, word][-2:]
        self._sentence.append(word)
        if mark in (_STOP, _QUESTION):
            self._sentence = []
        return text + MARKS[mark]
