"""A word on its way through a session. Plain data."""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TYPED = ""
"""The lane of typed words in the window; in the terminal it may be that of the only source."""


@dataclass(frozen=True, slots=True)
class FedWord:
    """A committed word with its times; the parts of a long word have those of the whole.

    Attributes:
        number: of the words of its lane in the window, counted from 1; 0 where nobody counts them.
        committed_at_s: when it became certain, by the clock of all these times.
        spoken_at_s: when its end was spoken; None if it was not heard.
        start_s, end_s: on the lane's timeline.
        vectors: of a block of sound in the place of a word, float32, shape (positions, width); it
            has no text.
    """

    text: str
    _: KW_ONLY
    number: int = 0
    committed_at_s: float = 0.0
    spoken_at_s: float | None = None
    start_s: float = 0.0
    end_s: float = 0.0
    vectors: "NDArray[np.float32] | None" = field(default=None, compare=False, repr=False)

    @property
    def begun_at_s(self) -> float:
        """When its start was spoken, or when it was typed."""
        if self.spoken_at_s is None:
            return self.committed_at_s
        return self.spoken_at_s - (self.end_s - self.start_s)


def untimed(words: Iterable[str]) -> tuple[FedWord, ...]:
    """Return words without times, such as those of a text."""
    return tuple(map(FedWord, words))


def text_of(words: Iterable[FedWord]) -> str:
    """Join words to a text; blocks of sound have none."""
    return " ".join(word.text for word in words if word.text)


def n_same(old: Sequence[object], new: Sequence[object]) -> int:
    same = 0
    while same < min(len(old), len(new)) and old[same] == new[same]:
        same += 1
    return same


def n_same_ends(old: Sequence[object], new: Sequence[object]) -> tuple[int, int]:
    """Count the leading items that are equal, and the trailing ones of the rest."""
    head = n_same(old, new)
    return head, n_same(old[head:][::-1], new[head:][::-1])
