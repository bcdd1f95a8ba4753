"""A recogniser of live speech, whichever model it has: sound in, committed words out."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

import numpy as np

from engine.audio.chunks import AudioChunk
from engine.speech.hypothesis import RecognizedWord
from engine.speech.pace import Pace
from engine.speech.vad import SpeechPart, VoiceActivityDetector


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
    """

    ends_passages = False

    def __init__(self, vad: VoiceActivityDetector, pace: Pace) -> None:
        """Take what lets speech through, and what measures the computing."""
        self._vad = vad
        self._pace = pace

    @property
    def hears_speech(self) -> bool:
        """Whether there is speech now, for an indicator."""
        return self._vad.is_open

    @property
    def real_time_factor(self) -> float:
        """Seconds of computing per second of new speech, a running mean."""
        return self._pace.factor

    @property
    @abstractmethod
    def buffered_s(self) -> float:
        """Seconds of speech in the buffer."""

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

    @abstractmethod
    def _take(self, part: SpeechPart) -> Iterable[Recognized]:
        """Hear a part of a speech."""


def _joined_parts(parts: Sequence[SpeechPart]) -> Iterator[SpeechPart]:
    """Join the parts of each speech that came at once."""
    waiting: list[SpeechPart] = []
    for part, following in zip_longest(parts, parts[1:]):
        waiting.append(part)
        if part.ends or following is None or following.begins:
            samples = np.concatenate([part.samples for part in waiting])
            first = waiting[0]
            yield replace(part, samples=samples, start_s=first.start_s, begins=first.begins)
            waiting = []
