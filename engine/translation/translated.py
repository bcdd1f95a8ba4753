"""The base of the utterances of all translators: source, rules of the tokens, caption."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from engine.events import n_same
from engine.text.quantities import Quantity
from engine.text.sentences import Sentence
from engine.text.source import Heard
from engine.text.tokenizer import Detokenizer
from engine.text.written import is_loop
from engine.translation.captioner import Change, after_arrival
from engine.translation.own_words import TermWriter

if TYPE_CHECKING:
    from engine.events import Confidence
    from engine.runtime.causal_model import Asking
    from engine.translation.conversation import Conversation

_MAX_GROWTH, _MAX_EXTRA = 2, 16
"""A write of more tokens than growth x source tokens + extra is a loop and is ended."""

Unit = tuple[int, ...]
"""Tokens that arrive together: a source word, or the end-of-source marker."""

Number = tuple[int, Quantity]
"""A number of a source, with the units up to its end."""


@dataclass(frozen=True, slots=True)
class Passed:
    """A word that goes into the caption untranslated, see ``engine.text.source``.

    Attributes:
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
        return [id_ for unit in self.units[:n_units] for id_ in unit]

    def with_end(self, end: Unit, read: Sequence[Unit], *, alone: bool) -> Self:
        """Put the ``end`` behind the last unit, or alone; always so where all were ``read`` before.

        It is empty for a model without an end-of-source marker, where no full stop is missing.
        """
        units = self.units
        if not end:
            return self
        if alone or not units or tuple(read[: len(units)]) == units:
            return replace(self, units=(*units, end))
        return replace(self, units=(*units[:-1], (*units[-1], *end)))


class Translated(ABC):
    """One utterance: its source, with the settings of when it was opened, and its caption.

    Attributes:
        source: may change at any time; what depended on a changed word is forgotten then.
        finished: translated to its end.
        suppressed: markers that are not chosen.
        terms: writes the translations of a glossary in it.
    """

    _by: "Conversation"

    def __init__(self, now: "Conversation", *, ends_writes: bool) -> None:
        """Open it; with ``ends_writes`` tokens may end a write before the target ends."""
        self._by = now
        self.number = now.next_number()
        self.prompt = now.prompt
        self.policy = now.policy
        self.layout = now.resolved.layout
        self.source = SourceText()
        self._arrivals: tuple[int, ...] = ()  # units of the source after each group of words
        self.finished = False
        self.suppressed = tuple(sorted(self.prompt.suppressed(ends_writes=ends_writes)))
        self._decoder = now.weights.decoder
        self._cuts_loops = now.settings.cut_loops
        self._constraints = now.constraints
        self._own_words = now.own_words()
        self.detokenizer = Detokenizer(self._decoder)
        self.terms = TermWriter()

    @property
    @abstractmethod
    def caption(self) -> str:
        """The committed text."""

    @property
    @abstractmethod
    def n_read(self) -> int:
        """Units read."""

    @abstractmethod
    def take_source(self, source: SourceText) -> int | None:
        """Replace the source; forget what depended on a word that changed.

        Return how many rows of this utterance are still valid, or None where none was lost.
        """

    @abstractmethod
    def steps(self) -> "Asking[Change | None]":
        """Do as ``advance``, but yield what the model is to compute."""

    @property
    @abstractmethod
    def confidence(self) -> "Confidence | None":
        """How sure the model is of the caption; None where it was not calibrated for that."""

    def advance(self) -> Change | None:
        """Translate until the caption grows; None where the committed words allow no more."""
        return self._by.model.run(self.steps())

    def set_source(self, sentence: Sentence) -> bool:
        before = len(self.caption)
        source = self._by.source_text(self, sentence)
        self._note_arrival(source)
        n_rows = self.take_source(source)
        if n_rows is None:
            return False
        kept = len(self.caption)
        self._by.log.write(
            "rewound",
            utterance=self.number,
            n_read=self.n_read,
            cached_rows=n_rows,
            kept=kept,
        )
        return kept < before

    def give_up(self) -> None:
        """Stay as it is after it could not be computed, and empty the cache."""
        self.finished = True
        self._by.forget()
        self._by.weights.give_memory_back()

    @property
    @abstractmethod
    def target(self) -> list[int]:
        """Tokens of the target so far, without markers."""

    @property
    @abstractmethod
    def runs_away(self) -> bool:
        """Return whether the open write has gone on for longer than any translation would."""

    @abstractmethod
    def _written(self) -> str:
        """Return the text of the target so far."""

    @property
    def words(self) -> tuple[str, ...]:
        return self.source.words

    @property
    def ended(self) -> bool:
        return self.source.ended

    @property
    def end(self) -> Unit:
        """The token that ends the source; nothing where the model has no token for it."""
        marker = self.prompt.end_of_source
        return () if marker == self.prompt.end_of_target else (marker,)

    @property
    def n_words_read(self) -> int:
        """Words read, as they were fed, and the end."""
        return self.source.n_words(self.n_read)

    @property
    def can_read(self) -> bool:
        return self.n_read < len(self.source.units)

    def _note_arrival(self, source: SourceText) -> None:
        """Note which units of a source come together, before it replaces the one so far.

        A correction leaves the groups before it, and brings the rest as one. An end that is read
        alone is a group of its own.
        """
        same, n_units = n_same(self.source.units, source.units), len(source.units)
        ends = (min(source.n_word_units, n_units), n_units)
        self._arrivals = after_arrival(self._arrivals, same, *ends)

    @property
    def n_waiting(self) -> int:
        """Units that came together with the newest one that was read, and are not read."""
        n_read = self.n_read
        end = next((n_units for n_units in self._arrivals if n_units >= n_read), n_read)
        return end - n_read

    @property
    def source_ended(self) -> bool:
        """Return whether everything was read, the marker too."""
        return self.ended and not self.can_read

    def loops_with(self, id_: int) -> bool:
        """Return whether the target would begin to loop if this token came next."""
        if not self._cuts_loops or id_ in self.prompt.markers:
            return False
        return is_loop([*self.target, id_], self.source.ids(self.n_read))

    def is_cut_before(self, id_: int, *, loops: bool) -> bool:
        """Return whether a write ends before this token: it loops, or is too long.

        It goes on to the end of a number: what would be left is one that nobody said.
        """
        if not (loops or self.runs_away):
            return False
        rules = self._constraints
        return rules is None or not rules.completes_number(
            id_, self._source_read(), self._written()
        )

    def constrained(self, id_: int, logits: NDArray[np.float32]) -> int:
        """Return the token to write in place of the one the model proposes, often the same.

        ``logits``: shape (V,); -inf for ids that may not be chosen.
        """
        if self._constraints is None:
            return id_
        written = self._written()
        return self._constraints.choose(id_, logits, self._source_read(), written, self.target)

    def _with_terms(self, text: str, *, ends_word: bool, is_last: bool) -> str:
        if self._own_words is None:
            return text
        heard = self._own_words.heard(self._heard())
        shown = self.terms.feed(text, heard, ends_word=ends_word)
        return shown + self.terms.flush(heard) if is_last else shown

    def _source_read(self) -> Heard:
        numbers = self.source.numbers
        return Heard(self._heard(), tuple(one for n, one in numbers if n <= self.n_read))

    def _heard(self) -> str:
        return self._text(self.source.ids(self.n_read))

    def _text(self, ids: Sequence[int]) -> str:
        return self._decoder.decode(list(ids), skip_special_tokens=True)


def is_runaway(n_chosen: int, n_source: int) -> bool:
    """Return whether a write is longer than any translation of so many source tokens would be."""
    return n_chosen > runaway_length(n_source)


def runaway_length(n_source: int) -> int:
    """Return how long a translation of so many source tokens may be at most."""
    return _MAX_GROWTH * n_source + _MAX_EXTRA
