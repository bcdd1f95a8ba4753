"""Commands as tests write them: from any sequence of words."""

from collections.abc import Sequence

from engine.events import FeedWords, SetWords, untimed


def fed(words: Sequence[str], lane: str = "") -> FeedWords:
    return FeedWords(untimed(words), lane)


def typed(words: Sequence[str]) -> SetWords:
    return SetWords(untimed(words))
