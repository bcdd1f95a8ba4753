"""What a recogniser of live speech is, whichever model it has: sound in, committed words out."""

from dataclasses import dataclass
from typing import Protocol

from engine.audio.chunks import AudioChunk
from engine.speech.hypothesis import RecognizedWord


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


class LiveRecognizer(Protocol):
    """Feed sound, get words.

    The ``committed`` words that ``feed`` and ``flush`` returned are the transcript, which is
    append-only. One thread uses it.
    """

    @property
    def hears_speech(self) -> bool:
        """Whether there is speech now, for an indicator."""

    @property
    def real_time_factor(self) -> float:
        """Seconds of computing per second of new speech, a running mean."""

    @property
    def advises_smaller_model(self) -> bool:
        """Whether the model has been too slow for this computer for a while."""

    @property
    def buffered_s(self) -> float:
        """Seconds of speech in the buffer."""

    @property
    def marks_sentences(self) -> bool:
        """Whether it writes punctuation; without, only pauses tell where a sentence ends."""

    def feed(self, chunk: AudioChunk) -> list[Recognized]:
        """Take the next sound; return the results, none if nothing became known."""

    def flush(self) -> list[Recognized]:
        """Commit the rest: no sound follows, or it does not follow at once."""
