"""Cut the translation of a whole talk to its reference by likeness of words, as OmniSTEval cuts it.

LongYAAL is defined on this cut: SoftSegmenter (Polák et al. 2025, https://arxiv.org/abs/2509.17349)
as OmniSTEval 0.1.10 has it without a tokenizer. Words of both sides are paired in order, so that
their likenesses sum to the most. A pair need not be equal, so the cut holds where few words are
right. Likeness is the share of letters that both words have, of all that either has; a punctuation
mark is never paired with a word. Letters count without case, in compatibility form (NFKC). Where a
language is written without blanks, characters are paired, which are alike or not.

A word without a partner goes to the reference word before it, or to the one after it if that is
more like it, and then the words between follow. OmniSTEval loses a word that can go to neither;
here it goes to the first segment.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

import numpy as np
import numpy.typing as npt

from engine.metrics.units import is_spaced
from training.metrics.resegment import Part

_MARKS = frozenset(".!?,;:-()。—ー")  # in compatibility form
_PAIR, _REFERENCE, _TRANSLATION = range(3)  # whose word a step of the path takes


def soft_resegment(translation: str, references: Sequence[str], language: str) -> list[Part]:
    """Cut a talk's translation; arguments and result as for ``resegment``."""
    spaced = is_spaced(language)
    pattern = re.compile(r"\S+" if spaced else r"\S")
    words = list(pattern.finditer(translation))
    units = [pattern.findall(text.lower()) for text in references]
    segment_of = [number for number, own in enumerate(units) for _ in own]
    likenesses = _Likenesses.of(
        [_plain(unit) for own in units for unit in own],
        [_plain(word.group()) for word in words],
        spaced=spaced,
    )
    chosen = [0 if place is None else segment_of[place] for place in _places(likenesses)]
    counts = Counter(chosen)
    n_words = accumulate((counts[number] for number in range(len(references))), initial=0)
    return [
        Part(
            text=translation[words[start].start() : words[stop - 1].end()] if start < stop else "",
            start=start,
            stop=stop,
        )
        for start, stop in pairwise(n_words)
    ]


def _plain(word: str) -> str:
    return unicodedata.normalize("NFKC", word).lower()


@dataclass(frozen=True, slots=True)
class _Likenesses:
    """How alike each word of the reference is to each of the translation.

    Attributes:
        table: float64, for the words that differ.
        reference: int64, the row of each word of the reference.
        translation: int64, the column of each word of the translation.
    """

    table: npt.NDArray[np.float64]
    reference: npt.NDArray[np.int64]
    translation: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls, reference: Sequence[str], translation: Sequence[str], *, spaced: bool
    ) -> "_Likenesses":
        """Compare all words."""
        rows, columns = list(dict.fromkeys(reference)), list(dict.fromkeys(translation))
        table = _shares_of_letters(rows, columns) if spaced else _equalities(rows, columns)
        marks = [
            np.array([word in _MARKS for word in words], dtype=bool) for words in (rows, columns)
        ]
        table[marks[0][:, None] != marks[1]] = -np.inf
        numbers = [{word: number for number, word in enumerate(words)} for words in (rows, columns)]
        return cls(
            table,
            np.array([numbers[0][word] for word in reference], dtype=np.int64),
            np.array([numbers[1][word] for word in translation], dtype=np.int64),
        )

    def row(self, place: int) -> npt.NDArray[np.float64]:
        """Compare a word of the reference with all of the translation."""
        own: npt.NDArray[np.float64] = self.table[self.reference[place], self.translation]
        return own

    def one(self, place: int | None, word: int) -> float:
        """Compare two words; none is like no word."""
        if place is None:
            return -np.inf
        return float(self.table[self.reference[place], self.translation[word]])


def _shares_of_letters(rows: Sequence[str], columns: Sequence[str]) -> npt.NDArray[np.float64]:
    letters = {
        letter: number for number, letter in enumerate(sorted(set("".join([*rows, *columns]))))
    }
    has = [np.zeros((len(words), len(letters))) for words in (rows, columns)]
    for words, own in zip((rows, columns), has, strict=True):
        for number, word in enumerate(words):
            own[number, [letters[letter] for letter in word]] = 1
    both = has[0] @ has[1].T
    either: npt.NDArray[np.float64] = has[0].sum(1)[:, None] + has[1].sum(1) - both
    return both / either


def _equalities(rows: Sequence[str], columns: Sequence[str]) -> npt.NDArray[np.float64]:
    numbers = {word: number for number, word in enumerate(columns)}
    table = np.zeros((len(rows), len(columns)))
    for number, word in enumerate(rows):
        if word in numbers:
            table[number, numbers[word]] = 1
    return table


def _places(likenesses: _Likenesses) -> list[int | None]:
    """Find for each word of the translation its word of the reference; None where it has none."""
    places, before = list[int | None](), None
    lonely = list[int]()  # words without a partner since the last word of the reference
    for place, word in _path(likenesses):
        if place is None and word is not None:
            lonely.append(word)
            continue
        places += _share(lonely, before, place, likenesses)
        lonely.clear()
        if word is not None:
            places.append(place)
        before = place
    return places + _share(lonely, before, None, likenesses)


def _share(
    words: Sequence[int], before: int | None, after: int | None, likenesses: _Likenesses
) -> list[int | None]:
    """Share words without a partner between the words of the reference around them."""
    for n_before, word in enumerate(words):
        if likenesses.one(after, word) > likenesses.one(before, word):
            return [before] * n_before + [after] * (len(words) - n_before)
    return [before] * len(words)


def _path(likenesses: _Likenesses) -> list[tuple[int | None, int | None]]:
    """Pair words so that their likenesses sum to the most; of equal sums pairs come first.

    Returns:
        in order, pairs of a word of the reference and one of the translation; None stands for the
        partner of a word that has none.
    """
    place, word = len(likenesses.reference), len(likenesses.translation)
    steps = np.full((place + 1, word + 1), _TRANSLATION, dtype=np.int8)
    steps[:, 0] = _REFERENCE
    best = np.zeros(word + 1)  # sum of likenesses up to each word
    for row in range(place):
        pair, pass_by = best[:-1] + likenesses.row(row), best[1:]
        # a word that is passed by costs nothing, so the best so far is the best of all before it
        best = np.concatenate(([0.0], np.maximum.accumulate(np.maximum(pair, pass_by))))
        steps[row + 1, 1:] = np.where(pass_by >= best[:-1], _REFERENCE, _TRANSLATION)
        steps[row + 1, 1:][pair >= np.maximum(pass_by, best[:-1])] = _PAIR
    path = list[tuple[int | None, int | None]]()
    while place or word:
        step = int(steps[place, word])
        place -= step != _TRANSLATION
        word -= step != _REFERENCE
        path.append((None if step == _TRANSLATION else place, None if step == _REFERENCE else word))
    return path[::-1]
