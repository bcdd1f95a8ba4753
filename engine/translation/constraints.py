"""Constrained decoding: a caption keeps the numbers, names and addresses of its source.

The model proposes each token; these rules may put another in its place:

* a number is written only if the source has it, in the notation of the target, and to its end;
* *halb* goes on with the hour after that of *half past* (``engine.text.half_hours``);
* names, addresses and terms of a glossary are copied (``engine.translation.copies``);
* a harmful word is written only if the source holds a counterpart (``engine.text.harmful_words``).

All but the copies read the source, and hold where it is English.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import tokenizers
from numpy.typing import NDArray

from engine.text.half_hours import half_hours, half_hours_fit
from engine.text.harmful_words import HarmfulWords
from engine.text.numbers import RUN, Number, find_numbers
from engine.text.prompt import word_starts
from engine.text.tokenizer import WordTokenizer
from engine.translation.copies import Candidates, Copies

_MAX_TRIED = 256
"""Tokens that are tried in the order of their logits before the proposal is taken after all."""

_BLANKS = " \u00a0\u202f"
"""Also the two that French has before its marks and within quotation marks and thousands."""

_LAST_RUN = re.compile(rf"({RUN.pattern})[.,:]?$")


@dataclass(frozen=True, slots=True)
class _Source:
    """The numbers and words that a source allows and asks for.

    Attributes:
        numbers: in it.
        half_hours: how each half past an hour may go on.
        symbols: it has words without letters and digits.
        barred: groups of harmful words of which it has none.
        copies: what may be copied from it.
    """

    numbers: tuple[Number, ...]
    half_hours: tuple[frozenset[str], ...]
    symbols: bool
    barred: frozenset[str]
    copies: Candidates


class Constraints:
    """The rules for one model, one target language and one glossary."""

    def __init__(
        self,
        tokenizer: WordTokenizer,
        decoder: tokenizers.Tokenizer,
        language: str,
        glossary: Sequence[tuple[str, str]] = (),
        *,
        reads_english: bool = True,
    ) -> None:
        self._reads_english = reads_english
        self._copies = Copies(tokenizer, decoder, glossary)
        self._decoder = decoder
        self._language = language
        self._harmful = HarmfulWords(language)
        self._starts_word = word_starts(tokenizer)
        self._source = lru_cache(maxsize=64)(self._read_source)
        self._piece = lru_cache(maxsize=None)(self._decode_piece)
        self._digits: list[int] | None = None  # tokens with digits, found when first needed

    def choose(
        self,
        id_: int,
        logits: NDArray[np.float32],
        source: str,
        caption: str,
        target: Sequence[int] = (),
    ) -> int:
        """Return the token that is written.

        Args:
            id_: what the model proposes, the likeliest token that may be chosen.
            logits: shape (V,); ids that may not be chosen have -inf.
            source: its text, as far as it was read.
            caption: the text written so far.
            target: its tokens, markers left out.
        """
        facts = self._source(source)
        if facts.copies.terms:
            term = self._copies.of_term(
                id_, logits, facts.copies.terms, caption, target, self._piece(id_)
            )
            if term is not None:
                return term  # the user's words, whatever they hold
        best = self._copies.named(
            id_, logits, facts.copies.names, caption, _tail(caption), self._piece(id_)
        )
        if self._is_allowed(best, facts, caption):
            return best
        for other in self._others(logits):
            if self._is_allowed(other, facts, caption) and logits[other] != -float("inf"):
                return other
        return id_

    def completes_number(self, id_: int, source: str, caption: str) -> bool:
        """Return whether a caption stops inside a number, and this token goes on with it.

        A write is not cut there: it would show a number that nobody said. No number of a source is
        endless, so the cut comes soon.

        Args:
            id_: the token that would come next.
            source: its text, as far as it was read.
            caption: the text written so far.
        """
        last, piece = _LAST_RUN.search(caption), self._piece(id_)
        if not self._reads_english or last is None or not re.match("[0-9.,:]", piece):
            return False
        numbers = self._source(source).numbers
        is_whole = any(last[1] in one.whole for one in numbers)
        return not is_whole and _numbers_fit(caption, piece, numbers)

    def _others(self, logits: NDArray[np.float32]) -> Iterator[int]:
        """Yield the likeliest ids, then all digits: what ends a number well may be unlikely."""
        yield from np.argsort(-logits, kind="stable")[:_MAX_TRIED].tolist()
        if self._digits is None:
            pieces = map(self._piece, range(len(self._starts_word)))
            self._digits = [n for n, piece in enumerate(pieces) if any(map(str.isdecimal, piece))]
        yield from sorted(self._digits, key=lambda id_: -float(logits[id_]))

    def _is_allowed(self, id_: int, facts: _Source, caption: str) -> bool:
        if not self._reads_english:
            return True  # number words and harmful words are known of English alone
        tail, piece = _tail(caption), self._piece(id_)
        text = tail + piece
        if piece == " " and not facts.symbols and not _numbers_left(caption, facts.numbers):
            return False  # a blank alone comes before digits and symbols
        if any(map(str.isdecimal, text)) and not _numbers_fit(caption, piece, facts.numbers):
            return False
        if facts.half_hours and not half_hours_fit(
            caption + piece, facts.half_hours, self._language
        ):
            return False
        return not facts.barred or not self._harmful.holds(text, facts.barred)

    def _read_source(self, text: str) -> _Source:
        words = text.split()
        return _Source(
            tuple(find_numbers(words, self._language)),
            half_hours(text, self._language),
            not all(any(map(str.isalnum, word)) for word in words),
            self._harmful.barred(words),
            self._copies.candidates(words),
        )

    def _decode_piece(self, id_: int) -> str:
        """Decode one token as it stands within a text; a marker ends the word before it."""
        text: str = self._decoder.decode([id_], skip_special_tokens=True)
        if not text and not self._starts_word[id_]:
            return "\n"
        return " " + text.lstrip() if self._starts_word[id_] else text


def _tail(caption: str) -> str:
    """Return the word at the end of a caption, as far as it is written."""
    return caption[max(map(caption.rfind, _BLANKS)) + 1 :]


def _numbers_fit(caption: str, piece: str, numbers: Sequence[Number]) -> bool:
    """Return whether the numbers of a caption are those of its source if this piece comes next.

    Numbers that stood there before are not judged again; each number of the source is used once.
    """
    text = caption + piece
    left = sorted(numbers, key=lambda number: len(number.whole))
    for match in RUN.finditer(text):
        run, begun = match.group(), text[match.start() :]
        if len(begun) <= len(run) + (begun[-1] in ".,:"):  # more digits may follow
            return any(written.startswith(begun) for one in left for written in _ways(one)) or (
                begun != run and any(run in _ways(one) for one in left)
            )
        if not _use(run, left) and match.end() >= len(caption.rstrip(".,:")):
            return False
    return True


def _numbers_left(caption: str, numbers: Sequence[Number]) -> bool:
    left = list(numbers)
    for run in RUN.findall(caption):
        _use(run, left)
    return any(map(_ways, left))


def _ways(number: Number) -> frozenset[str]:
    return number.whole.union(*number.parts)


def _use(run: str, left: list[Number]) -> bool:
    """Take a number out of those that are left, or a part of one; tell whether there was one.

    A text that may be either counts as a part, so that the others may follow: ``9`` of ``9 h 30``.
    """
    for one in left:
        if run in one.whole:
            if not _use_part(run, one, left):
                left.remove(one)
            return True
    return any(_use_part(run, one, left) for one in left)


def _use_part(run: str, one: Number, left: list[Number]) -> bool:
    for n, part in enumerate(one.parts):
        if run in part:
            left[left.index(one)] = Number(frozenset(), one.parts[:n] + one.parts[n + 1 :])
            return True
    return False
