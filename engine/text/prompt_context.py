"""Context in the prompt of a translation: a glossary, and the previous sentences.

It is part of the system message, so it works with every chat template; docs/models.md measures
which models follow it. Each row of it is computed once while it is unchanged, and is seen by every
later token.
"""

from collections.abc import Sequence
from dataclasses import replace

from engine.errors import ContextError
from engine.layout.rows import Headers
from engine.messages import Code
from engine.models.model_card import ModelCard
from engine.text.prompt import Prompt, make_prompt
from engine.text.tokenizer import Tokenizer

MAX_ROWS = 512
"""Limit of the rows of glossary and sentences; a slot cache has a few thousand rows."""

Glossary = Sequence[tuple[str, str]]
"""Terms of the source language, each with its translation."""


class NoContext:
    """The prompt of a model that has none: markers alone, without glossary and sentences."""

    def __init__(self, end: int, markers: frozenset[int]) -> None:
        """Take the marker that ends a target, and all ids that are never part of a caption."""
        nothing = Headers(system=(), user=(), assistant=(), first=())
        self._prompt = Prompt(
            headers=nothing, end_of_source=end, end_of_write=end, end_of_target=end, markers=markers
        )

    def prompt(self, sentences: Sequence[str] = ()) -> Prompt:  # noqa: ARG002  as ``Context``
        """Return the prompt; sentences are not used."""
        return self._prompt

    def n_rows(self, prompt: Prompt) -> int:  # noqa: ARG002  as ``Context``
        """Return 0."""
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
