"""Recognised words on the source's timeline.

A hypothesis is replaced by the next one; its words count only once ``LocalAgreement`` has committed
them.
"""

import unicodedata
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from engine.events import n_same

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognizedWord:
    """A word, its times on the source's timeline, and the model's own probability, 0 to 1.

    Attributes:
        text: with punctuation, without blanks.
        vectors: of a block of sound in the place of a word, see ``FedWord``.
    """

    text: str
    start_s: float
    end_s: float
    probability: float = 1.0
    vectors: "NDArray[np.float32] | None" = field(default=None, compare=False, repr=False)

    @property
    def middle_s(self) -> float:
        """The time halfway; it varies less between hypotheses than either end."""
        return (self.start_s + self.end_s) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """The words recognised in one piece of sound, in order of time.

    Attributes:
        start_s: start of the sound on the source's timeline; earlier words are not in it.
        end_s: end of the sound.
        times_vary_s: so much the times of its words differ from those of other hypotheses.
        goes_on: the sound ends with the last word, or within it.
    """

    words: tuple[RecognizedWord, ...]
    start_s: float
    end_s: float
    times_vary_s: float = 0.5
    goes_on: bool = False


def same_word_key(text: str) -> str:
    """Return a key without case, punctuation and encoding of accents, which recognisers vary.

    A word of punctuation alone is its own key, so that two such words can still differ.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(c for c in folded if unicodedata.category(c)[0] in "LNMS")
    return kept or folded


# LocalAgreement-2 as used for Whisper by Macháček et al. 2023
# (https://aclanthology.org/2023.ijcnlp-demo.3): the longest common prefix of two successive
# hypotheses, after the words committed before. Deviations: words are compared without case and
# punctuation, and the newest spelling is committed; the first new word of a hypothesis is found by
# aligning words and times together, not by times first and n-grams second.

MAX_TAIL_WORDS = 4
"""Later words change too often to be worth reading."""

_REMEMBERED_WORDS = 256  # more than a buffer of 30 s holds
_EDGE_S = 0.01  # a buffer is cut at the end of a word, to within rounding
_MISSED_S = 0.25  # a short word: if less of it is in the sound, it may be missing


class LocalAgreement:
    """Feed hypotheses, get the words that became certain.

    Everything ``feed`` and ``flush`` returned is the transcript: it is append-only, and its times
    never run backwards. After ``flush`` it ends as the last hypothesis does.
    """

    def __init__(self) -> None:
        self._committed: deque[RecognizedWord] = deque(maxlen=_REMEMBERED_WORDS)
        self._pending: tuple[RecognizedWord, ...] = ()

    def feed(self, hypothesis: Hypothesis) -> tuple[RecognizedWord, ...]:
        heard = self._behind_committed(hypothesis)
        n_certain = max(0, len(heard) - hypothesis.goes_on)
        n_agreed = n_same(_keys(self._pending), _keys(heard[:n_certain]))
        self._pending = heard[n_agreed:]
        return self._commit(heard[:n_agreed])

    def flush(self) -> tuple[RecognizedWord, ...]:
        """Commit the rest of the last hypothesis: speech ended, or its sound must be dropped."""
        rest, self._pending = self._pending, ()
        return self._commit(rest)

    @property
    def tail(self) -> tuple[RecognizedWord, ...]:
        """The first words that may still change, four at most."""
        return self._pending[:MAX_TAIL_WORDS]

    def _commit(self, words: Sequence[RecognizedWord]) -> tuple[RecognizedWord, ...]:
        ordered = []
        for word in words:
            earliest = self._committed[-1].end_s if self._committed else word.start_s
            start_s = max(word.start_s, earliest)
            fitted = replace(word, start_s=start_s, end_s=max(word.end_s, start_s))
            self._committed.append(fitted)
            ordered.append(fitted)
        return tuple(ordered)

    def _behind_committed(self, hypothesis: Hypothesis) -> tuple[RecognizedWord, ...]:
        """Drop the first words, which repeat committed ones that are still in the sound."""
        if not self._committed or not hypothesis.words:
            return hypothesis.words
        heard_from_s = hypothesis.start_s - hypothesis.times_vary_s
        still_heard = [word for word in self._committed if word.end_s > heard_from_s]
        edits = _edits_to_prefixes(still_heard, hypothesis)
        misplaced_s = _misplaced(hypothesis.words, self._committed[-1].end_s)
        # A word so far on the wrong side costs as much as a wrong word.
        costs = [n + s / hypothesis.times_vary_s for n, s in zip(edits, misplaced_s, strict=True)]
        return hypothesis.words[costs.index(min(costs)) :]


def _keys(words: Sequence[RecognizedWord]) -> list[str]:
    return [same_word_key(word.text) for word in words]


def _edits_to_prefixes(committed: Sequence[RecognizedWord], hypothesis: Hypothesis) -> list[float]:
    """Return the costs of editing the committed words into each prefix of the hypothesis.

    A committed word may be missing at no cost if the sound begins after it; the cost grows with the
    part of it that is in the sound. A word that begins in the sound has the full cost, since
    recognisers also return words without length.
    """
    keys = [same_word_key(word.text) for word in hypothesis.words]
    row = [float(n_words) for n_words in range(len(keys) + 1)]
    for word in committed:
        begins_within = word.start_s > hypothesis.start_s + _EDGE_S
        heard_s = max(0.0, word.end_s - max(word.start_s, hypothesis.start_s))
        key = same_word_key(word.text)
        missing = 1.0 if begins_within else min(1.0, heard_s / _MISSED_S)
        below = [row[0] + missing]
        for i, heard in enumerate(keys):
            below.append(min(row[i] + (key != heard), row[i + 1] + missing, below[i] + 1))
        row = below
    return row


def _misplaced(words: Sequence[RecognizedWord], border_s: float) -> list[float]:
    """Return for each split of the words the sum of times they are on the wrong side of it."""
    early = [max(0.0, border_s - word.middle_s) for word in words]
    late = [max(0.0, word.middle_s - border_s) for word in words]
    sums = [sum(early)]
    for one_early, one_late in zip(early, late, strict=True):
        sums.append(sums[-1] - one_early + one_late)
    return sums
