"""The text since the last pressed Enter: sentences that a person may still edit."""

from collections.abc import Iterator, Sequence

from engine.conversation import AnySystem, Captioned
from engine.events import (
    CaptionChanged,
    Event,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.sentences import Sentence, split_sentences, well_formed, word_parts

_MAX_UTTERANCES = 60
"""Utterances that can be edited; older ones are final, so that a talk without Enter stays small."""


class Passage:
    """Utterances of one text, kept in step with its words.

    The words are set as a whole; what did not change is found here: sentences at the start and at
    the end that are as before keep their captions, the ones between are changed from the first
    changed word on. Words are counted from the start of the passage, final ones included.
    """

    def __init__(self, translator: AnySystem) -> None:
        self._translator = translator
        self._words: list[str] = []  # those that are not final
        self._n_final = 0
        self._utterances: list[Captioned] = []
        self._unreported: set[int] = set()  # ended utterances whose end was not yet told

    @property
    def n_words(self) -> int:
        """Committed words, final ones included."""
        return self._n_final + len(self._words)

    def splice(self, start: int, stop: int | None, words: Sequence[str]) -> Iterator[Event]:
        """Replace the words [start:stop), to the end without a stop; yield what changes at once.

        Final words stay as they are.
        """
        n_final_given = max(0, self._n_final - start)
        end = None if stop is None else max(0, stop - self._n_final)
        wanted = list(self._words)
        wanted[max(0, start - self._n_final) : end] = map(well_formed, words[n_final_given:])
        yield from self._set_words(wanted, finished=False)

    def finish(self) -> Iterator[Event]:
        """End the last utterance, with or without punctuation."""
        yield from self._set_words(self._words, finished=True)

    def _set_words(self, words: Sequence[str], *, finished: bool) -> Iterator[Event]:
        self._words = list(words)
        wanted = split_sentences(words, self._translator.settings.limits, finished=finished)
        old = self._utterances
        head = _common(old, wanted)
        tail = _common(old[head:][::-1], wanted[head:][::-1])
        changed = old[head : len(old) - tail]
        follower = old[len(old) - tail].number if tail else None
        sentences = wanted[head : len(wanted) - tail]
        fresh = list[Captioned]()
        for index, sentence in enumerate(sentences):
            if index < len(changed):
                utterance = changed[index]
            else:
                utterance = self._translator.open()
                yield UtteranceOpened(utterance=utterance.number, before=follower)
            fresh.append(utterance)
            yield from self._set_source(utterance, sentence)
        for utterance in changed[len(sentences) :]:
            self._unreported.discard(utterance.number)
            yield UtteranceDropped(utterance=utterance.number)
        self._utterances = old[:head] + fresh + (old[len(old) - tail :] if tail else [])

    def advance(self) -> Iterator[Event]:
        """Translate every sentence as far as it goes; may be left after any event."""
        for utterance in self._utterances:
            for change in self._translator.advance(utterance):
                yield CaptionChanged(
                    utterance=utterance.number,
                    kept=change.kept,
                    text=change.text,
                    n_read=change.n_read,
                )
            if utterance.finished and utterance.number in self._unreported:
                self._unreported.discard(utterance.number)
                yield UtteranceEnded(utterance=utterance.number)
        self._retire()

    def _retire(self) -> None:
        """Make the oldest utterances final where there are too many."""
        n_old = len(self._utterances) - _MAX_UTTERANCES
        if n_old <= 0:
            return
        n_parts = sum(len(utterance.words) for utterance in self._utterances[:n_old])
        n_words = 0
        while n_parts > 0:
            n_parts -= len(word_parts(self._words[n_words]))
            n_words += 1
        if n_parts == 0:  # else the cut goes through a word that was itself cut
            del self._utterances[:n_old], self._words[:n_words]
            self._n_final += n_words

    def drop(self) -> Iterator[Event]:
        """Forget the passage."""
        yield from self._set_words([], finished=False)

    def _set_source(self, utterance: Captioned, sentence: Sentence) -> Iterator[Event]:
        self._unreported.add(utterance.number)
        cut = self._translator.set_source(utterance, sentence.words, ended=sentence.ended)
        yield SourceChanged(utterance=utterance.number, words=sentence.words)
        if cut:
            yield CaptionChanged(
                utterance=utterance.number,
                kept=len(utterance.caption),
                text="",
                n_read=utterance.n_read,
            )


def _common(utterances: Sequence[Captioned], sentences: Sequence[Sentence]) -> int:
    """Count how many at the start are the same."""
    same = 0
    for utterance, sentence in zip(utterances, sentences, strict=False):
        if utterance.words != sentence.words or utterance.ended != sentence.ended:
            break
        same += 1
    return same
