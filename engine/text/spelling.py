"""Words that no model can know: spelt as meant where one word is certain, else read as names. Pure.

Models make other words of what they never saw (*custmer*: ``Sorgfalt``). A name they copy, and
``engine.translation.copies`` holds them to it. The known words are in ``assets/english_words``.
"""

import gzip
import re
from functools import cache, lru_cache

from engine.files import ASSETS

_LETTERS = "abcdefghijklmnopqrstuvwxyz'"
_FREQUENT, _CERTAIN = 7, 4
"""A word that is meant was seen 64 times, and 16 times as often as each that is as near."""

_SHORT = 4
"""Letters of a word that has many neighbours, and of the shortest part of a compound."""

_ENDINGS = ("s", "ly", "ness", "less", "er", "ers", "ing", "ed")
_IN_COMPOUNDS = 5  # such parts were seen 16 times


@lru_cache(maxsize=4096)
def spelt(word: str) -> str:
    """Return what a model reads of a word, which has no marks around it."""
    if not re.fullmatch("[a-z]{3,}", word) or _is_known(word):
        return word
    if right := meant(word, _words()):
        return right
    is_formed = any(word.removesuffix(end) in _words() for end in _ENDINGS)
    return word if is_formed or len(word) < _SHORT else word.capitalize()


def meant(word: str, seen: dict[str, int]) -> str | None:
    """Return the word that was meant by an unknown one, if one letter tells them apart.

    ``word`` is in small letters; ``seen``: how often words were seen, as the length of that number
    in bits.
    """
    cuts = [(word[:n], word[n:]) for n in range(len(word) + 1)]
    near = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    near |= {f"{a}'{b}" for a, b in cuts}
    longer = {a + letter + b for a, b in cuts[1:] for letter in _LETTERS}
    longer |= {a + b[1:] for a, b in cuts[1:]}
    others = {a + letter + b[1:] for a, b in cuts[1:-1] for letter in _LETTERS}
    near |= longer if len(word) > _SHORT else set()
    known = (near | longer | others).intersection(seen) - {word}
    best = max(known, key=lambda one: seen[one], default="")
    bits = seen.get(best, 0)
    is_certain = bits >= _FREQUENT and best in near
    is_certain &= all(bits - seen[other] >= _CERTAIN for other in known - {best})
    return best if is_certain else None


def _is_known(word: str) -> bool:
    """Return whether models may know a word, or both parts of it."""
    seen = _words()
    parts = ((word[:n], word[n:]) for n in range(_SHORT, len(word) - _SHORT + 1))
    return word in seen or any(
        min(seen.get(part, 0) for part in both) >= _IN_COMPOUNDS for both in parts
    )


@cache
def _words() -> dict[str, int]:
    text = gzip.decompress((ASSETS / "english_words" / "words.txt.gz").read_bytes()).decode()
    return {word: bits for bits, line in enumerate(text.split("\n")) for word in line.split()}
