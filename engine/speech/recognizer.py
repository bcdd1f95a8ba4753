"""Turn speech into committed words, by voice activity, a buffer, the model and local agreement.

The newest speech is recognised repeatedly in a buffer that is cut at sentence ends and after
speech. Successive hypotheses are compared (``engine.speech.hypothesis``), so that committed
words never change. Where the buffer holds silence alone, it is not heard: models invent words for
it. The model is prompted with the words committed before the buffer, never with
uncommitted ones, so it cannot prompt itself into a loop.

A recording that nobody waits for is heard in whole pieces instead, each once: what is said without
a pause, as much as the model hears at once; a longer one is cut where it is quietest.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Protocol

import numpy as np

from engine.audio.chunks import AudioChunk, Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.hypothesis import Hypothesis, LocalAgreement, RecognizedWord
from engine.speech.vad import SpeechPart, VoiceActivityDetector
from engine.text.sentences import ends_sentence

# A recogniser of live speech, whichever model it has: sound in, committed words out.


@dataclass(frozen=True, slots=True, kw_only=True)
class Recognized:
    """The result of feeding a recogniser.

    Attributes:
        committed: words that became certain, after all earlier ones.
        tail: words that may still change, at most four.
        speech_ended: the speaker paused after the committed words.
    """

    committed: tuple[RecognizedWord, ...]
    tail: tuple[RecognizedWord, ...]
    speech_ended: bool = False


class LiveRecognizer(ABC):
    """Feed sound, get words.

    The ``committed`` words that ``feed`` and ``flush`` returned are the transcript, which is
    append-only. One thread uses it.

    Attributes:
        ends_passages: the end of each speech ends a passage at once, not only after a pause.
        streams: it hears sound as it comes, so that words appear as they are said.
    """

    ends_passages = streams = False

    def __init__(self, vad: VoiceActivityDetector) -> None:
        self._vad = vad

    @property
    def hears_speech(self) -> bool:
        """Whether there is speech now, for an indicator."""
        return self._vad.is_open

    @property
    @abstractmethod
    def marks_sentences(self) -> bool:
        """Whether it writes punctuation; without, only pauses tell where a sentence ends."""

    def feed(self, chunk: AudioChunk) -> list[Recognized]:
        """Take the next sound; return the results, none if nothing became known."""
        return [
            result for part in _joined_parts(self._vad.feed(chunk)) for result in self._take(part)
        ]

    def flush(self) -> list[Recognized]:
        """Commit the rest: no sound follows, or it does not follow at once."""
        return [result for part in self._vad.flush() for result in self._take(part)]

    def skip(self, sound: Sequence[AudioChunk]) -> list[SpeechPart]:
        """Pass over sound that is left out; return what is speech in it."""
        parts = [part for chunk in sound for part in self._vad.feed(chunk)]
        return parts + self._vad.flush()

    @abstractmethod
    def _take(self, part: SpeechPart) -> Iterable[Recognized]:
        """Hear a part of a speech."""


def _joined_parts(parts: Sequence[SpeechPart]) -> Iterator[SpeechPart]:
    waiting: list[SpeechPart] = []
    for part, following in zip_longest(parts, parts[1:]):
        waiting.append(part)
        if part.ends or following is None or following.begins:
            samples = np.concatenate([part.samples for part in waiting])
            first = waiting[0]
            yield replace(part, samples=samples, start_s=first.start_s, begins=first.begins)
            waiting = []


_PROMPT_WORDS = 60
_PROMPT_S = 20.0  # a word that was said longer ago says little of what follows
_LEAST_S = 0.3  # of a word, with what the detector of speech lags behind its end
_EDGE_S = 0.01  # a word that ends where the buffer begins is not in it


CATCH_UP_S = 5.0
"""The most speech of one pass, when more than a step came at once."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecognizerSettings:
    """How often the model runs, and on how much.

    Attributes:
        step_s: new speech needed before the model runs again.
        trim_from_s: a buffer of this length or more is cut at sentence ends.
        max_buffer_s: a buffer of this length or more is cut after the last committed word; if there
            is none, its words are committed as they are. It exceeds this by one pass at most, and
            Whisper hears 30 s.
        joins_s: speech after at most so much silence is heard again together with the speech before
            it: a few words alone are misheard. For a model without a prompt.
    """

    step_s: float = 1.0
    trim_from_s: float = 8.0
    max_buffer_s: float = 20.0
    joins_s: float = 0.0


class SpeechModel(Protocol):
    """A model of speech, as ``engine.speech.whisper.Whisper``."""

    def recognize(
        self, samples: Samples, start_s: float, prompt: str, *, whole: bool = False
    ) -> Hypothesis:
        """Recognise at most 30 s of 16 kHz mono, shape (n_samples,), after the words ``prompt``.

        A ``whole`` piece is heard once and for all, so that more of its readings are compared.
        """


class Recognizer(LiveRecognizer):
    """A live recogniser of a model that hears whole pieces of sound, as Whisper and Moonshine."""

    def __init__(
        self, model: SpeechModel, vad: VoiceActivityDetector, settings: RecognizerSettings
    ) -> None:
        super().__init__(vad)
        self._model = model
        self._settings = settings
        self._agreement = LocalAgreement()
        self._context: list[RecognizedWord] = []  # the newest committed words
        self._buffer = np.zeros(0, np.float32)
        self._start_s = 0.0  # start of the buffer
        self._n_new = 0  # samples at the buffer's end that no hypothesis covers

    @property
    def marks_sentences(self) -> bool:
        return True

    @property
    def _buffered_s(self) -> float:
        return len(self._buffer) / SAMPLE_RATE_HZ

    def _take(self, part: SpeechPart) -> list[Recognized]:
        if part.begins:
            self._begin(part.start_s)
        results = []
        step = round(self._settings.step_s * SAMPLE_RATE_HZ)
        most = round(CATCH_UP_S * SAMPLE_RATE_HZ)
        rest = part.samples
        while len(rest):
            is_behind = len(rest) + self._n_new >= 2 * step
            wanted = (most if is_behind else step) - self._n_new  # none where silence was not heard
            n_taken = min(len(rest), wanted if wanted > 0 else step)
            self._buffer = np.concatenate([self._buffer, rest[:n_taken]])
            self._n_new += n_taken
            rest = rest[n_taken:]
            silent_s = part.silent_s - len(rest) / SAMPLE_RATE_HZ
            if self._n_new >= step and self._holds_speech(silent_s):
                results.append(self._recognize())
        if part.ends:
            results.append(self._end(part.silent_s))
        return results

    def _begin(self, start_s: float) -> None:
        """Empty the buffer for speech that begins, or keep what was said just before."""
        silence_s = start_s - self._start_s - self._buffered_s
        is_short = self._buffered_s <= self._settings.trim_from_s
        if is_short and max(0.0, silence_s) < self._settings.joins_s:
            silence = np.zeros(max(0, round(silence_s * SAMPLE_RATE_HZ)), np.float32)
            self._buffer = np.concatenate([self._buffer, silence])
        else:
            self._buffer, self._start_s = self._buffer[:0], start_s
        self._n_new = 0

    def _holds_speech(self, silent_s: float) -> bool:
        """Return whether the buffer has more than silence, for which models invent words."""
        return self._buffered_s > silent_s + _LEAST_S

    def _recognize(self) -> Recognized:
        hypothesis = self._model.recognize(self._buffer, self._start_s, self._prompt())
        self._n_new = 0
        committed = self._remember(self._agreement.feed(hypothesis))
        committed += self._trim()
        return Recognized(committed=committed, tail=self._agreement.tail)

    def _end(self, silent_s: float) -> Recognized:
        is_new = self._n_new > 0 and self._holds_speech(silent_s)
        committed = self._recognize().committed if is_new else ()
        committed += self._remember(self._agreement.flush())
        return Recognized(committed=committed, tail=(), speech_ended=True)

    def _trim(self) -> tuple[RecognizedWord, ...]:
        """Drop the sound of committed words; return the words that had to be committed for it."""
        if self._buffered_s < self._settings.trim_from_s:
            return ()
        held = [word for word in self._context if word.end_s > self._start_s + _EDGE_S]
        ends = [word.end_s for word in held if ends_sentence(word.text)]
        if ends:
            self._cut(ends[-1])
        if self._buffered_s < self._settings.max_buffer_s:
            return ()
        forced: tuple[RecognizedWord, ...] = ()
        if not held or held[-1].end_s < self._start_s + self._settings.step_s:
            forced = self._remember(self._agreement.flush())
            held = list(forced)
        self._cut(held[-1].end_s if held else self._start_s + self._buffered_s)
        if self._buffered_s > self._settings.max_buffer_s - self._settings.step_s:
            self._cut(self._start_s + self._settings.step_s)
        return forced

    def _cut(self, until_s: float) -> None:
        n_cut = round((until_s - self._start_s) * SAMPLE_RATE_HZ)
        n_cut = min(max(0, n_cut), len(self._buffer))
        n_cut += _until_pause(self._buffer[n_cut : n_cut + _WORD_ENDS], self._buffer)
        self._buffer = self._buffer[n_cut:].copy()  # a view would keep the cut sound in memory
        self._start_s += n_cut / SAMPLE_RATE_HZ

    def _remember(self, words: tuple[RecognizedWord, ...]) -> tuple[RecognizedWord, ...]:
        self._context = [*self._context, *words][-2 * _PROMPT_WORDS :]
        return words

    def _prompt(self) -> str:
        """Join the words that were committed shortly before the buffer.

        After a silence there are none: what was misheard before it would be heard again and again.
        """
        first_s, last_s = self._start_s - _PROMPT_S, self._start_s + _EDGE_S
        before = [word.text for word in self._context if first_s <= word.end_s <= last_s]
        return " ".join(before[-_PROMPT_WORDS:])


_WORD_ENDS = SAMPLE_RATE_HZ * 2 // 5  # samples by which a word may end later than its time
_PAUSE = SAMPLE_RATE_HZ // 10  # samples
_QUIET_SHARE = 0.1  # of the loudness around: quieter is a pause


def _until_pause(samples: Samples, around: Samples) -> int:
    """Return after how many samples it pauses; 0 if it does not."""
    places = samples[: len(samples) // _PAUSE * _PAUSE].reshape(-1, _PAUSE)
    quiet = _QUIET_SHARE * float(np.sqrt(np.square(around).mean()))
    pauses = np.flatnonzero(np.sqrt(np.square(places).mean(axis=1)) <= quiet)
    return int(pauses[0]) * _PAUSE if len(pauses) else 0


LONGEST_S = 28.0
"""Of a piece; Whisper hears 30 s at once, and its times are rounded."""

_CUT_FROM_S = 18.0  # a cut earlier would cost more passes, and the context of a sentence
_QUIET = SAMPLE_RATE_HZ // 5  # samples of a place to cut at


class WholePieces(LiveRecognizer):
    """Words of a piece become certain when it has ended and was heard.

    Its pauses, known when the next piece begins, end the passages.
    """

    ends_passages = True

    def __init__(self, model: SpeechModel, vad: VoiceActivityDetector, pause_s: float) -> None:
        """Start without sound; a silence of ``pause_s`` ends a piece."""
        super().__init__(vad)
        self._model = model
        self._pause_s = pause_s
        self._agreement = LocalAgreement()  # of pieces that do not overlap: it orders the times
        self._piece = np.zeros(0, np.float32)
        self._start_s = 0.0

    @property
    def marks_sentences(self) -> bool:
        return True

    @property
    def _buffered_s(self) -> float:
        return len(self._piece) / SAMPLE_RATE_HZ

    def flush(self) -> list[Recognized]:
        return [*super().flush(), self._hear(len(self._piece), speech_ended=True)]

    def _take(self, part: SpeechPart) -> list[Recognized]:
        results = []
        silence_s = part.start_s - self._start_s - self._buffered_s
        if part.begins and silence_s >= self._pause_s:
            results.append(self._hear(len(self._piece), speech_ended=True))
        if not len(self._piece):
            self._start_s, silence_s = part.start_s, 0.0
        silence = np.zeros(max(0, round(silence_s * SAMPLE_RATE_HZ)), np.float32)
        self._piece = np.concatenate([self._piece, silence, part.samples])
        while self._buffered_s > LONGEST_S:
            results.append(self._hear(_quietest(self._piece)))
        return results

    def _hear(self, n_samples: int, *, speech_ended: bool = False) -> Recognized:
        """Recognise the first samples of the piece; the others are what it is from now on."""
        heard, self._piece = self._piece[:n_samples], self._piece[n_samples:].copy()
        words: tuple[RecognizedWord, ...] = ()
        if len(heard):
            hypothesis = self._model.recognize(heard, self._start_s, "", whole=True)
            words = self._agreement.feed(hypothesis) + self._agreement.flush()
        self._start_s += n_samples / SAMPLE_RATE_HZ
        return Recognized(committed=words, tail=(), speech_ended=speech_ended)


def _quietest(piece: Samples) -> int:
    """Return the sample in the middle of the quietest place late in the first ``LONGEST_S``."""
    first, last = round(_CUT_FROM_S * SAMPLE_RATE_HZ), round(LONGEST_S * SAMPLE_RATE_HZ)
    places = piece[first:last].reshape(-1, _QUIET)
    return first + int(np.argmin(np.square(places).sum(axis=1))) * _QUIET + _QUIET // 2
