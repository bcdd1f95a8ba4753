"""Copying while decoding: names and addresses of the source, and translations from a glossary.

A name that has been begun is copied on rather than changed, if the model finds the copy nearly as
likely. The translation of a term that the source holds takes the place of a word of the caption if
the model finds it nearly as likely, and is then written to its end.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import tokenizers
from numpy.typing import NDArray

from engine.text.glossary import EDGES, TermFinder
from engine.text.prompt import joined_ids, word_ids
from engine.text.sentences import ends_sentence
from engine.text.tokenizer import WordTokenizer

ADDRESS_BONUS = 12.0
VERBATIM_BONUS = 6.0
NAME_BONUS = 2.0
"""Nats by which the next token of a copy may be less likely than the token that was proposed."""

TERM_BONUS = 4.0
"""The same for the first token of a term; docs/experiments.md has what others do."""

SECOND_BONUS = 8.0
"""The same for the second token of a term: the first one may begin another word, too."""

_START_SHARE = 0.25
"""Of the bonus for the first token of a name: the word before it may not be over yet."""

_ADDRESS = re.compile(r"@|://|www\.|_|[a-z]\.[a-z]{2}")
"""What addresses and names of files have in them."""

_ELIDED = re.compile(r"[^\W\d_]+['’](.*)")
"""A short word and its apostrophe before the word of a caption: ``d'Acme``, ``l’Acme``."""

_BLANKS = " \u00a0\u202f"
"""Also the two that French has before its marks and within quotation marks and thousands."""

_MARKED = re.compile("LATIN (SMALL|CAPITAL) LETTER ([A-Z]) WITH ")
_HALF, _LONGEST_HALF = "\ufffd", 4
"""Stands for a part of a character; one has so many tokens, with a blank before it."""

_INSIDE = re.compile(r"@|://|_|\.[a-z]")
"""What stands in no word of a language: a proposal with it means an address."""


@dataclass(frozen=True, slots=True)
class _Copy:
    """A word of the source that the caption may hold unchanged.

    Attributes:
        word: without punctuation around it.
        begun: the text of the first 0, 1, ... tokens.
        joined: its tokens right after an apostrophe, each by the text before it.
        plain: the word without marks on its letters: ``Lukasz`` for *Łukasz*.
        tokens: of the ids, as the vocabulary spells them.
    """

    word: str
    ids: tuple[int, ...]
    begun: tuple[str, ...]
    joined: Mapping[str, int]
    bonus: float
    plain: str
    tokens: tuple[str, ...]

    def next_after(
        self, tail: str, elided: str | None, piece: str, ending: str
    ) -> Iterator[tuple[int, float]]:
        """Yield each token that begins the word or goes on with it, and its bonus.

        Args:
            tail: the last word of the caption, as far as it was written.
            elided: what of the tail stands behind an apostrophe; None for nothing.
            piece: the text that was proposed.
            ending: the last tokens of the caption, as the vocabulary spells them.
        """
        plain = piece.strip()
        is_plain = (piece.startswith(" ") or not tail) and self.plain.startswith(plain)
        is_plain &= not self.word.startswith(plain)
        at_start = VERBATIM_BONUS if is_plain else _START_SHARE * self.bonus
        for n, (id_, begun) in enumerate(zip(self.ids, self.begun, strict=True)):
            if n and (not begun or begun.endswith(_HALF)):  # of one character, or a blank alone
                if ending.endswith("".join(self.tokens[:n])):
                    yield id_, ADDRESS_BONUS if begun else self.bonus
            elif begun in ("", tail):
                yield id_, self.bonus if begun else at_start
        if elided is not None and elided in self.joined:
            yield self.joined[elided], self.bonus if elided else at_start

    def is_meant_by(self, word: str) -> bool:
        """Return whether a word that was proposed has an address's marks, and so means this one."""
        mark = _INSIDE.search(word)
        return mark is not None and mark[0] in self.word


@dataclass(frozen=True, slots=True)
class _Term:
    """The translation of a term that the source holds.

    Attributes:
        count: occurrences of the term.
        first_ids: its tokens as a caption's first ones, with a capital letter.
    """

    written: re.Pattern[str]
    count: int
    capital: bool
    ids: tuple[int, ...]
    first_ids: tuple[int, ...]

    def is_left(self, caption: str) -> bool:
        """Return whether it stands in the caption less often than in the source."""
        return len(self.written.findall(caption)) < self.count

    def may_replace(self, piece: str, *, is_first: bool) -> bool:
        """Return whether a term may begin in place of a word or marker that was proposed.

        A word must be alike in its first letter's case: a noun, which German writes in capitals,
        then takes no article's place. It must not be the term itself with an ending.
        """
        if piece == "\n":
            return True
        alike = piece.startswith(" ") and (is_first or piece[1:2].isupper() == self.capital)
        return alike and not self.written.match(piece, 1)

    def next_after(self, target: Sequence[int]) -> tuple[int, int]:
        """Return how many tokens of the term the target ends in, and the token that follows."""
        for ids in (self.ids, self.first_ids):
            for n in range(min(len(ids) - 1, len(target)), 0, -1):
                if tuple(target[-n:]) == ids[:n]:
                    return n, ids[n]
        return 0, (self.ids if target else self.first_ids)[0]


@dataclass(frozen=True, slots=True)
class Candidates:
    """The words of a source that may be copied, and the translations of the terms in it."""

    names: tuple[_Copy, ...]
    terms: tuple[_Term, ...]


class Copies:
    """The copies for one model, with the terms of a glossary."""

    def __init__(
        self,
        tokenizer: WordTokenizer,
        decoder: tokenizers.Tokenizer,
        glossary: Sequence[tuple[str, str]] = (),
    ) -> None:
        self._tokenizer = tokenizer
        self._decoder = decoder
        self._finder = TermFinder(glossary)

    def candidates(self, words: Sequence[str]) -> Candidates:
        counts = Counter(self._finder.found(words))
        return Candidates(tuple(self._names(words)), tuple(self._terms(counts)))

    def named(
        self,
        id_: int,
        logits: NDArray[np.float32],
        names: Sequence[_Copy],
        caption: str,
        target: Sequence[int],
        piece: str,
    ) -> int:
        """Return the token that copies a name on, or else the proposed one.

        ``piece`` is the text of the proposal, with the blank before it; other arguments as for
        ``Constraints.choose``.
        """
        best, best_score = id_, float(logits[id_])
        tail = tail_of(caption).lstrip(EDGES)
        is_new = not tail or all(tail not in copy.begun for copy in names)
        elided = _ELIDED.fullmatch(tail) if is_new else None
        ending = "".join(self._tokens(target[-_LONGEST_HALF:]))
        for copy in names:
            if copy.word in caption:
                continue
            if is_new and copy.is_meant_by(tail + piece):
                return copy.ids[0]
            for next_, bonus in copy.next_after(tail, elided[1] if elided else None, piece, ending):
                score = float(logits[next_]) + bonus
                if next_ != best and score > best_score:
                    best, best_score = next_, score
        return best

    @staticmethod
    def of_term(
        id_: int,
        logits: NDArray[np.float32],
        terms: Sequence[_Term],
        caption: str,
        target: Sequence[int],
        piece: str,
    ) -> int | None:
        """Return the token that begins or goes on with a term, or None.

        Arguments as for ``named``; ``piece`` is a line break for a marker.
        """
        best, best_score = None, (0, float(logits[id_]))
        for term in terms:
            if not term.is_left(caption):
                continue
            n, next_ = term.next_after(target)
            if logits[next_] == -float("inf") or not (
                n or term.may_replace(piece, is_first=not target)
            ):
                continue
            bonus = SECOND_BONUS if n else TERM_BONUS
            # from two tokens on nothing else is meant, and the term is written to its end
            score = (n if n > 1 else 0, float(logits[next_]) + bonus)
            if score > best_score:
                best, best_score = next_, score
        return best

    def _names(self, words: Sequence[str]) -> Iterator[_Copy]:
        for n, whole in enumerate(words):
            word = whole.strip(EDGES).removesuffix("'s")
            bonus = _bonus(word, is_first=n == 0 or ends_sentence(words[n - 1]))
            if bonus:
                ids = word_ids(self._tokenizer, word)
                joined = joined_ids(self._tokenizer, word)
                after = dict(zip(self._begun(joined), joined, strict=True))
                plain = "".join(map(_unmarked, word))
                begun, tokens = tuple(self._begun(ids)), self._tokens(ids)
                yield _Copy(word, tuple(ids), begun, after, bonus, plain, tokens)

    def _tokens(self, ids: Sequence[int]) -> tuple[str, ...]:
        return tuple(map(str, self._tokenizer.convert_ids_to_tokens(list(ids))))

    def _begun(self, ids: Sequence[int]) -> Iterator[str]:
        """Yield the text of the first 0, 1, ... of a word's tokens."""
        return (self._decoder.decode(list(ids[:n])).lstrip() for n in range(len(ids)))

    def _terms(self, counts: Mapping[str, int]) -> Iterator[_Term]:
        for text, count in counts.items():
            yield _Term(
                re.compile(rf"(?<!\w){re.escape(text)}", re.IGNORECASE),
                count,
                text[:1].isupper(),
                tuple(word_ids(self._tokenizer, text)),
                tuple(word_ids(self._tokenizer, text[:1].upper() + text[1:])),
            )


def tail_of(caption: str) -> str:
    """Return the word at the end of a caption, as far as it is written."""
    return caption[max(map(caption.rfind, _BLANKS)) + 1 :]


def is_code(word: str) -> bool:
    """Return whether letters stand in a word behind digits and before others: ``X7kQ9``."""
    return re.search(r"\d[^\W\d_]+\d", word) is not None


def _unmarked(char: str) -> str:
    match = _MARKED.match(unicodedata.name(char, ""))
    return (match[2].lower() if match[1] == "SMALL" else match[2]) if match else char


def _bonus(word: str, *, is_first: bool) -> float:
    """Separate words that are copied letter by letter from names, which a language may change."""
    if _ADDRESS.search(word) or is_code(word):
        return ADDRESS_BONUS
    if len(word) > 1 and any(map(str.isupper, word)) and word.upper() == word:  # NASA, BX7749
        return VERBATIM_BONUS
    return NAME_BONUS if len(word) > 2 and word[:1].isupper() and not is_first else 0.0
