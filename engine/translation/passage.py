"""The text since the last pressed Enter: sentences that a person may still edit."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from engine.events import (
    CaptionChanged,
    Event,
    NotTranslated,
    SourceChanged,
    UtteranceDropped,
    UtteranceEnded,
    UtteranceOpened,
)
from engine.text.sentences import Sentence, is_strange, split_sentences, well_formed, word_parts
from engine.translation.captioned import Captioned, Captioner, set_sentence
from engine.translation.further import Awaited, Further, FurtherCaptions
from engine.words import FedWord

_MAX_UTTERANCES = 60
"""Utterances that can be edited; older ones are final, which bounds a talk without Enter."""

_CERTAIN_WORDS = 3
"""Words that identify a strange script; fewer may be a name at the start of a sentence."""


class Passage:
    """The utterances of one text, updated with its words.

    The words are set as a whole: unchanged sentences at the start and at the end keep their
    captions, those between are changed from the first changed word on. Words are counted from the
    start of the passage, with final ones; each part of a long word counts as one.

    Attributes:
        lane: the speaker, if there are two.
        is_complete: whether the words end in a complete sentence.
    """

    def __init__(
        self,
        translator: Captioner[Captioned],
        lane: str = "",
        *,
        held: bool = False,
        reads_any_script: bool = False,
        further: Further | None = None,
    ) -> None:
        """Start without words.

        Args:
            translator: makes the captions.
            lane: the speaker, if there are two.
            held: open no utterance before ``resume``.
            reads_any_script: caption texts in other scripts than the Latin one, too.
            further: captions the same utterances in further languages; None: nobody does.
        """
        self.is_complete = False
        self._translator = translator
        self.lane = lane
        self._held = held
        self._reads_any_script = reads_any_script
        self._further = further or Further()
        self._words: list[FedWord] = []  # those that are not final
        self._finished = False
        self._n_final = 0
        self._utterances: list[Captioned] = []
        self._unreported: set[int] = set()  # ended utterances whose end is not reported yet
        self._strange: dict[int, bool] = {}  # untranslated ones: whether that was reported

    @property
    def n_words(self) -> int:
        """Committed words, final ones included."""
        return self._n_final + len(self._words)

    @property
    def was_heard(self) -> bool:
        """Whether its words were spoken, not typed."""
        return any(word.spoken_at_s is not None for word in self._words)

    @property
    def is_settled(self) -> bool:
        """Whether the translation of every open utterance is complete."""
        return all(map(self._is_done, self._utterances))

    @property
    def backlog_words(self) -> int:
        """Words that are committed and not read yet."""
        n_opened = sum(len(one.words) for one in self._utterances)
        unread = (
            len(one.words) - one.n_words_read for one in self._utterances if not self._is_done(one)
        )
        return max(0, len(self._words) - n_opened) + sum(max(0, n) for n in unread)

    def give_up(self) -> Event:
        """Abandon the utterance that could not be computed, and report it as ended."""
        utterance = next(one for one in self._utterances if not self._is_done(one))
        self._translator.give_up(utterance)
        self._unreported.discard(utterance.number)
        return UtteranceEnded(utterance=utterance.number)

    def skip(self) -> list[int]:
        """Leave the sentences that have ended and are not begun without a caption.

        One whose words change is translated after all.

        Returns:
            their numbers.
        """
        left = [
            one
            for one in self._utterances
            if one.ended and one.n_words_read == 0 and not self._is_done(one)
        ]
        for utterance in left:
            utterance.finished = True
        return [utterance.number for utterance in left]

    def tell(self, captions: FurtherCaptions | Awaited) -> None:
        """Send a further language that begins now what is not translated yet."""
        texts, limits = [word.text for word in self._words], self._translator.settings.limits
        sentences = split_sentences(texts, limits, finished=self._finished)
        for utterance, sentence in zip(self._utterances, sentences, strict=False):
            if not self._is_done(utterance):
                captions.set_source(utterance.number, sentence)

    def forget(self) -> None:
        """End: nothing changes any more."""
        self._further.make_final(one.number for one in self._utterances)

    def hold(self) -> None:
        """Open no utterance before ``resume``; the words of later sentences wait."""
        self._held = True

    def resume(self, translator: Captioner[Captioned] | None = None) -> list[Event]:
        """Open the waiting utterances.

        Args:
            translator: replaces the current one, whose utterances, all settled, become final.
        """
        self._held = False
        if translator is not None:
            self._make_final(len(self._utterances))
            self._translator = translator
        return self._set_words(self._words, finished=self._finished)

    def splice(self, start: int, stop: int | None, words: Iterable[FedWord]) -> list[Event]:
        """Replace the words [start:stop), or to the end without a stop; final words stay."""
        words = [word for word in words if word.vectors is None]  # a text alone is read
        n_final_given = max(0, self._n_final - start)
        end = None if stop is None else max(0, stop - self._n_final)
        wanted = list(self._words)
        wanted[max(0, start - self._n_final) : end] = list(_parts(words))[n_final_given:]
        return self._set_words(wanted, finished=False)

    def finish(self) -> list[Event]:
        """End the last utterance, with or without punctuation."""
        return self._set_words(self._words, finished=True)

    def _set_words(self, words: Sequence[FedWord], *, finished: bool) -> list[Event]:
        self._words, self._finished = list(words), finished
        texts, limits = [word.text for word in words], self._translator.settings.limits
        wanted = split_sentences(texts, limits, finished=finished)
        self.is_complete = bool(wanted) and wanted[-1].ended
        old = self._utterances
        if self._held:
            del wanted[len(old) :]
        head = _common(old, wanted)
        tail = _common(old[head:][::-1], wanted[head:][::-1])
        changed = old[head : len(old) - tail]
        follower = old[len(old) - tail].number if tail else None
        sentences = wanted[head : len(wanted) - tail]
        events, fresh = list[Event](), list[Captioned]()
        start = sum(len(sentence.words) for sentence in wanted[:head])
        for index, sentence in enumerate(sentences):
            if index < len(changed):
                utterance = changed[index]
            else:
                utterance = self._translator.open()
                events.append(self._opened(utterance, follower))
            fresh.append(utterance)
            stop = start + len(sentence.words)
            events += self._set_source(utterance, sentence, tuple(words[start:stop]))
            start = stop
        for utterance in changed[len(sentences) :]:
            self._unreported.discard(utterance.number)
            self._further.drop(utterance.number)
            events.append(UtteranceDropped(utterance=utterance.number))
        self._utterances = old[:head] + fresh + (old[len(old) - tail :] if tail else [])
        return events

    def _opened(self, utterance: Captioned, follower: int | None) -> Event:
        settings = self._translator.settings  # its caption keeps them, whatever is chosen later
        return UtteranceOpened(
            utterance=utterance.number,
            before=follower,
            lane=self.lane,
            languages=(settings.source_language, settings.target_language),
        )

    def advance(self) -> Event | None:
        """Translate until an event; return None if the words allow no more."""
        for utterance in self._utterances:
            is_strange = utterance.number in self._strange
            event = self._note_strange(utterance) if is_strange else self._translate(utterance)
            is_done = utterance.ended and self._is_done(utterance)
            if event is None and is_done and utterance.number in self._unreported:
                self._unreported.discard(utterance.number)
                event = UtteranceEnded(
                    utterance=utterance.number, confidence=self._translator.confidence(utterance)
                )
            if event is not None:
                return event
        if len(self._utterances) > _MAX_UTTERANCES:
            self._make_final(len(self._utterances) - _MAX_UTTERANCES)
        return None

    def _translate(self, utterance: Captioned) -> Event | None:
        change = self._translator.advance(utterance)
        if change is None:
            return None
        number, n_read = utterance.number, change.n_read
        return CaptionChanged(utterance=number, kept=change.kept, text=change.text, n_read=n_read)

    def _note_strange(self, utterance: Captioned) -> Event | None:
        """Report once that an utterance is not translated; symbols alone need no report."""
        is_certain = utterance.ended or len(utterance.words) >= _CERTAIN_WORDS
        if self._strange[utterance.number] or not is_certain:
            return None
        source = " ".join(utterance.words)
        if not any(map(str.isalpha, source)):
            return None
        self._strange[utterance.number] = True
        return NotTranslated(utterance=utterance.number, source=source)

    def _is_done(self, utterance: Captioned) -> bool:
        return utterance.finished or utterance.number in self._strange

    def _make_final(self, n_old: int) -> None:
        """Make the oldest utterances final with their words."""
        n_words = sum(len(utterance.words) for utterance in self._utterances[:n_old])
        self._further.make_final(utterance.number for utterance in self._utterances[:n_old])
        del self._utterances[:n_old], self._words[:n_words]
        self._n_final += n_words

    def drop(self) -> list[Event]:
        """Drop the passage."""
        return self._set_words([], finished=False)

    def _set_source(
        self, utterance: Captioned, sentence: Sentence, words: tuple[FedWord, ...]
    ) -> list[Event]:
        number, cut = utterance.number, False
        self._unreported.add(number)
        if self._reads_any_script or not is_strange(sentence.words):
            self._strange.pop(number, None)
        elif number not in self._strange:
            self._strange[number] = False
            cut = set_sentence(self._translator, utterance, Sentence((), ended=False))
        cut |= set_sentence(self._translator, utterance, sentence)
        kept = len(utterance.caption)
        events: list[Event] = [SourceChanged(utterance=number, words=words)]
        if cut:
            n_read = utterance.n_words_read
            events.append(CaptionChanged(utterance=number, kept=kept, text="", n_read=n_read))
        readable = Sentence((), ended=False) if number in self._strange else sentence
        return events + self._further.set_source(number, readable)


def _parts(words: Iterable[FedWord]) -> Iterator[FedWord]:
    """Split the words that are too long."""
    for word in words:
        for part in word_parts(well_formed(word.text)):
            yield word if part == word.text else replace(word, text=part)


def _common(utterances: Sequence[Captioned], sentences: Sequence[Sentence]) -> int:
    """Return the length of the common start."""
    same = 0
    for utterance, sentence in zip(utterances, sentences, strict=False):
        if utterance.words != sentence.words or utterance.ended != sentence.ended:
            break
        same += 1
    return same
