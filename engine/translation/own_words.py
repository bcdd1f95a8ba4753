"""The model's own words for the terms of a glossary, and what writes translations in their place.

A term is translated alone, once: what the model writes for it there, it writes for it within a
sentence, too. Where a caption has such a word, in whatever inflection, the glossary's translation
is shown instead. The model goes on as if it had written its own word, so that the rest of the
sentence is what it would have been.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from engine.text.glossary import TermFinder

Words = tuple[str, ...]

_MOST_WORDS = 3
"""Words that a model may have for a term; longer translations are explanations."""

_ARTICLE = 3
"""Letters of the longest article."""

_SHORT = 3
"""A word of so many letters has no inflections that could be told from other words."""

_ENDING = 2
"""Letters that an inflection may add to a word."""

_KNOWN = 512
"""Terms whose own words are remembered: all that a glossary holds."""

_WORD, _LETTERS, _GAP = re.compile(r"\w+"), re.compile(r"\w*"), re.compile(r"\W*")
_WORDS = re.compile(r"\w+(?:[\s'’-]+\w+)*[\s'’-]*")
"""Words that may belong together, and what follows them: *E-Mail* is two."""


@dataclass(frozen=True, slots=True)
class HeardTerm:
    """A term that a source holds ``count`` times, and what the model writes for it, by words."""

    translation: str
    count: int
    own: tuple[Words, ...]


class OwnWords:
    """A model's own words for the terms of a glossary, found out when a term is first heard."""

    def __init__(
        self,
        glossary: Sequence[tuple[str, str]],
        translate: Callable[[str], str],
        *,
        reads_english: bool,
    ) -> None:
        """Take the terms, and what translates a text by the model without a glossary."""
        self._finder = TermFinder(glossary)
        self._translate = translate
        self._reads_english = reads_english
        self._own = lru_cache(maxsize=_KNOWN)(self._ask)
        self.heard = lru_cache(maxsize=64)(self._heard)

    def _heard(self, source: str) -> tuple[HeardTerm, ...]:
        counts = Counter(self._finder.pairs(source.split()))
        return tuple(
            HeardTerm(translation, n, self._own(term)) for (term, translation), n in counts.items()
        )

    def _ask(self, term: str) -> tuple[Words, ...]:
        asked = (f"the {term}", term) if self._reads_english else (term,)
        found = dict[Words, None]()  # a set in the order of insertion
        for text in asked:
            words = _WORD.findall(self._translate(text))
            if text != term and len(words) > 1 and len(words[0]) <= _ARTICLE:
                del words[0]
            if 0 < len(words) <= _MOST_WORDS:
                found[tuple(words)] = None
        return tuple(found)


class TermWriter:
    """Show a caption with the translations of a glossary in place of the model's own words.

    ``feed`` takes text as it becomes certain, and holds back what may be an own word of a term
    that was heard, until its end is known; ``flush`` returns the rest. Text once returned never
    changes. A term is written as often as the source has it; a word that is the translation counts.
    """

    def __init__(self) -> None:
        self.held = ""
        self._n_written = Counter[str]()
        self._begun = False  # anything was shown
        self._inside = False  # the text so far ends within a word that is decided
        self._drops = False  # and that word is not shown

    def feed(self, text: str, terms: Sequence[HeardTerm], *, ends_word: bool = False) -> str:
        """Take text of the model; return what is certain.

        ``terms`` are in the source as far as it was read; ``ends_word``: the last word is whole.
        """
        self.held += text
        shown = self._settle(terms, ends_word=ends_word, is_last=False)
        self._begun = self._begun or bool(shown)
        return shown

    def flush(self, terms: Sequence[HeardTerm]) -> str:
        return self._settle(terms, ends_word=True, is_last=True)

    def _settle(self, terms: Sequence[HeardTerm], *, ends_word: bool, is_last: bool) -> str:
        shown = ""
        while self.held:
            if self._inside:
                shown += self._rest_of_word()
                continue
            gap = _GAP.match(self.held)
            n_gap = gap.end() if gap else 0
            is_first = not (self._begun or shown)
            match = _match(
                self.held[n_gap:], self._left(terms), ends_word=ends_word, is_first=is_first
            )
            if match.may_grow and not is_last:
                break
            shown += self.held[:n_gap]
            if match.term is None:
                self._inside = n_gap < len(self.held)
            else:
                self._n_written[match.term.translation] += 1
                shown += match.text
                self._inside = self._drops = True
                self.held = self.held[match.n_characters :]
            self.held = self.held[n_gap:]
        return shown

    def _rest_of_word(self) -> str:
        letters = _LETTERS.match(self.held)
        n = letters.end() if letters else 0
        text = "" if self._drops else self.held[:n]
        self.held = self.held[n:]
        if self.held:
            self._inside = self._drops = False
        return text

    def _left(self, terms: Sequence[HeardTerm]) -> list[HeardTerm]:
        return [term for term in terms if self._n_written[term.translation] < term.count]


@dataclass(frozen=True, slots=True)
class _Match:
    """The kind of the beginning of a text: ``n_characters`` stand for the term, ``text`` is shown.

    ``may_grow``: it is no term's word yet, and may become one.
    """

    term: HeardTerm | None = None
    text: str = ""
    n_characters: int = 0
    may_grow: bool = False


def _match(text: str, terms: Sequence[HeardTerm], *, ends_word: bool, is_first: bool) -> _Match:
    """Find the term whose own words, or translation, a text begins with."""
    run = _WORDS.match(text)
    if run is None:
        return _Match()
    ends = [word.end() for word in _WORD.finditer(run[0])]
    words = _WORD.findall(run[0])
    is_open = ends[-1] == len(text) and not ends_word
    may_grow = False
    for term in terms:
        translation = tuple(_WORD.findall(term.translation))
        for own in (translation, *term.own):
            here = words[: len(own)]
            n_whole = len(here) - (is_open and len(here) == len(words))
            if not own or not all(map(is_alike, here[:n_whole], own)):
                continue
            if not is_first and here[0][:1].isupper() != own[0][:1].isupper():
                continue
            if n_whole == len(own):
                end = ends[n_whole - 1]
                instead = text[:end] if own is translation else term.translation
                first = instead[:1].upper() if is_first else instead[:1]
                return _Match(term, first + instead[1:], end)
            grows = n_whole == len(here) or _begins(here[-1], own[n_whole])
            may_grow = may_grow or (run.end() == len(text) and grows)
    return _Match(may_grow=may_grow)


def is_alike(word: str, own: str) -> bool:
    """Return whether a word is an inflection of another one: their stems are the same."""
    if own.isupper() and word == own + "s":  # APIs
        return True
    word, own = _folded(word), _folded(own)
    if word == own or len(own) <= _SHORT:
        return word == own
    return word.startswith(_stem(own)) and len(word) <= len(own) + _ENDING


def _begins(word: str, own: str) -> bool:
    """Return whether a word that is not over yet may become an inflection."""
    word, own = _folded(word), _folded(own)
    return own.startswith(word) or (word.startswith(_stem(own)) and len(word) <= len(own) + _ENDING)


def _stem(word: str) -> str:
    """Return what inflections leave of a word: all but the last letter, unless it is short."""
    return word if len(word) <= _SHORT + 1 else word[:-1]


def _folded(word: str) -> str:
    """Return a word without case and marks: an umlaut may be all that a plural changes."""
    letters = unicodedata.normalize("NFD", word.casefold())
    return "".join(one for one in letters if not unicodedata.combining(one))
