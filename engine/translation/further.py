"""Captions of the same utterances in further languages, each by a captioner of its own.

A passage has one source and splits it into utterances; what it does to them it tells ``Further``.
So every language has the same utterances, by the same numbers, and a language may come and go while
words come. The captions of the passage itself are never behind because of these: they are advanced
when the passage has nothing to do.
"""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from engine.errors import SurtitleError, first_line
from engine.events import (
    Event,
    FurtherCaptionChanged,
    FurtherCaptionEnded,
    FurtherCaptionLeftOut,
    LanguageFailed,
    Refused,
)
from engine.messages import Code
from engine.runtime.processor import is_out_of_memory
from engine.text.sentences import Sentence
from engine.translation.captioned import Captioned, set_sentence

if TYPE_CHECKING:
    from engine.translation.base import AnySystem

MOST_WAITING = 80
"""Words that a further language may be behind; beyond them it leaves whole sentences for later."""


class FurtherCaptions:
    """The captions of one more language.

    Invariant: a sentence that is left out, so that what is said now has its caption in time, keeps
    its words, and is made up for when nothing waits.

    Attributes:
        language: its code.
        system: translates them.
    """

    def __init__(self, language: str, system: "AnySystem") -> None:
        self.language = language
        self.system = system
        self._utterances: dict[int, Captioned] = {}  # by the number that they have in the passage
        self._sentences: dict[int, Sentence] = {}  # theirs
        self._left_out: dict[int, Sentence] = {}  # those without an utterance so far
        self._untold = list[int]()  # that they are left out
        self._unreported = set[int]()  # whose end is not reported yet
        self._final = set[int]()  # of which the passage tells nothing more

    @property
    def backlog_words(self) -> int:
        """Words that are not read yet, but for those of sentences that are left out."""
        open_ones = (one for one in self._utterances.values() if not one.finished)
        return sum(max(0, len(one.words) - one.n_words_read) for one in open_ones)

    @property
    def is_settled(self) -> bool:
        """Whether every caption is complete, but for sentences that are left out."""
        return all(map(_is_complete, self._utterances.values()))

    def set_source(self, number: int, sentence: Sentence) -> list[Event]:
        """Set the words of an utterance; return what was cut back."""
        self._left_out.pop(number, None)
        utterance = self._utterances.get(number)
        if utterance is None:
            if not sentence.words:
                return []
            utterance = self._utterances[number] = self.system.open()
        self._sentences[number] = sentence
        self._unreported.add(number)
        if not set_sentence(self.system, utterance, sentence):
            return []
        return [self._changed(number, len(utterance.caption), "", utterance.n_words_read)]

    def owe(self, number: int, sentence: Sentence) -> None:
        """Leave a sentence out that nothing can change any more: it is made up for."""
        self._left_out[number] = sentence
        self._untold.append(number)
        self._final.add(number)

    def drop(self, number: int) -> None:
        """Forget an utterance that an edit removed."""
        for known in (self._utterances, self._sentences, self._left_out):
            known.pop(number, None)
        self._unreported.discard(number)
        self._final.discard(number)

    def make_final(self, numbers: Iterable[int]) -> None:
        """Forget utterances that nothing can change any more, once their captions are complete."""
        known = self._utterances.keys() | self._left_out.keys()
        self._final.update(number for number in numbers if number in known)
        self._forget_complete()

    def skip(self, numbers: Iterable[int]) -> None:
        """Leave these for good where they are not begun, and the others that wait for later."""
        for number in numbers:
            if number in self._left_out:
                self.set_source(number, self._left_out[number])
            utterance = self._utterances.get(number)
            if utterance is not None and utterance.ended and utterance.n_words_read == 0:
                utterance.finished = True
        self._leave_out(0)

    def _leave_out(self, n_kept: int) -> None:
        """Leave them out from the oldest one on, until no more than ``n_kept`` words wait."""
        n_waiting = self.backlog_words
        for number, utterance in tuple(self._utterances.items()):
            if n_waiting <= n_kept:
                return
            if utterance.ended and utterance.n_words_read == 0 and not utterance.finished:
                n_waiting -= len(utterance.words)
                del self._utterances[number]
                self._left_out[number] = self._sentences.pop(number)
                self._untold.append(number)

    def go_on_with(self, system: "AnySystem") -> None:
        """Caption what is opened from now on by another system; all is settled."""
        for number in tuple(self._utterances):
            self.drop(number)
        self.system = system

    def clear(self) -> None:
        """Forget all sentences: a new session begins."""
        for number in (*self._utterances, *self._left_out):
            self.drop(number)

    def advance(self) -> Event | None:
        """Translate until an event; return None if the words that wait allow no more."""
        if self.backlog_words > MOST_WAITING:
            self._leave_out(MOST_WAITING // 2)
        while self._untold:
            number = self._untold.pop(0)
            if number in self._left_out:
                return FurtherCaptionLeftOut(utterance=number, language=self.language)
        for number, utterance in self._utterances.items():
            event = self._advance(number, utterance)
            if event is not None:
                return event
        self._forget_complete()
        return None

    def make_up(self) -> Event | None:
        """Begin with the oldest sentence that is left out; nothing else waits."""
        number = next(iter(self._left_out), None)
        if number is None:
            return None
        self.set_source(number, self._left_out[number])
        return self.advance()

    def _advance(self, number: int, utterance: Captioned) -> Event | None:
        try:
            change = None if utterance.finished else self.system.advance(utterance)
        except (SurtitleError, MemoryError, RuntimeError) as error:
            if not (isinstance(error, SurtitleError) or is_out_of_memory(error)):
                raise
            self.system.give_up(utterance)
            return Refused(message=Code.SENTENCE_GIVEN_UP(reason=first_line(error)))
        if change is not None:
            return self._changed(number, change.kept, change.text, change.n_read)
        if not (utterance.ended and utterance.finished and number in self._unreported):
            return None
        self._unreported.discard(number)
        return FurtherCaptionEnded(
            utterance=number,
            language=self.language,
            confidence=self.system.confidence(utterance),
        )

    def _changed(self, number: int, kept: int, text: str, n_read: int) -> Event:
        return FurtherCaptionChanged(
            utterance=number, language=self.language, kept=kept, text=text, n_read=n_read
        )

    def _forget_complete(self) -> None:
        for number in self._final - self._left_out.keys():
            utterance = self._utterances[number]
            is_told = number not in self._unreported or not utterance.words
            if is_told and _is_complete(utterance):
                self.drop(number)


def _is_complete(utterance: Captioned) -> bool:
    """Return whether nothing is left to translate; words in other scripts are never set."""
    return utterance.finished or not utterance.words


class Awaited:
    """The sentences that are said while a language loads: its captions begin with them."""

    def __init__(self) -> None:
        self._sentences: dict[int, Sentence] = {}  # by the number of the utterance
        self._final = set[int]()

    def set_source(self, number: int, sentence: Sentence) -> None:
        """Keep the words of an utterance."""
        self._sentences[number] = sentence

    def owe(self, number: int, sentence: Sentence) -> None:
        """Keep a sentence that nothing can change any more."""
        self.set_source(number, sentence)
        self._final.add(number)

    def drop(self, number: int) -> None:
        """Forget an utterance."""
        self._sentences.pop(number, None)
        self._final.discard(number)

    def clear(self) -> None:
        """Forget all."""
        self._sentences.clear()
        self._final.clear()

    def make_final(self, numbers: Iterable[int]) -> None:
        """Note that nothing can change these utterances any more."""
        self._final.update(number for number in numbers if number in self._sentences)

    def skip(self, numbers: Iterable[int]) -> None:
        """Leave sentences without a caption."""
        for number in numbers:
            self.drop(number)

    def tell(self, captions: FurtherCaptions) -> None:
        """Send the language what was kept; it is there now."""
        for number, sentence in self._sentences.items():
            captions.set_source(number, sentence)
        captions.make_final(self._final)


class Further:
    """The further languages of a session, as its passages tell of their utterances.

    Invariant: every language gets its turn; none waits for another that is behind, and one that
    fails takes nobody with it.
    """

    def __init__(self) -> None:
        """Start without a language."""
        self._languages: dict[str, FurtherCaptions] = {}
        self._awaited: dict[str, Awaited] = {}  # those that load

    @property
    def languages(self) -> tuple[str, ...]:
        """Codes of the languages."""
        return tuple(self._languages)

    def __getitem__(self, language: str) -> FurtherCaptions:
        """Return the captions of a language."""
        return self._languages[language]

    @property
    def is_settled(self) -> bool:
        """Whether every caption is complete."""
        return all(one.is_settled for one in self._languages.values())

    def wait_for(self, language: str) -> Awaited:
        """Keep what is said from now on for a language that loads."""
        return self._awaited.setdefault(language, Awaited())

    def add(self, captions: FurtherCaptions) -> None:
        """Caption in one more language from now on, and what was said since it was waited for."""
        awaited = self._awaited.pop(captions.language, None)
        if awaited is not None:
            awaited.tell(captions)
        self._languages[captions.language] = captions

    def remove(self, language: str) -> None:
        """Caption in a language no longer."""
        self._languages.pop(language, None)
        self._awaited.pop(language, None)

    def set_source(self, number: int, sentence: Sentence) -> list[Event]:
        """Set the words of an utterance; return what was cut back."""
        for awaited in self._awaited.values():
            awaited.set_source(number, sentence)
        events = list[Event]()
        for one in tuple(self._languages.values()):
            try:
                events += one.set_source(number, sentence)
            except Exception as error:  # noqa: BLE001  the other captions go on, whatever it is
                events.append(self._failed(one, error))
        return events

    def owe(self, number: int, language: str, sentence: Sentence) -> None:
        """Make up for a sentence of before, if the language is there or loads."""
        captions = self._languages.get(language) or self._awaited.get(language)
        if captions is not None:
            captions.owe(number, sentence)

    def drop(self, number: int) -> None:
        """Forget an utterance that an edit removed."""
        self._each(lambda one: one.drop(number))

    def make_final(self, numbers: Iterable[int]) -> None:
        """Change these utterances no more."""
        known = tuple(numbers)
        self._each(lambda one: one.make_final(known))

    def skip(self, numbers: Iterable[int]) -> None:
        """Leave these without a caption where they are not begun, and the others for later."""
        left = tuple(numbers)
        self._each(lambda one: one.skip(left))

    def clear(self) -> None:
        """Forget all sentences: a new session begins."""
        self._each(lambda one: one.clear())

    def advance(self) -> Event | None:
        """Translate until an event, the languages in turn; return None if nothing waits."""
        return self._next(FurtherCaptions.advance)

    def make_up(self) -> Event | None:
        """Begin with a sentence that is left out; return None if there is none."""
        return self._next(FurtherCaptions.make_up)

    def _next(self, act: Callable[[FurtherCaptions], Event | None]) -> Event | None:
        for language, one in tuple(self._languages.items()):
            try:
                event = act(one)
            except Exception as error:  # noqa: BLE001  the other captions go on, whatever it is
                return self._failed(one, error)
            if event is not None:
                self._languages[language] = self._languages.pop(language)  # the last one next time
                return event
        return None

    def _failed(self, captions: FurtherCaptions, error: Exception) -> Event:
        self.remove(captions.language)
        reason = first_line(error)
        return LanguageFailed(
            language=captions.language, message=Code.ENGINE_STOPPED(reason=reason)
        )

    def _each(self, do: Callable[[FurtherCaptions | Awaited], None]) -> None:
        for one in self._languages.values():
            do(one)
        for awaited in self._awaited.values():
            do(awaited)
