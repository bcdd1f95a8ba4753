"""The text since the last pressed Enter: sentences that a person may still edit."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from engine.events import (
    Event,
    FedWord,
    NotTranslated,
    SourceChanged,
    UtteranceDropped,
    UtteranceOpened,
    n_same_ends,
)
from engine.text.sentences import Sentence, is_strange, split_sentences, well_formed, word_parts
from engine.translation.targets import Target, Targets

_MAX_UTTERANCES = 60
"""Utterances that can be edited; older ones are final, which bounds a talk without Enter."""

_CERTAIN_WORDS = 3
"""Words that identify a strange script; fewer may be a name at the start of a sentence."""

_NOTHING = Sentence((), ended=False)


class Passage:
    """The utterances of one text, updated with its words.

    The words are set as a whole: unchanged sentences at the start and at the end keep their
    captions, those between are changed from the first changed word on. Words are counted from the
    start of the passage, with final ones; each part of a long word counts as one.

    ``lane`` is the speaker, if there are two; ``is_complete``: the words end in a complete
    sentence.
    """

    def __init__(self, targets: Targets, lane: str = "", *, held: bool = False) -> None:
        """Start without words; ``held``: open no utterance before ``resume``."""
        self.is_complete = False
        self.lane = lane
        self._targets = targets
        self._reads_any_script = targets.captioner.reads_any_script
        self._held = held
        self._words: list[FedWord] = []  # those that are not final
        self._finished = False
        self._n_final = 0
        self._utterances: list[tuple[int, Sentence]] = []  # by their numbers
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
        return all(self._is_done(number) for number, _ in self._utterances)

    @property
    def backlog_words(self) -> int:
        n_opened = sum(len(sentence.words) for _, sentence in self._utterances)
        begun = (number for number, _ in self._utterances if not self._is_done(number))
        opened = (self._targets.first[number] for number in begun)
        unread = (len(one.words) - one.n_words_read for one in opened)
        return max(0, len(self._words) - n_opened) + sum(max(0, n) for n in unread)

    def skip(self) -> list[int]:
        """Leave ended sentences that are not begun without a caption; return their numbers.

        One whose words change is translated after all.
        """
        readable = (number for number, _ in self._utterances if number not in self._strange)
        return [number for number in readable if self._targets.first.leave(number)]

    def tell(self, target: Target) -> None:
        """Send a further language that begins now what is not translated yet."""
        for number, sentence in self._utterances:
            if not self._is_done(number):
                target.set_source(number, sentence)

    def forget(self) -> None:
        """Let nothing change any more."""
        self._targets.make_final(number for number, _ in self._utterances)

    def hold(self) -> None:
        """Open no utterance before ``resume``; the words of later sentences wait."""
        self._held = True

    def make_final(self) -> None:
        """Change the utterances, all settled, no more: another captioner opens those that wait."""
        self._make_final(len(self._utterances))

    def resume(self) -> list[Event]:
        self._held = False
        return self._set_words(self._words, finished=self._finished)

    def splice(self, start: int, stop: int | None, words: Iterable[FedWord]) -> list[Event]:
        """Replace the words [start:stop), or to the end without a stop; final words stay."""
        n_final_given = max(0, self._n_final - start)
        end = None if stop is None else max(0, stop - self._n_final)
        wanted = list(self._words)
        wanted[max(0, start - self._n_final) : end] = list(_parts(words))[n_final_given:]
        return self._set_words(wanted, finished=False)

    def finish(self) -> list[Event]:
        """End the last utterance, with or without punctuation."""
        return self._set_words(self._words, finished=True)

    def drop(self) -> list[Event]:
        return self._set_words([], finished=False)

    def _set_words(self, words: Sequence[FedWord], *, finished: bool) -> list[Event]:
        self._words, self._finished = list(words), finished
        texts, limits = [word.text for word in words], self._targets.captioner.settings.limits
        wanted = split_sentences(texts, limits, finished=finished)
        self.is_complete = bool(wanted) and wanted[-1].ended
        old = self._utterances
        if self._held:
            del wanted[len(old) :]
        head, tail = n_same_ends([sentence for _, sentence in old], wanted)
        numbers = [number for number, _ in old]
        changed, kept = numbers[head : len(old) - tail], numbers[len(old) - tail :]
        del numbers[head:]
        events = list[Event]()
        start = sum(len(sentence.words) for sentence in wanted[:head])
        for sentence in wanted[head : len(wanted) - tail]:
            if changed:
                numbers.append(changed.pop(0))
            else:
                numbers.append(self._targets.first.open())
                events.append(self._opened(numbers[-1], next(iter(kept), None)))
            stop = start + len(sentence.words)
            events += self._set_source(numbers[-1], sentence, tuple(words[start:stop]))
            start = stop
        for number in changed:
            self._targets.drop(number)
            events.append(UtteranceDropped(utterance=number))
        self._utterances = list(zip((*numbers, *kept), wanted, strict=True))
        return events

    def _opened(self, number: int, follower: int | None) -> Event:
        # its caption keeps them, whatever is chosen later
        settings = self._targets.captioner.settings
        return UtteranceOpened(
            utterance=number,
            before=follower,
            lane=self.lane,
            languages=(settings.source_language, settings.target_language),
        )

    def _set_source(
        self, number: int, sentence: Sentence, words: tuple[FedWord, ...]
    ) -> list[Event]:
        first, cut = self._targets.first, list[Event]()
        if self._reads_any_script or not is_strange(sentence.words):
            self._strange.pop(number, None)
        elif number not in self._strange:
            self._strange[number] = False
            cut = first.set_source(number, _NOTHING)
        cut += first.set_source(number, sentence)
        readable = _NOTHING if number in self._strange else sentence
        further = self._targets.set_source(number, readable)
        return [SourceChanged(utterance=number, words=words), *cut[:1], *further]

    def advance(self) -> Event | None:
        """Translate until an event; return None if the words allow no more."""
        first = self._targets.first
        for number, sentence in self._utterances:
            if number in self._strange:
                event = self._note_strange(number, sentence) or first.end(number)
            else:
                event = first.advance_in(number)
            if event is not None:
                return event
        if len(self._utterances) > _MAX_UTTERANCES:
            self._make_final(len(self._utterances) - _MAX_UTTERANCES)
        return None

    def _note_strange(self, number: int, sentence: Sentence) -> Event | None:
        """Report once that an utterance is not translated; symbols alone need no report."""
        is_certain = sentence.ended or len(sentence.words) >= _CERTAIN_WORDS
        if self._strange[number] or not is_certain:
            return None
        source = " ".join(sentence.words)
        if not any(map(str.isalpha, source)):
            return None
        self._strange[number] = True
        return NotTranslated(utterance=number, source=source)

    def _is_done(self, number: int) -> bool:
        return number in self._strange or self._targets.first[number].finished

    def _make_final(self, n_old: int) -> None:
        old = self._utterances[:n_old]
        self._targets.make_final(number for number, _ in old)
        n_words = sum(len(sentence.words) for _, sentence in old)
        del self._utterances[:n_old], self._words[:n_words]
        self._n_final += n_words


def _parts(words: Iterable[FedWord]) -> Iterator[FedWord]:
    for word in words:
        for part in word_parts(well_formed(word.text)):
            yield word if part == word.text else replace(word, text=part)
