"""Constrained decoding: a caption keeps the numbers, names and addresses of its source.

The model proposes each token; these rules may put another in its place:

* a number is written only if the source has it, once, in a form of the target and to its end, with
  its scale, unit and half of the day (``engine.text.written``);
* names, addresses and terms of a glossary are copied (``engine.translation.copies``);
* a harmful word is written only if the source holds a counterpart (``engine.text.written``);
* signs that stand in no text, and halves of characters, are written only if the source has them.

All but the copies read the source, and hold where it is English.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
import tokenizers
from numpy.typing import NDArray

from engine.text.prompt import word_starts
from engine.text.quantities import may_be_counted
from engine.text.source import Heard, is_rare
from engine.text.tokenizer import WordTokenizer
from engine.text.written import (
    TABLES,
    Form,
    HarmfulWords,
    Written,
    forms,
    says_other,
    says_unit,
    units,
    written,
)
from engine.translation.copies import Candidates, Copies, is_code, tail_of

_MAX_TRIED = 256
"""Tokens that are tried in the order of their logits before the proposal is taken after all."""

_HALF, _MOST_BYTES = "\ufffd", 4
"""Stands for a part of a character; one has so many bytes."""

_ROMAN = re.compile(" [IVXL]+")
_ORDINAL = re.compile("[0-9](?:st|nd|rd|th) (?!centur)[a-z]")
"""Of a floor, say; French writes those in Roman numbers as it does centuries."""


@dataclass(frozen=True, slots=True)
class _Source:
    """The text and numbers that a source allows and asks for.

    Attributes:
        numbers: the forms that each may have.
        blanks: a blank alone begins words of it: signs, and names such as *Łukasz*.
        units: words for hours and money of which it has no number.
        barred: groups of harmful words of which it has none.
        copies: what may be copied from it.
        codes: words of that in which letters stand behind digits and before others.
    """

    heard: Heard
    numbers: tuple[tuple[Form, ...], ...]
    blanks: bool
    units: frozenset[str]
    barred: frozenset[str]
    copies: Candidates
    codes: tuple[str, ...]


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
        self._facts = lru_cache(maxsize=64)(self._read_source)
        self._piece = lru_cache(maxsize=None)(self._decode_piece)

    @cached_property
    def _ids(self) -> dict[str, int]:
        """The tokens by their texts, as they stand within a text."""
        return {self._piece(id_): id_ for id_ in range(len(self._starts_word))}

    def choose(
        self,
        id_: int,
        logits: NDArray[np.float32],
        source: Heard,
        caption: str,
        target: Sequence[int] = (),
    ) -> int:
        """Return the token that is written.

        Args:
            id_: what the model proposes, the likeliest token that may be chosen.
            logits: shape (V,); ids that may not be chosen have -inf.
            source: as far as it was read.
            caption: the text written so far.
            target: its tokens, markers left out.
        """
        facts, best = self._facts(source), id_
        now = written(caption, facts.numbers)
        if now.open_at is None:
            if facts.copies.terms:
                term = self._copies.of_term(
                    id_, logits, facts.copies.terms, caption, target, self._piece(id_)
                )
                if term is not None:
                    return term  # the user's words, whatever they hold
            best = self._copies.named(
                id_, logits, facts.copies.names, caption, target, self._piece(id_)
            )
        if self._is_allowed(best, facts, caption, target, now):
            return best
        of_numbers = self._of_numbers(now, facts.numbers, logits, self._piece(best))
        for other in (*of_numbers, *self._likeliest(logits)):
            if logits[other] != -float("inf") and self._is_allowed(
                other, facts, caption, target, now
            ):
                return other
        return id_

    def completes_number(self, id_: int, source: Heard, caption: str) -> bool:
        """Return whether a caption stops inside a number, and this token goes on with it.

        A write is not cut there: it would show a number that nobody said. No number of a source is
        endless, so the cut comes soon. The source is as far as it was read.
        """
        now, piece = written(caption, self._facts(source).numbers), self._piece(id_)
        return now.open_at is not None and any(rest.startswith(piece) for rest in now.rests)

    def _of_numbers(
        self,
        now: Written,
        numbers: Sequence[tuple[Form, ...]],
        logits: NDArray[np.float32],
        piece: str,
    ) -> list[int]:
        """Return tokens that go on with the number of a caption, or begin one in place of digits.

        ``piece`` is the text that was proposed.
        """
        texts: Iterable[str] = now.rests
        if now.open_at is None:
            if not (any(map(str.isdecimal, piece)) or _ROMAN.fullmatch(piece)):
                return []
            blank = " " if piece.startswith(" ") else ""
            texts = (blank + form.whole for n in now.left for form in numbers[n])
        ids = {id_ for text in texts if (id_ := self._beginning(text)) is not None}
        return sorted(ids, key=lambda id_: -float(logits[id_]))

    def _beginning(self, text: str) -> int | None:
        lengths = range(len(text), 0, -1)
        return next((self._ids[text[:n]] for n in lengths if text[:n] in self._ids), None)

    @staticmethod
    def _likeliest(logits: NDArray[np.float32]) -> Iterator[int]:
        yield from np.argsort(-logits, kind="stable")[:_MAX_TRIED].tolist()

    def _is_allowed(
        self, id_: int, facts: _Source, caption: str, target: Sequence[int], now: Written
    ) -> bool:
        if not self._reads_english:
            return True  # number words and harmful words are known of English alone
        piece, text = self._piece(id_), facts.heard.text
        judged_from = len(caption) if now.open_at is None else now.open_at
        numbers = facts.heard.numbers
        has_half = _HALF in piece and text.isascii() and self._language in TABLES
        text_then = caption + piece.replace(_HALF, "")  # half of a °, which may follow a number
        word = tail_of(text_then)
        is_copy = word and any(code.startswith(word) for code in facts.codes)
        return not (
            # a blank alone comes before digits and symbols
            (piece == " " and not facts.blanks and not now.left)
            or (not is_copy and written(text_then, facts.numbers, judged_from).n_others)
            or (numbers and says_other(text_then, numbers, now.left, self._language))
            or (facts.units and says_unit(text_then, facts.units, self._language))
            or has_half
            or any(is_rare(char) and char not in text for char in piece.strip(_HALF))
            or (not facts.numbers and {"º", "°"} & set(piece))  # *No.* is no number
            or (_ROMAN.fullmatch(piece) and now.left and _ORDINAL.search(text))
            or (target and self._breaks_character(id_, piece, facts, target))
            or (facts.barred and self._harmful.holds(tail_of(caption) + piece, facts.barred))
        )

    def _breaks_character(
        self, id_: int, piece: str, facts: _Source, target: Sequence[int]
    ) -> bool:
        """Return whether the character begun by the last token is broken by this one, or is a sign.

        A sign is one that stands in no text; see ``engine.text.source``.
        """
        if _HALF not in self._piece(target[-1]):
            return False
        text = self._decoder.decode([*target[-_MOST_BYTES:], id_], skip_special_tokens=True)
        made = text.strip(_HALF)
        is_sign = any(is_rare(char) and char not in facts.heard.text for char in made[-1:])
        return _HALF in made or is_sign or (_HALF not in piece and text.endswith(_HALF))

    def _read_source(self, source: Heard) -> _Source:
        words = source.text.split()
        english, copies = self._reads_english, self._copies.candidates(words)
        return _Source(
            source,
            tuple(forms(one, self._language) for one in source.numbers if english),
            not all(any(map(str.isalnum, word)) for word in words)
            or any(self._piece(copy.ids[0]) == " " for copy in copies.names),
            units({"hours", "money"} - may_be_counted(source.text), self._language),
            self._harmful.barred(words),
            copies,
            tuple(copy.word for copy in copies.names if is_code(copy.word)),
        )

    def _decode_piece(self, id_: int) -> str:
        """Decode one token as it stands within a text; a marker ends the word before it."""
        text: str = self._decoder.decode([id_], skip_special_tokens=True)
        if not text and not self._starts_word[id_]:
            return "\n"
        return " " + text.lstrip() if self._starts_word[id_] else text
