"""Notice that a source is in another language than expected, by its most frequent words.

The words are in ``assets/stop_words.toml``. Where few letters tell languages apart, as in
names and numbers, nothing is noticed; other scripts are ``sentences.is_strange``.
"""

import re
import tomllib
from collections import Counter, deque
from collections.abc import Iterable
from functools import cache

from engine.files import ASSETS
from engine.messages import Code, Message
from engine.metrics.event_log import is_spaced

_LISTS = ASSETS / "stop_words.toml"
_N_WORDS = 24  # the newest ones count: about two sentences
_LEAST = 4  # words of another language
_TIMES = 2  # as many as of the expected one, and more
_WORD = re.compile(r"[^\W\d_]+")


class SourceLanguage:
    """Follow the words of one speaker.

    ``feed`` returns the language that the newest words are in, unless it is the expected one or
    none that is known by its words.
    """

    def __init__(self, expected: str) -> None:
        """Follow words that should be in a language, by its code."""
        self._expected = expected
        self._newest = deque[str](maxlen=_N_WORDS)

    def feed(self, words: Iterable[str]) -> str | None:
        """Take words; return the code of another language that they are in, or None."""
        self._newest.extend(match.lower() for match in _WORD.findall(" ".join(words)))
        known = _stop_words()
        expected = known.get(self._expected)
        if expected is None:
            return None
        n_expected = sum(word in expected for word in self._newest)
        others = Counter[str]()
        for language, stop_words in known.items():
            if language != self._expected:
                others[language] = sum(
                    word in stop_words and word not in expected for word in self._newest
                )
        (first, n_first), (_, n_second) = others.most_common(2)
        is_other = n_first >= _LEAST and n_first > max(n_second, _TIMES * n_expected)
        return first if is_other else None


@cache
def _stop_words() -> dict[str, frozenset[str]]:
    """Return the most frequent words of each language by its code."""
    lists = tomllib.loads(_LISTS.read_text(encoding="utf-8"))
    return {language: frozenset(words.split()) for language, words in lists.items()}


def source_notice(language: str) -> Message | None:
    """Return a notice if a source language has no blanks, at which words are separated here."""
    return None if is_spaced(language) else Code.SOURCE_UNSPACED()
