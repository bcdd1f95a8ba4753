"""Words that no model can know: spelt as meant where one word is certain, else read as names. Pure.

Models make other words of what they never saw (*custmer*: ``Sorgfalt``). A name they copy, and
``engine.translation.copies`` holds them to it. The known words are in ``assets/english_words``.
"""

import gzip
import re
from functools import cache, lru_cache

from engine.files import ASSETS

_WORD = re.compile(r"([\"'“‘«(\[¿¡]*)(.*?)([.,;:!?…)\]\"'”’»]*)", re.DOTALL)
_LETTERS = "abcdefghijklmnopqrstuvwxyz'"
_FREQUENT, _CERTAIN = 7, 4
"""A word that is meant was seen 64 times, and 16 times as often as each that is as near."""

_SHORT = 4
"""Letters of a word that has many neighbours."""

_AGAIN = 3
"""A letter too many stands again so near: in *invocice*, not in *madre*."""

_BEFORE = ("un", "re", "anti", "inter", "non", "over")
_BEHIND = ("s", "ly", "ness", "less", "er", "ers", "ing", "ed", "ic", "ist", "able", "ise", "ize")
_STEM = 5
"""Letters of a word behind what may stand before it."""

_IN_COMPOUNDS = {3: 9, 4: 5}
"""How often a part of so many letters was seen at least; longer ones as those of four."""


@lru_cache(maxsize=4096)
def core(word: str) -> tuple[str, str, str]:
    """Take the marks around a word off; a bracket that opens within stays (``401(k)``)."""
    match = _WORD.fullmatch(word)
    lead, text, trail = match.groups() if match else ("", word, "")
    if trail.startswith(")") and text.count("(") > text.count(")"):
        text, trail = text + ")", trail[1:]
    return lead, text, trail


@lru_cache(maxsize=4096)
def spelt(word: str, before: str = "") -> str:
    """Return what a model reads of a word, which has no marks around it, behind another."""
    if not re.fullmatch("[a-z]{3,}", word) or word in _words():
        return word
    is_in_name = before[:1].isupper() and before.casefold() not in _words()  # *Ústí nad Labem*
    if len(word) < _SHORT and is_in_name:
        return word
    if right := meant(word, _words()):
        return right
    return word if _is_formed(word) or len(word) < _SHORT else word.capitalize()


def meant(word: str, seen: dict[str, int]) -> str | None:
    """Return the word that was meant by an unknown one, if one letter tells them apart.

    ``word`` is in small letters; ``seen``: how often words were seen, as the length of that number
    in bits.
    """
    cuts = [(word[:n], word[n:]) for n in range(len(word) + 1)]
    short = (f"{a}'{b}" for a, b in cuts)  # *thats*
    if found := [one for one in short if seen.get(one, 0) >= _FREQUENT]:
        return found[0]
    near = {a + b[1] + b[0] + b[2:] for a, b in cuts if len(b) > 1}
    fewer = {a + b[1:]: b[:1] in a[-_AGAIN:] + b[1 : _AGAIN + 1] for a, b in cuts[1:-1]}
    longer = {a + letter + b for a, b in cuts[1:] for letter in _LETTERS}
    others = {a + letter + b[1:] for a, b in cuts[1:-1] for letter in _LETTERS}
    if len(word) > _SHORT:
        near |= longer | {one for one, is_again in fewer.items() if is_again}
    known = (near | longer | others | {*fewer}).intersection(seen) - {word}
    best = max(known, key=lambda one: seen[one], default="")
    bits = seen.get(best, 0)
    is_certain = bits >= _FREQUENT and best in near
    is_certain &= all(bits - seen[other] >= _CERTAIN for other in known - {best})
    return best if is_certain else None


def _is_formed(word: str) -> bool:
    """Return whether models may read a word by its parts: *sunhat*, *unadapted*."""
    seen = _words()
    stems = {word.removesuffix(end) for end in _BEHIND if word.endswith(end)}
    stems |= {stem + "e" for stem in stems}
    rests = {word.removeprefix(it) for it in _BEFORE if word.startswith(it)}
    stems |= {rest for rest in rests if len(rest) >= _STEM}
    parts = ((word[:n], word[n:]) for n in range(3, len(word) - 2))
    return bool(stems.intersection(seen)) or any(
        all(seen.get(part, 0) >= _IN_COMPOUNDS[min(len(part), 4)] for part in both)
        for both in parts
    )


@cache
def _words() -> dict[str, int]:
    text = gzip.decompress((ASSETS / "english_words" / "words.txt.gz").read_bytes()).decode()
    return {word: bits for bits, line in enumerate(text.split("\n")) for word in line.split()}
