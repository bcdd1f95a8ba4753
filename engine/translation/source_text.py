"""The source of an utterance as its model reads it: words, units of tokens, what ends them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Self

from engine.text.quantities import Quantity

Unit = tuple[int, ...]
"""Tokens that arrive together: a source word, or the end-of-source marker."""


Number = tuple[int, Quantity]
"""A number of a source, with the units up to its end."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A word that goes into the caption untranslated, see ``engine.text.source``.

    Attributes:
        text: of the word.
        n_units: units of the source before it.
        n_words: translated words of the source before it.
    """

    text: str
    n_units: int
    n_words: int


@dataclass(frozen=True, slots=True)
class SourceText:
    """A source.

    Attributes:
        words: as they were fed.
        ended: no word follows.
        units: its tokens; a long word may be several units. The end-of-source marker stands in the
            last one, or is one of its own.
        n_word_units: those before such an end.
        full_stop: tokens before the end-of-source marker that stand in no word. The caption then
            leaves the full stop out that it would end in.
        passed: words that the model does not read.
        numbers: in its units.
        ends: for each unit, the words up to its end; empty where each word is a unit.
    """

    words: tuple[str, ...] = ()
    ended: bool = False
    units: tuple[Unit, ...] = ()
    n_word_units: int = 0
    full_stop: Unit = ()
    passed: tuple[Passed, ...] = ()
    numbers: tuple[Number, ...] = ()
    ends: tuple[int, ...] = ()

    @property
    def is_untranslatable(self) -> bool:
        """Return whether it has words, and none for the model."""
        return not self.units and bool(self.words)

    def n_words(self, n_units: int) -> int:
        """Return how many words, and end markers, the first units stand for."""
        beyond = max(0, n_units - len(self.ends))
        return (self.ends[n_units - beyond - 1] if n_units > beyond else 0) + beyond

    def ids(self, n_units: int) -> list[int]:
        """Return the tokens of the first units."""
        return [id_ for unit in self.units[:n_units] for id_ in unit]

    def with_end(self, end: Unit, read: Sequence[Unit], *, alone: bool) -> Self:
        """Put what ends it behind the last unit, or alone; always so where all were read.

        Args:
            end: empty for a model that has no end-of-source marker, where no full stop is missing.
            read: units of the source before that were read.
            alone: it is a unit of its own, also if the last word is not read.
        """
        units = self.units
        if not end:
            return self
        if alone or not units or tuple(read[: len(units)]) == units:
            return replace(self, units=(*units, end))
        return replace(self, units=(*units[:-1], (*units[-1], *end)))
