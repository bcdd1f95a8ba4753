"""What a model is told besides the order to translate: a glossary, and the sentences before.

It stands in the system message, so every model with a chat template can be told; whether it
listens is another matter (docs/models.md). Each row of it is computed once, as long as it stays the
same, and is seen by every token after it.
"""

from collections.abc import Sequence
from dataclasses import replace

from transformers import PreTrainedTokenizerFast

from engine.errors import ContextError
from engine.messages import Code
from engine.models.model_card import ModelCard
from engine.text.prompt import Prompt, make_prompt

MAX_ROWS = 512
"""Rows that glossary and sentences may take together; a slot cache has room for a few thousand."""

Glossary = Sequence[tuple[str, str]]
"""Terms of the source language, each with its translation."""


class Context:
    """Make the prompts of one model and language, with what is told besides."""

    def __init__(
        self,
        tokenizer: PreTrainedTokenizerFast,
        card: ModelCard,
        language: str,
        glossary: Glossary = (),
    ) -> None:
        """Take what stays the same from utterance to utterance.

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
        """Make a prompt that tells of the sentences before, but for the oldest if too long."""
        told = list(sentences)
        while True:
            prompt = make_prompt(self._tokenizer, self._told_card(told), self._language)
            if not told or self.n_rows(prompt) <= MAX_ROWS:
                return prompt
            del told[0]

    def n_rows(self, prompt: Prompt) -> int:
        """Count the rows of a prompt that it would not have without glossary and sentences."""
        return len(prompt.headers.system) - self._n_bare

    def _told_card(self, sentences: Sequence[str]) -> ModelCard:
        language = self._card.language(self._language)
        parts = [language.system]
        if self._glossary:
            lines = (f"{self._plain(one)} = {self._plain(other)}" for one, other in self._glossary)
            parts.append("\n".join(("Glossary:", *lines)))
        if sentences:
            parts.append("\n".join(("Said before:", *map(self._plain, sentences))))
        told = replace(language, system="\n\n".join(parts))
        return replace(self._card, languages={**self._card.languages, self._language: told})

    def _plain(self, text: str) -> str:
        """Take out what the tokenizer would read as a marker, and what is no text."""
        for marker in self._tokenizer.added_tokens_encoder:
            text = text.replace(marker, " ")
        shown = (character if character.isprintable() else " " for character in text)
        return " ".join("".join(shown).split())
