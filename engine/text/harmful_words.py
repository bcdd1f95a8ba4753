"""Words of violence, self-harm, sex and slurs: a caption holds them only where the source does.

The lists are in ``assets/harmful_words.toml``, in groups of English words and their counterparts.
"""

import re
import tomllib
from collections.abc import Iterable
from functools import cache

from engine.files import ASSETS

_LISTS = ASSETS / "harmful_words.toml"
_SOURCE_LANGUAGE = "en"
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class HarmfulWords:
    """The harmful words of one target language, group by group."""

    def __init__(self, language: str) -> None:
        """Read the groups of a language.

        Args:
            language: of the captions; one without lists has no harmful words.
        """
        groups = _groups()
        self._source = {name: _pattern(lists[_SOURCE_LANGUAGE]) for name, lists in groups.items()}
        self._target = {
            name: _pattern(lists[language]) for name, lists in groups.items() if language in lists
        }

    def barred(self, words: Iterable[str]) -> frozenset[str]:
        """Return the groups of which a source holds no word.

        Args:
            words: of the source.
        """
        said = [match.lower() for match in _WORD.findall(" ".join(words))]
        return frozenset(
            name for name in self._target if not any(map(self._source[name].fullmatch, said))
        )

    def holds(self, text: str, groups: Iterable[str]) -> bool:
        """Return whether a text has a harmful word of these groups."""
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
    """Compile one pattern that matches each word an entry stands for."""
    return re.compile("|".join(re.escape(entry).replace(r"\*", ".*") for entry in entries))
