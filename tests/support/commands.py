"""Commands as tests write them: from any sequence of words."""

from collections.abc import Sequence

from engine.commands import FeedWords, SetWords


def fed(words: Sequence[str], lane: str = "") -> FeedWords:
    return FeedWords(tuple(words), lane)


def typed(words: Sequence[str]) -> SetWords:
    return SetWords(tuple(words))
