"""Make prompts: headers and markers around the words, from the tokenizer's chat template.

No header is hard-coded: a conversation of placeholders is rendered through the template, and the
texts between the placeholders are the headers.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import cast

from engine.errors import ContextError, ModelError, is_failure
from engine.layout.rows import Headers
from engine.messages import Code
from engine.metrics.event_log import is_spaced
from engine.models.model_card import ModelCard
from engine.text.tokenizer import Tokenizer, WordTokenizer
from engine.untrusted.limited_process import LimitedError, render

_MAX_UNIT = 64
"""Tokens that are read together; a longer word is read in parts."""

_DATE = "26 Jul 2024"
"""The default date of Llama 3.1; the prompt of an adapter must not change every day."""

_TOKENIZERS = 8
"""Of which is kept what their tokens begin with; a server opens sessions with one all day."""

_WORD_MARKS = ("Ġ", "▁")
"""Of tokens that begin with a blank."""

_SOURCE, _TARGET, _NEXT = "\ue000source\ue001", "\ue000target\ue001", "\ue000next\ue001"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """Headers and markers of one model and one target language, as token ids.

    Attributes:
        end_of_source: the marker that ends the source; ``end_of_target`` if the model has no other.
        end_of_write: ends a write of read-n.
        end_of_target: ends the target of wait-k and offline.
        markers: all ids that are never part of a caption.
    """

    headers: Headers
    end_of_source: int
    end_of_write: int
    end_of_target: int
    markers: frozenset[int]

    def suppressed(self, *, ends_writes: bool) -> frozenset[int]:
        """Return the markers that a policy forbids the model to choose.

        A policy that ends writes allows end-of-write, any other end-of-target.
        """
        return self.markers - {self.end_of_write if ends_writes else self.end_of_target}


def make_prompt(tokenizer: Tokenizer, card: ModelCard, language: str) -> Prompt:
    """Build the prompt for a target language.

    Raises:
        ModelError: the model has no chat template, one that changes the text, or lacks a marker.
    """
    headers = _headers(tokenizer, card.name, card.language(language).system)
    end_of_turn = _turn_end(tokenizer, headers)
    end_of_source, end_of_write, end_of_target = (
        _marker(tokenizer, card, text or end_of_turn)
        for text in (card.end_of_source, card.end_of_write, card.end_of_target)
    )
    return Prompt(
        headers=headers,
        end_of_source=end_of_source,
        end_of_write=end_of_write,
        end_of_target=end_of_target,
        markers=_never_text(tokenizer) | {end_of_source, end_of_write, end_of_target},
    )


def _never_text(tokenizer: Tokenizer) -> frozenset[int]:
    """Return the tokens that are never part of a caption: special ones, of thoughts and of tools.

    The latter are added tokens in angle brackets (``<think>`` of Qwen3).
    """
    brackets = (
        id_
        for id_, token in tokenizer.added_tokens_decoder.items()
        if token.content.startswith("<") and token.content.endswith(">")
    )
    return frozenset({*tokenizer.all_special_ids, *brackets})


def turn_end(tokenizer: Tokenizer, name: str) -> str:
    """Return the token with which a model ends its turns; empty if unknown.

    It is the token that the chat template puts after questions and answers alike, else the
    tokenizer's end: the two differ for Gemma. ``name`` of the model is for errors.

    Raises:
        ModelError: the chat template cannot be used.
    """
    if tokenizer.chat_template is None:
        return str(tokenizer.eos_token or "")
    return _turn_end(tokenizer, _headers(tokenizer, name, "Translate."))


def _turn_end(tokenizer: Tokenizer, headers: Headers) -> str:
    after_answer, after_question = headers.user[:1], headers.assistant[:1]
    if after_answer == after_question and after_answer:
        known = tokenizer.added_tokens_decoder.get(after_answer[0])
        if known is not None and known.special:
            return str(known)
    return str(tokenizer.eos_token or "")


def _headers(tokenizer: Tokenizer, name: str, system: str) -> Headers:
    template = tokenizer.chat_template
    if isinstance(template, dict):  # several, by name
        template = template.get("default")
    if not isinstance(template, str):
        raise ModelError(Code.NO_TEMPLATE(model=name))
    variables = {**tokenizer.special_tokens_map, "date_string": _DATE}
    try:
        rendered = render(template, _conversations(system), variables)
    except LimitedError as error:
        raise ModelError(Code.TEMPLATE_UNUSABLE(model=name, reason=str(error))) from error
    try:
        before, rest = rendered.split(_SOURCE)
        assistant, rest = rest.split(_TARGET)
        user, _ = rest.split(_NEXT)
    except ValueError as error:
        raise ModelError(Code.TEMPLATE_ALTERS(model=name)) from error
    first = user if before.endswith(user) else ""

    def ids(text: str) -> tuple[int, ...]:
        return tuple(cast("list[int]", tokenizer.encode(text, add_special_tokens=False)))

    return Headers(
        system=ids(before.removesuffix(first)),
        user=ids(user),
        assistant=ids(assistant),
        first=ids(first),
    )


def _conversations(system: str) -> list[list[dict[str, str]]]:
    """Return a conversation of placeholders, and one for templates without a system role (Gemma).

    The latter has the system text before the first source.
    """
    turns = [
        {"role": "assistant", "content": _TARGET},
        {"role": "user", "content": _NEXT},
    ]
    apart = [{"role": "system", "content": system}, {"role": "user", "content": _SOURCE}]
    together = [{"role": "user", "content": f"{system}\n\n{_SOURCE}"}]
    return [[*apart, *turns], [*together, *turns]]


def _marker(tokenizer: Tokenizer, card: ModelCard, text: str) -> int:
    if not text:
        raise ModelError(Code.NO_TURN_END(model=card.name))
    id_ = tokenizer.convert_tokens_to_ids(text)
    if not isinstance(id_, int) or id_ == tokenizer.unk_token_id:
        raise ModelError(Code.MARKER_UNKNOWN(model=card.name, marker=text))
    return id_


def word_ids(tokenizer: WordTokenizer, word: str) -> list[int]:
    """Encode one whitespace word with the blank before it, in training and live; never a marker."""
    return _encoded(tokenizer, " " + word)


def joined_ids(tokenizer: WordTokenizer, word: str) -> list[int]:
    """Encode a word that follows another without a blank; nothing if the tokenizer adds one."""
    ids = _encoded(tokenizer, word)
    begins = [str(token) for token in tokenizer.convert_ids_to_tokens(ids[:1])]
    return [] if any(token.startswith(_WORD_MARKS) for token in begins) else ids


def _encoded(tokenizer: WordTokenizer, text: str) -> list[int]:
    """Encode a text; in halves, where a pattern of the tokenizer gives up on the whole.

    Oniguruma does so after ten million steps, which some patterns of strangers take for some words.
    """
    try:
        ids = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
    except BaseException as error:
        half = len(text) // 2
        if not half or not is_failure(error):
            raise
        return _encoded(tokenizer, text[:half]) + _encoded(tokenizer, text[half:])
    return cast("list[int]", ids)


def full_stop_ids(tokenizer: WordTokenizer, word: str, full_stop: str) -> tuple[int, ...]:
    """Encode the full stop after a word; no ids for an empty one."""
    if not full_stop:
        return ()
    before, whole = word_ids(tokenizer, word), word_ids(tokenizer, word + full_stop)
    if whole[: len(before)] == before:
        return tuple(whole[len(before) :])
    return tuple(cast("list[int]", tokenizer.encode(full_stop, add_special_tokens=False)))


def word_units(tokenizer: WordTokenizer, word: str) -> Iterator[tuple[int, ...]]:
    """Yield the ids of a word in units that are read at once: one, unless it is very long."""
    ids = word_ids(tokenizer, word)
    for start in range(0, len(ids), _MAX_UNIT):
        yield tuple(ids[start : start + _MAX_UNIT])


@lru_cache(maxsize=_TOKENIZERS)
def word_starts(tokenizer: WordTokenizer) -> list[bool]:
    """Return for every id whether its token begins with a blank, and so begins a word."""
    tokens = tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))
    return [str(token).startswith(_WORD_MARKS) for token in tokens]


_INSIDE = frozenset(map(chr, (*range(0xA1, 0xC0), *range(290, 324))))
"""Letters by which byte-level tokens write the bytes 0x80 to 0xBF: a character goes on in them."""

_BLANKS = frozenset("▁" + "".join(map(chr, range(256, 289))))
"""Marks of blanks in tokens: of metaspaces, and of the bytes 0x00 to 0x20."""

_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


@lru_cache(maxsize=_TOKENIZERS)
def words_begun(tokenizer: WordTokenizer, language: str) -> list[int]:
    """Return for every id how many words of a target its token begins.

    Where a language has no blanks between words, each character is a word (as in
    ``engine.metrics.event_log``), and a token may begin several; elsewhere a token begins one or
    none.
    """
    if is_spaced(language):
        return [int(starts) for starts in word_starts(tokenizer)]
    tokens = [str(token) for token in tokenizer.convert_ids_to_tokens(list(range(len(tokenizer))))]
    inside = _INSIDE if any(token.startswith("Ġ") for token in tokens) else frozenset[str]()
    return [_n_characters(token, inside) for token in tokens]


def _n_characters(token: str, inside: frozenset[str]) -> int:
    """Count the characters of which a token has the first byte, without blanks."""
    byte = _BYTE.fullmatch(token)
    if byte is not None:
        value = int(byte[1], 16)
        return int(value > ord(" ") and not 0x80 <= value < 0xC0)
    return sum(not (one in inside or one in _BLANKS or one.isspace()) for one in token)


MAX_ROWS = 512
"""Limit of the rows of glossary and sentences; a slot cache has a few thousand rows."""

Glossary = Sequence[tuple[str, str]]
"""Terms of the source language, each with its translation."""


class NoContext:
    """The prompt of a model that has none: markers alone, without glossary and sentences."""

    def __init__(self, end: int, markers: frozenset[int]) -> None:
        nothing = Headers(system=(), user=(), assistant=(), first=())
        self._prompt = Prompt(
            headers=nothing, end_of_source=end, end_of_write=end, end_of_target=end, markers=markers
        )

    def prompt(self, sentences: Sequence[str] = ()) -> Prompt:  # noqa: ARG002  as ``Context``
        return self._prompt

    def n_rows(self, prompt: Prompt) -> int:  # noqa: ARG002  as ``Context``
        return 0


class Context:
    """Make the prompts of one model and language with their context."""

    def __init__(
        self,
        tokenizer: Tokenizer,
        card: ModelCard,
        language: str,
        glossary: Glossary = (),
    ) -> None:
        """Take the values that are the same for all utterances.

        Raises:
            ModelError: as for ``make_prompt``.
            ContextError: the glossary is too long.
        """
        self._tokenizer, self._card, self._language = tokenizer, card, language
        self._glossary = tuple(glossary)
        self._n_bare = len(make_prompt(tokenizer, card, language).headers.system)
        n_rows = self.n_rows(self.prompt())
        if n_rows > MAX_ROWS:
            n_terms = len(self._glossary)
            raise ContextError(
                Code.GLOSSARY_TOO_LONG(n_terms=n_terms, n_rows=n_rows, most=MAX_ROWS)
            )

    def prompt(self, sentences: Sequence[str] = ()) -> Prompt:
        """Make a prompt with the previous sentences; drop the oldest while it is too long."""
        kept = list(sentences)
        while True:
            prompt = make_prompt(self._tokenizer, self._card_with(kept), self._language)
            if not kept or self.n_rows(prompt) <= MAX_ROWS:
                return prompt
            del kept[0]

    def n_rows(self, prompt: Prompt) -> int:
        """Return the number of rows that glossary and sentences take in a prompt."""
        return len(prompt.headers.system) - self._n_bare

    def _card_with(self, sentences: Sequence[str]) -> ModelCard:
        language = self._card.language(self._language)
        parts = [language.system]
        if self._glossary:
            lines = (f"{self._plain(src)} = {self._plain(tgt)}" for src, tgt in self._glossary)
            parts.append("\n".join(("Glossary:", *lines)))
        if sentences:
            parts.append("\n".join(("Said before:", *map(self._plain, sentences))))
        extended = replace(language, system="\n\n".join(parts))
        return replace(self._card, languages={**self._card.languages, self._language: extended})

    def _plain(self, text: str) -> str:
        """Remove markers of the tokenizer and unprintable characters."""
        for marker in self._tokenizer.added_tokens_encoder:
            text = text.replace(marker, " ")
        shown = (character if character.isprintable() else " " for character in text)
        return " ".join("".join(shown).split())
