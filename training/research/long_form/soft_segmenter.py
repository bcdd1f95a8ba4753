"""Cut the translation of a whole talk to its reference by similarity of words, as OmniSTEval does.

LongYAAL is defined on this cut: SoftSegmenter (Polák et al. 2025, https://arxiv.org/abs/2509.17349)
as in OmniSTEval 0.1.10 without a tokenizer. Words of both sides are paired in order, with the
largest sum of similarities. A pair need not be equal, so the cut works even if few words are right.
Similarity is the Jaccard index of the words' sets of letters; a punctuation mark is never paired
with a word. Letters are compared without case, in compatibility form (NFKC). In a script without
blanks, characters are paired, which are equal or not.

A word without a partner goes to the reference word before it, or to the word after it if that is
more similar; the words between follow. OmniSTEval loses a word that can go to neither; here it goes
to the first segment.
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
from training.research.long_form.resegment import Part

_MARKS = frozenset(".!?,;:-()。—ー")  # in compatibility form
_PAIR, _REFERENCE, _TRANSLATION = range(3)  # whose word a step of the path takes


def soft_resegment(translation: str, references: Sequence[str], language: str) -> list[Part]:
    """Cut a talk's translation; arguments and result as for ``resegment``."""
    spaced = is_spaced(language)
    pattern = re.compile(r"\S+" if spaced else r"\S")
    words = list(pattern.finditer(translation))
    units = [pattern.findall(text.lower()) for text in references]
    segment_of = [number for number, own in enumerate(units) for _ in own]
    similarities = _Similarities.of(
        [_plain(unit) for own in units for unit in own],
        [_plain(word.group()) for word in words],
        spaced=spaced,
    )
    chosen = [0 if index is None else segment_of[index] for index in _partners(similarities)]
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
class _Similarities:
    """Similarity of each word of the reference to each word of the translation.

    Attributes:
        table: float64, shape (R, T), for the distinct words of both sides.
        reference: int64, the row of each word of the reference.
        translation: int64, the column of each word of the translation.
    """

    table: npt.NDArray[np.float64]
    reference: npt.NDArray[np.int64]
    translation: npt.NDArray[np.int64]

    @classmethod
    def of(
        cls, reference: Sequence[str], translation: Sequence[str], *, spaced: bool
    ) -> "_Similarities":
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

    def row(self, index: int) -> npt.NDArray[np.float64]:
        """Compare a word of the reference with all words of the translation."""
        own: npt.NDArray[np.float64] = self.table[self.reference[index], self.translation]
        return own

    def pair(self, index: int | None, word: int) -> float:
        """Compare two words; -inf without a word of the reference."""
        if index is None:
            return -np.inf
        return float(self.table[self.reference[index], self.translation[word]])


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


def _partners(similarities: _Similarities) -> list[int | None]:
    """Return for each word of the translation the index of its reference word, or None."""
    partners, before = list[int | None](), None
    unpaired = list[int]()  # words since the last word of the reference
    for index, word in _path(similarities):
        if index is None and word is not None:
            unpaired.append(word)
            continue
        partners += _share(unpaired, before, index, similarities)
        unpaired.clear()
        if word is not None:
            partners.append(index)
        before = index
    return partners + _share(unpaired, before, None, similarities)


def _share(
    words: Sequence[int], before: int | None, after: int | None, similarities: _Similarities
) -> list[int | None]:
    """Assign unpaired words to the reference words before and after them."""
    for n_before, word in enumerate(words):
        if similarities.pair(after, word) > similarities.pair(before, word):
            return [before] * n_before + [after] * (len(words) - n_before)
    return [before] * len(words)


def _path(similarities: _Similarities) -> list[tuple[int | None, int | None]]:
    """Pair words with the largest sum of similarities; of equal sums, pairs come first.

    Returns:
        in order, indices of a word of the reference and of its partner in the translation; None on
        one side if a word has no partner.
    """
    index, word = len(similarities.reference), len(similarities.translation)
    steps = np.full((index + 1, word + 1), _TRANSLATION, dtype=np.int8)
    steps[:, 0] = _REFERENCE
    best = np.zeros(word + 1)  # sum of similarities up to each word
    for row in range(index):
        pair, pass_by = best[:-1] + similarities.row(row), best[1:]
        # Skipping a word costs nothing, so the best sum is the best of all before it.
        best = np.concatenate(([0.0], np.maximum.accumulate(np.maximum(pair, pass_by))))
        steps[row + 1, 1:] = np.where(pass_by >= best[:-1], _REFERENCE, _TRANSLATION)
        steps[row + 1, 1:][pair >= np.maximum(pass_by, best[:-1])] = _PAIR
    path = list[tuple[int | None, int | None]]()
    while index or word:
        step = int(steps[index, word])
        index -= step != _TRANSLATION
        word -= step != _REFERENCE
        path.append((None if step == _TRANSLATION else index, None if step == _REFERENCE else word))
    return path[::-1]
