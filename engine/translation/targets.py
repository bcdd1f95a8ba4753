"""The captions of the utterances of a session in each of its languages, one captioner a language.

A passage has one source and splits it into utterances; what becomes of them it tells ``Targets``.
So every language has the same utterances, by the same numbers, and further languages come and go
while words come. The first language is the window's. It is never behind because of the others:
these are advanced where the passages have nothing to do.
"""

from collections.abc import Callable, Iterable

from engine.errors import ServerError, ServerGoneError, SurtitleError, first_line
from engine.events import (
    CaptionChanged,
    Event,
    FurtherCaptionLeftOut,
    LanguageFailed,
    Refused,
    UtteranceEnded,
)
from engine.messages import Code
from engine.runtime.processor import is_out_of_memory
from engine.text.sentences import Sentence
from engine.translation.captioner import Captioned, Captioner

MOST_WAITING = 80
"""Words that a further language may be behind; beyond them it leaves whole sentences for later."""

MOST_HASTE = 8
"""The largest factor of the steps; more would hardly be faster."""


def is_bearable(error: Exception) -> bool:
    """Return whether captions can go on after an error."""
    if isinstance(error, ServerGoneError):
        return False  # nothing that follows would be answered
    return isinstance(error, SurtitleError) or is_out_of_memory(error)


class Target:
    """The captions of one language.

    Invariant: a sentence that is left out, so that what is said now has its caption in time, keeps
    its words, and is made up for when nothing waits.

    Attributes:
        language: code of a further one; empty for the first.
        captioner: makes them; None while its model loads, and sentences are kept for it.
    """

    def __init__(self, captioner: Captioner | None, language: str = "") -> None:
        self.language = language
        self.captioner = captioner
        self._utterances: dict[int, Captioned] = {}  # by the number that they have in the passage
        self._sentences: dict[int, Sentence] = {}  # theirs
        self._left_out: dict[int, Sentence] = {}  # those without an utterance so far
        self._untold = list[int]()  # that they are left out
        self._refusals = list[Event]()  # to report
        self._unreported = set[int]()  # whose end is not reported yet
        self._final = set[int]()  # of which the passage tells nothing more

    def __getitem__(self, number: int) -> Captioned:
        return self._utterances[number]

    @property
    def backlog_words(self) -> int:
        """Words that are not read yet, but for those of sentences that are left out."""
        unfinished = (one for one in self._utterances.values() if not one.finished)
        return sum(max(0, len(one.words) - one.n_words_read) for one in unfinished)

    @property
    def is_settled(self) -> bool:
        """Whether every caption is complete, but for sentences that are left out."""
        return all(map(_is_complete, self._utterances.values()))

    def begin(self, captioner: Captioner) -> None:
        """Caption by this one what was kept, and what comes."""
        self.captioner = captioner
        for number, sentence in tuple(self._sentences.items()):
            self.set_source(number, sentence)

    @property
    def at_work(self) -> Captioner:
        """The captioner, where its model is there."""
        assert self.captioner is not None, "it is there"
        return self.captioner

    def go_on_with(self, captioner: Captioner) -> None:
        """Caption what is opened from now on by another one; all is settled."""
        for number in tuple(self._utterances):
            self.drop(number)
        self.captioner = captioner

    def keep_pace(self, backlog_words: int, limit: int | None) -> int | None:
        """Read larger steps while words wait; return the new factor of the steps, if it changed.

        Larger steps cost fewer passes a word, but captions appear in larger pieces. The factor does
        not decrease while words wait. More than ``limit`` words make the steps twice as large, more
        than twice this four times, and so on; None: never.
        """
        if self.captioner is None:
            return None
        before = haste = self.captioner.haste
        if backlog_words == 0 or limit is None:
            haste = 1
        while limit is not None and haste < MOST_HASTE and backlog_words > limit * haste:
            haste *= 2
        self.captioner.haste = haste
        return haste if haste != before else None

    def open(self) -> int:
        """Open an utterance of the first language; return its number."""
        utterance = self.at_work.open()
        self._utterances[utterance.number] = utterance
        return utterance.number

    def set_source(self, number: int, sentence: Sentence) -> list[Event]:
        self._left_out.pop(number, None)
        self._sentences[number] = sentence
        if self.captioner is None:
            return []
        utterance = self._utterances.get(number)
        if utterance is None:
            if not sentence.words:
                del self._sentences[number]
                return []
            utterance = self._utterances[number] = self.captioner.open()
        if not self.touch(number).set_source(sentence):
            return []
        return [self._changed(number, len(utterance.caption), "", utterance.n_words_read)]

    def touch(self, number: int) -> Captioned:
        """Return an utterance whose words change, so that its end is to be reported."""
        self._unreported.add(number)
        return self._utterances[number]

    def owe(self, number: int, sentence: Sentence) -> None:
        """Keep a sentence that nothing can change any more, to make up for it later."""
        if self.captioner is None:
            self._sentences[number] = sentence
        else:
            self._left_out[number] = sentence
            self._untold.append(number)
        self._final.add(number)

    def drop(self, number: int) -> None:
        for known in (self._utterances, self._sentences, self._left_out):
            known.pop(number, None)
        self._unreported.discard(number)
        self._final.discard(number)

    def make_final(self, numbers: Iterable[int]) -> None:
        """Forget utterances that nothing can change any more, once their captions are complete."""
        known = self._sentences.keys() | self._left_out.keys()
        self._final.update(number for number in numbers if number in known)
        self._forget_complete()

    def leave(self, number: int) -> bool:
        """Leave an utterance for good that has ended and is not begun; return whether it is one."""
        utterance = self._utterances.get(number)
        if utterance is None or not _is_unbegun(utterance):
            return False
        utterance.finished = True
        return True

    def skip(self, numbers: Iterable[int]) -> None:
        """Leave these for good where they are not begun, and the others that wait for later."""
        for number in numbers:
            if self.captioner is None:
                self.drop(number)
            elif number in self._left_out:
                self.set_source(number, self._left_out[number])
            self.leave(number)
        self._leave_out(0)

    def _leave_out(self, n_kept: int) -> None:
        """Leave sentences out from the oldest on, until no more than ``n_kept`` words wait."""
        n_waiting = self.backlog_words
        for number, utterance in tuple(self._utterances.items()):
            if n_waiting <= n_kept:
                return
            if _is_unbegun(utterance):
                n_waiting -= len(utterance.words)
                del self._utterances[number]
                self._left_out[number] = self._sentences.pop(number)
                self._untold.append(number)

    def clear(self) -> None:
        for number in (*self._sentences, *self._left_out):
            self.drop(number)

    def advance(self) -> Event | None:
        """Translate until an event; return None if the words that wait allow no more."""
        if self.backlog_words > MOST_WAITING:
            self._leave_out(MOST_WAITING // 2)
        while self._untold:
            number = self._untold.pop(0)
            if number in self._left_out:
                return FurtherCaptionLeftOut(utterance=number, language=self.language)
        event = self.take_refusal()
        if event is not None:
            return event
        for number in self._utterances:
            event = self.advance_in(number)
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

    def advance_in(self, number: int) -> Event | None:
        """Translate an utterance until an event; one that cannot be computed stays as it is."""
        utterance = self._utterances[number]
        try:
            change = None if utterance.finished else utterance.advance()
        except (SurtitleError, MemoryError, RuntimeError) as error:
            if not is_bearable(error):
                raise
            utterance.give_up()
            self._unreported.discard(number)
            given_up = Code.SENTENCE_GIVEN_UP(reason=first_line(error))
            message = error.message if isinstance(error, ServerError) else given_up
            self._refusals.append(Refused(message=message))
            return UtteranceEnded(utterance=number, language=self.language)
        if change is not None:
            return self._changed(number, change.kept, change.text, change.n_read)
        return self.end(number) if utterance.finished else None

    def take_refusal(self) -> Event | None:
        """Return why a sentence was given up that has been reported as ended."""
        return self._refusals.pop(0) if self._refusals else None

    def end(self, number: int) -> Event | None:
        """Report the end of an utterance whose caption is complete, once."""
        utterance = self._utterances[number]
        if not utterance.ended or number not in self._unreported:
            return None
        self._unreported.discard(number)
        confidence = utterance.confidence
        return UtteranceEnded(utterance=number, language=self.language, confidence=confidence)

    def _changed(self, number: int, kept: int, text: str, n_read: int) -> Event:
        return CaptionChanged(
            utterance=number, language=self.language, kept=kept, text=text, n_read=n_read
        )

    def _forget_complete(self) -> None:
        for number in self._final & self._utterances.keys():
            utterance = self._utterances[number]
            is_told = number not in self._unreported or not utterance.words
            if is_told and _is_complete(utterance):
                self.drop(number)


def _is_complete(utterance: Captioned) -> bool:
    """Return whether nothing is left to translate; words in other scripts are never set."""
    return utterance.finished or not utterance.words


def _is_unbegun(utterance: Captioned) -> bool:
    return utterance.ended and utterance.n_words_read == 0 and not utterance.finished


class Targets:
    """All languages of a session, as its passages report their utterances.

    Invariant: every further language gets its turn; none waits for another that is behind, and one
    that fails takes nobody with it. ``captioner`` and ``first`` are of the first language.
    """

    def __init__(self, captioner: Captioner) -> None:
        self.first = Target(captioner)
        self._further: dict[str, Target] = {}

    @property
    def captioner(self) -> Captioner:
        return self.first.at_work

    @property
    def ready(self) -> dict[str, Target]:
        """The further languages whose models are there, by their codes."""
        return {code: one for code, one in self._further.items() if one.captioner is not None}

    @property
    def is_settled(self) -> bool:
        """Whether every caption in a further language is complete."""
        return all(one.is_settled for one in self._further.values())

    def add(self, code: str) -> Target:
        """Keep from now on what is said for one more language, which begins once it can."""
        return self._further.setdefault(code, Target(None, code))

    def remove(self, code: str) -> None:
        target = self._further.pop(code, None)
        if target is not None and target.captioner is not None:
            target.captioner.close()

    def set_source(self, number: int, sentence: Sentence) -> list[Event]:
        """Set the words of an utterance in the further languages; return what was cut back."""
        events = list[Event]()
        for target in tuple(self._further.values()):
            try:
                events += target.set_source(number, sentence)
            except Exception as error:  # noqa: BLE001  the other captions go on, whatever it is
                events.append(self._failed(target, error))
        return events

    def owe(self, number: int, code: str, sentence: Sentence) -> None:
        """Make up for a sentence of before, if its language is ready or loads."""
        if code in self._further:
            self._further[code].owe(number, sentence)

    def drop(self, number: int) -> None:
        for target in (self.first, *self._further.values()):
            target.drop(number)

    def make_final(self, numbers: Iterable[int]) -> None:
        for number in (known := tuple(numbers)):
            self.first.drop(number)
        for target in self._further.values():
            target.make_final(known)

    def skip(self, numbers: Iterable[int]) -> None:
        """Leave these without a further caption where they are not begun, the others for later."""
        known = tuple(numbers)
        for target in self._further.values():
            target.skip(known)

    def clear(self) -> None:
        for target in self._further.values():
            target.clear()

    def advance(self) -> Event | None:
        """Translate until an event, the further languages in turn; None if nothing waits."""
        return self._next(Target.advance)

    def make_up(self) -> Event | None:
        """Begin with a sentence that is left out; return None if there is none."""
        return self._next(Target.make_up)

    def _next(self, act: Callable[[Target], Event | None]) -> Event | None:
        for code, target in self.ready.items():
            try:
                event = act(target)
            except Exception as error:  # noqa: BLE001  the other captions go on, whatever it is
                return self._failed(target, error)
            if event is not None:
                self._further[code] = self._further.pop(code)  # the last one next time
                return event
        return None

    def _failed(self, target: Target, error: Exception) -> Event:
        self.remove(target.language)
        message = Code.ENGINE_STOPPED(reason=first_line(error))
        return LanguageFailed(language=target.language, message=message)
