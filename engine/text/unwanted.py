"""Find in a caption that is being written: harmful words that nobody said, and loops. Pure.

Harmful are words of violence, self-harm, sex and slurs; ``assets/harmful_words.toml`` lists them in
groups of English words and their counterparts.

A small model repeats a phrase for ever once it has repeated it a few times. The systems end the
write before the phrase is complete once more; wait-k then reads on until the model predicts another
token. The rule is ours. It uses token ids alone, so it needs no text and costs a few comparisons.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from functools import cache

from engine.files import ASSETS

_LISTS = ASSETS / "harmful_words.toml"
_SOURCE_LANGUAGE = "en"
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class HarmfulWords:
    """The harmful words of one target language, group by group; none where it has no lists."""

    def __init__(self, language: str) -> None:
        groups = _groups()
        self._source = {name: _pattern(lists[_SOURCE_LANGUAGE]) for name, lists in groups.items()}
        self._target = {
            name: _pattern(lists[language]) for name, lists in groups.items() if language in lists
        }

    def barred(self, words: Iterable[str]) -> frozenset[str]:
        """Return the groups of which a source holds no word."""
        said = [match.lower() for match in _WORD.findall(" ".join(words))]
        return frozenset(
            name for name in self._target if not any(map(self._source[name].fullmatch, said))
        )

    def holds(self, text: str, groups: Iterable[str]) -> bool:
        said = [word for match in _WORD.findall(text) for word in _with_bare(match.lower())]
        patterns = [self._target[name] for name in groups]
        return any(pattern.fullmatch(word) for word in said for pattern in patterns)


def _with_bare(word: str) -> tuple[str, str]:
    """Return a word, and it without an article before its apostrophe: ``l'otage``, ``otage``."""
    return word, re.split("['’]", word)[-1]


@cache
def _groups() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(_LISTS.read_text("utf-8"))


def _pattern(entries: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(entry).replace(r"\*", ".*") for entry in entries))


LONGEST_PHRASE = 16
"""Tokens; longer repetitions are rarely loops."""

_TOKEN_TIMES = 5
"""Allowed repetitions of one token for any source; a longer phrase: three."""


def is_loop(target: Sequence[int], source: Sequence[int]) -> bool:
    """Return whether the newest target token completes a phrase repeated too often in a row.

    Two repetitions more than any phrase of the source are allowed: a translation may repeat what
    the source repeats ("no, no, no, no, no!"). ``target`` ends in the new id, without markers.
    """
    for size in range(1, min(LONGEST_PHRASE, len(target) // 2) + 1):
        repeats = _repeats_at_end(target, size)
        enough = repeats > _TOKEN_TIMES if size == 1 else repeats > 3
        if enough and repeats > 2 + _most_repeats(source):
            return True
    return False


def _repeats_at_end(ids: Sequence[int], size: int) -> int:
    """Return how often in a row the last phrase of a size occurs at the end."""
    phrase = tuple(ids[-size:])
    repeats, end = 1, len(ids) - size
    while end >= size and tuple(ids[end - size : end]) == phrase:
        repeats += 1
        end -= size
    return repeats


def _most_repeats(ids: Sequence[int]) -> int:
    """Return how often in a row any phrase occurs; 1 if none is repeated."""
    most = 1
    for size in range(1, min(LONGEST_PHRASE, len(ids) // 2) + 1):
        same = 0  # ids in a row that equal the one a phrase earlier
        for earlier, later in zip(ids, ids[size:], strict=False):
            same = same + 1 if earlier == later else 0
            most = max(most, 1 + same // size)
    return most
