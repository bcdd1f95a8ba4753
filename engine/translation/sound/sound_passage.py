"""The sound of one lane until it ends: one utterance, to which blocks are added."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from engine.events import Event, SourceChanged, UtteranceDropped
from engine.translation.further import Awaited, FurtherCaptions
from engine.translation.passage import Passage
from engine.translation.sound.spoken import SpokenTranslator, SpokenUtterance
from engine.words import FedWord

if TYPE_CHECKING:
    from engine.translation.captioned import Captioned, Captioner


class SoundPassage(Passage):
    """A passage whose words are blocks of sound (``FedWord.vectors``); what was heard stays.

    Further languages have no words to translate, and so no captions.
    """

    def __init__(self, translator: SpokenTranslator, lane: str = "", *, held: bool = False) -> None:
        """Start without sound; see ``Passage``."""
        super().__init__(cast("Captioner[Captioned]", translator), lane, held=held)
        self._spoken = translator

    def tell(self, captions: FurtherCaptions | Awaited) -> None:
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
        if not words:
            gone, self._utterances = self._utterances, []
            self._unreported.clear()
            return [UtteranceDropped(utterance=one.number) for one in gone]
        if self._held and not self._utterances:
            return []
        events = list[Event]()
        if not self._utterances:
            self._utterances = [cast("Captioned", self._spoken.open())]
            events.append(self._opened(self._utterances[0], None))
        utterance = cast("SpokenUtterance", self._utterances[0])
        if utterance.ended:
            return events
        fresh = [word.vectors for word in words if word.vectors is not None]
        self._spoken.hear(utterance, fresh, ended=finished)
        self._words = [replace(word, vectors=None) for word in words]  # kept where they are fed
        self._unreported.add(utterance.number)
        return [*events, SourceChanged(utterance=utterance.number, words=tuple(self._words))]
