"""Commands and sentences as tests write them: from any sequence of words."""

from collections.abc import Sequence
from dataclasses import dataclass

from engine.events import FeedWords, SetWords, untimed
from engine.text.sentences import Sentence


def fed(words: Sequence[str], lane: str = "") -> FeedWords:
    return FeedWords(untimed(words), lane)


def typed(words: Sequence[str]) -> SetWords:
    return SetWords(untimed(words))


@dataclass(frozen=True)
class _Bare(Sentence):
    full_stop: str = ""
    end_alone: bool = False


def bare(
    words: Sequence[str], *, ended: bool, full_stop: str = "", end_alone: bool = False
) -> Sentence:
    """Return a sentence whose end is fed as a test says, whatever its punctuation."""
    return _Bare(tuple(words), ended, full_stop, end_alone)
