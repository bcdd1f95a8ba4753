"""Blocks of sound in, captions out: the translator of slots, whose source rows carry vectors.

A block is one unit of the source, as a word of a text is. Policies count blocks. Constraints,
glossary, sentences before and edits need the words of the source, and so do not work here.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from typing import cast

import numpy as np
from numpy.typing import NDArray

from engine.metrics.event_log import EventLog
from engine.runtime.causal_model import AnyModel, Asking
from engine.runtime.rows import Vectors
from engine.runtime.weights import Weights
from engine.settings import TranslationSettings
from engine.translation.base import AnySystem
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from engine.translation.source_text import SourceText
from engine.translation.utterance import Utterance

Blocks = Sequence[NDArray[np.float32]]
"""Each of shape (positions, width)."""


class SpokenUtterance(Utterance):
    """One utterance of sound. Its source only grows, so no state of before is kept.

    Attributes:
        vectors: of its rows that are not evicted.
    """

    vectors: Vectors

    def _begin_anew(self) -> int:
        self.vectors = Vectors()
        return super()._begin_anew()

    def hear(self, blocks: Blocks, *, ended: bool) -> None:
        """Add blocks to the source; with ``ended`` none follow.

        Raises:
            ValueError: the source has ended before.
        """
        if self.ended:
            msg = "an utterance that has ended hears nothing more"
            raise ValueError(msg)
        units = (*self.source.units, *map(self.vectors.add, blocks))
        n_blocks = len(units)
        source = SourceText(("",) * n_blocks, ended, units, n_blocks)
        self.source = source.with_end(self.end, (), alone=True) if ended else source

    def read(self) -> None:
        """Read the next block, or the marker of the end."""
        self.planner.read(self.source.units[self.n_read])
        self.state.word_complete = self.state.exhausted = False

    def forget_evicted(self) -> None:
        """Forget the vectors of rows that are in no cache any more."""
        unread = (id_ for unit in self.source.units[self.n_read :] for id_ in unit)
        carried = [row.id for row in self.planner.rows if row.id < 0]
        first = next((id_ for id_ in (*carried, *unread) if id_ < 0), None)
        if first is not None:
            self.vectors.forget_before(first)

    def _heard(self) -> str:
        return ""


class SpokenTranslator(Translator):
    """Translate utterances of sound with one model and one cache.

    Invariant: every vector is fed once, but for an utterance that is returned to after another was
    translated by the same cache; those rows are counted as computed again.
    """

    def __init__(
        self,
        weights: Weights,
        settings: TranslationSettings,
        *,
        capacity: int = 2048,
        log: EventLog | None = None,
        model: AnyModel | None = None,
    ) -> None:
        """See ``Conversation``."""
        super().__init__(weights, _of_sound(settings), capacity=capacity, log=log, model=model)

    def configure(self, settings: TranslationSettings) -> None:
        """Use these settings from the next utterance on, without what needs words."""
        super().configure(_of_sound(settings))

    def open(self) -> SpokenUtterance:
        """Open an utterance with the current settings."""
        return SpokenUtterance(self.conversation, None)

    def hear(self, utterance: SpokenUtterance, blocks: Blocks, *, ended: bool = False) -> None:
        """Add the next blocks of the sound of an utterance.

        Args:
            utterance: one of this translator.
            blocks: as many as are certain; may be none.
            ended: no sound follows.

        Raises:
            ValueError: it has ended before.
        """
        utterance.hear(blocks, ended=ended)
        number, n_blocks = utterance.number, len(blocks)
        self._log.write("heard", utterance=number, n_blocks=n_blocks, ended=ended)

    def _attach(self, utterance: Utterance) -> Asking[None]:
        self.model.vectors = _spoken(utterance).vectors
        yield from super()._attach(utterance)

    def _make_room(self, utterance: Utterance) -> None:
        n_evicted = utterance.planner.n_evicted_words
        super()._make_room(utterance)
        if utterance.planner.n_evicted_words > n_evicted:
            _spoken(utterance).forget_evicted()

    def _beside(self, settings: TranslationSettings, capacity: int) -> AnySystem:
        raise NotImplementedError  # it translates words apart, for terms: sound has neither


def as_spoken(system: object) -> SpokenTranslator | None:
    """Return a system that translates sound; None for one that translates words."""
    return system if isinstance(system, SpokenTranslator) else None


def hear_silence(translator: SpokenTranslator) -> None:
    """Translate a vector of zeros and drop its caption, as a warm-up."""
    weights = cast("Weights", translator.conversation.weights)
    utterance = translator.open()
    translator.hear(utterance, [np.zeros((1, weights.width), np.float32)], ended=True)
    deque(changes(translator, utterance), maxlen=0)


def _spoken(utterance: Utterance) -> SpokenUtterance:
    assert isinstance(utterance, SpokenUtterance), "a translator gets its own utterances"
    return utterance


def _of_sound(settings: TranslationSettings) -> TranslationSettings:
    """Return settings without what needs the words of the source."""
    return replace(settings, constrained=False, glossary=(), context_sentences=0)
