"""What a recogniser believes was said: words on the source's timeline.

A hypothesis is replaced by the next one; a word of it counts only once it is committed
(``engine.speech.local_agreement``).
"""

import unicodedata
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognizedWord:
    """A word, and when it was said.

    Attributes:
        text: as it is written, punctuation included, without blanks.
        start_s: where it begins on the source's timeline.
        end_s: where it ends.
        probability: the model's own, 0 to 1.
    """

    text: str
    start_s: float
    end_s: float
    probability: float = 1.0

    @property
    def middle_s(self) -> float:
        """Tell the time halfway; it wanders less than either end."""
        return (self.start_s + self.end_s) / 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Hypothesis:
    """What was recognised in one piece of sound.

    Attributes:
        words: in order of time.
        start_s: where the sound begins on the source's timeline; words before it cannot be heard.
        end_s: where the sound ends.
    """

    words: tuple[RecognizedWord, ...]
    start_s: float
    end_s: float


def same_word_key(text: str) -> str:
    """Strip what a recogniser changes its mind about: case, punctuation, accents' encoding.

    A word of nothing but punctuation is its own key, so that no two words are the same for want of
    letters.
    """
    folded = unicodedata.normalize("NFKC", text).casefold()
    kept = "".join(c for c in folded if unicodedata.category(c)[0] in "LNMS")
    return kept or folded
