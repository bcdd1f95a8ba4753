"""Blocks of sound in, captions out: the translator of slots, whose source rows carry vectors.

A block is one unit of the source, as a word of a text is. Policies count blocks. Constraints,
glossary, sentences before and edits need the words of the source, and so do not work here.
"""

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from engine.events import Event, FedWord, SourceChanged, UtteranceDropped
from engine.runtime.causal_model import Asking
from engine.runtime.rows import Vectors
from engine.settings import TranslationSettings
from engine.text.sentences import Sentence
from engine.translation.conversation import Conversation
from engine.translation.feed import changes, translate_unseen
from engine.translation.passage import Passage
from engine.translation.slot_translator import Translator
from engine.translation.targets import Target
from engine.translation.translated import SourceText
from engine.translation.utterance import Utterance

Blocks = Sequence[NDArray[np.float32]]
"""Each of shape (positions, width)."""


class SpokenUtterance(Utterance):
    """One utterance of sound, whose source only grows; ``vectors`` are of rows not evicted."""

    vectors: Vectors

    def _begin_anew(self) -> int:
        self.vectors = Vectors()
        return super()._begin_anew()

    def hear(self, blocks: Blocks, *, ended: bool = False) -> None:
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
        self._by.log.write("heard", utterance=self.number, n_blocks=len(blocks), ended=ended)

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

    def configure(self, settings: TranslationSettings) -> None:
        """Use these settings from the next utterance on, without what needs words."""
        super().configure(_of_sound(settings))

    def open(self) -> SpokenUtterance:
        return SpokenUtterance(self)

    def _attach(self, utterance: Utterance) -> Asking[None]:
        self.model.vectors = _spoken(utterance).vectors
        yield from super()._attach(utterance)

    def _make_room(self, utterance: Utterance) -> None:
        n_evicted = utterance.planner.n_evicted_words
        super()._make_room(utterance)
        if utterance.planner.n_evicted_words > n_evicted:
            _spoken(utterance).forget_evicted()


def warm_up(system: Conversation) -> None:
    """Translate something that nobody sees: a word, or a vector of zeros."""
    if not isinstance(system, SpokenTranslator):
        translate_unseen(system, "Hello.")
        return
    utterance = system.open()
    utterance.hear([np.zeros((1, system.weights.width), np.float32)], ended=True)
    deque(changes(utterance), maxlen=0)


def passage_of(system: Conversation) -> type[Passage]:
    return SoundPassage if isinstance(system, SpokenTranslator) else Passage


def _spoken(utterance: Utterance) -> SpokenUtterance:
    assert isinstance(utterance, SpokenUtterance), "a translator gets its own utterances"
    return utterance


def _of_sound(settings: TranslationSettings) -> TranslationSettings:
    return replace(settings, constrained=False, glossary=(), context_sentences=0)


class SoundPassage(Passage):
    """A passage whose words are blocks of sound (``FedWord.vectors``); what was heard stays.

    Further languages have no words to translate, and so no captions.
    """

    def tell(self, target: Target) -> None:
        """Do nothing: a further language has nothing to translate."""

    def splice(self, start: int, stop: int | None, words: Iterable[FedWord]) -> list[Event]:
        """Add blocks behind all others; typed words are not read.

        Raises:
            ValueError: they belong elsewhere.
        """
        added = tuple(words)
        if all(word.vectors is None for word in added):
            return []
        if start != self.n_words or stop is not None:
            msg = f"sound is only added at its end, {self.n_words}, not at {start}"
            raise ValueError(msg)
        return self._set_words([*self._words, *added], finished=False)

    def _set_words(self, words: Sequence[FedWord], *, finished: bool) -> list[Event]:
        self._words, self._finished = list(words), finished
        events = list[Event]()
        if not words:
            for number, _ in self._utterances:
                self._targets.drop(number)
                events.append(UtteranceDropped(utterance=number))
            self._utterances = []
        elif not self._utterances and not self._held:
            self._utterances = [(self._targets.first.open(), Sentence((), ended=False))]
            events.append(self._opened(self._utterances[0][0], None))
        for number, sentence in self._utterances:
            if not sentence.ended:
                fresh = [word.vectors for word in words if word.vectors is not None]
                utterance = self._targets.first.touch(number)
                assert isinstance(utterance, SpokenUtterance), "a captioner opens its own"
                utterance.hear(fresh, ended=finished)
                self._words = [replace(word, vectors=None) for word in words]  # kept there
                self._utterances = [(number, Sentence(utterance.words, ended=finished))]
                events.append(SourceChanged(utterance=number, words=tuple(self._words)))
        return events
