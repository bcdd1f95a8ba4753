"""Recognised words on the source's timeline.

A hypothesis is replaced by the next one; its words count only once they are committed
(``engine.speech.local_agreement``).
"""

import unicodedata
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognizedWord:
    """A word and its times.

    Attributes:
        text: with punctuation, without blanks.
        start_s: its start on the source's timeline.
        end_s: its end on the source's timeline.
        probability: the model's own, 0 to 1.
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
    """The words recognised in one piece of sound.

    Attributes:
        words: in order of time.
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
