"""Recognise a recording that nobody waits for: each piece of speech is heard once, as a whole.

A piece is what is said without a pause, as much as the model hears at once; a longer one is cut
where it is quietest.
"""

from typing import TYPE_CHECKING

import numpy as np

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.live_recognizer import LiveRecognizer, Recognized
from engine.speech.local_agreement import LocalAgreement
from engine.speech.pace import Pace
from engine.speech.recognizer import SpeechModel
from engine.speech.vad import SpeechPart, VoiceActivityDetector

if TYPE_CHECKING:
    from engine.speech.hypothesis import RecognizedWord

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
        super().__init__(vad, Pace(newest_weight=1.0))
        self._model = model
        self._pause_s = pause_s
        self._agreement = LocalAgreement()  # of pieces that do not overlap: it orders the times
        self._piece = np.zeros(0, np.float32)
        self._start_s = 0.0

    @property
    def buffered_s(self) -> float:
        """Seconds of the piece so far."""
        return len(self._piece) / SAMPLE_RATE_HZ

    @property
    def marks_sentences(self) -> bool:
        """Whisper writes punctuation."""
        return True

    def flush(self) -> list[Recognized]:
        """Hear the last piece."""
        return [*super().flush(), self._hear(len(self._piece), speech_ended=True)]

    def _take(self, part: SpeechPart) -> list[Recognized]:
        results = []
        silence_s = part.start_s - self._start_s - self.buffered_s
        if part.begins and silence_s >= self._pause_s:
            results.append(self._hear(len(self._piece), speech_ended=True))
        if not len(self._piece):
            self._start_s, silence_s = part.start_s, 0.0
        silence = np.zeros(max(0, round(silence_s * SAMPLE_RATE_HZ)), np.float32)
        self._piece = np.concatenate([self._piece, silence, part.samples])
        while self.buffered_s > LONGEST_S:
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
