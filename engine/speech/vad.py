"""Pass speech only: Silero's voice activity detector, frame by frame.

The detector (https://github.com/snakers4/silero-vad) is the file faster-whisper ships, run by ONNX
Runtime with its state kept between frames, so that sound can come in chunks of any size. Both
belong to the extra ``speech`` and are imported when a detector is made.
"""

from collections import deque
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from engine.audio.chunks import AudioChunk, Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import ModelError
from engine.messages import Code

FRAME = 512
"""Samples of one frame of the detector: 32 ms."""

_CONTEXT = 64  # samples of the previous frame that the detector takes again
_STATE = (1, 1, 128)
_SAME_TIME_S = 0.002  # chunks that touch do so to within rounding


@dataclass(frozen=True, slots=True, kw_only=True)
class VadSettings:
    """When the gate opens and closes.

    Attributes:
        open_at: probability of speech from which the gate opens.
        close_below: probability below which a frame counts as silence while the gate is open.
        min_speech_s: shorter speech is a click.
        silence_s: silence after which the gate closes.
        pre_roll_s: sound before the opening that is passed as well.
        max_speech_s: the gate is closed and reopened after this, so that words are committed.
        forget_s: without speech for this long, the detector forgets all but the newest sound: the
            memory of Silero drifts in silence and noise, and then it hears beginnings too late.
    """

    open_at: float = 0.5
    close_below: float = 0.35
    min_speech_s: float = 0.096
    silence_s: float = 0.6
    pre_roll_s: float = 0.3
    max_speech_s: float = 300.0
    forget_s: float = 2.0


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SpeechPart:
    """A part of one speech.

    Attributes:
        samples: 16 kHz mono; may be empty in the last part.
        start_s: its start on the source's timeline.
        silent_s: seconds at its end in which nobody speaks.
    """

    samples: Samples
    start_s: float
    begins: bool = False
    ends: bool = False
    silent_s: float = 0.0


class Detector(Protocol):
    """Rate the probability of speech frame by frame."""

    def probability(self, frame: Samples) -> float:
        """Return the probability, 0 to 1, of the next frame of ``FRAME`` samples."""

    def reset(self) -> None:
        """Forget the previous frames: sound is missing, or a new source begins."""


class SileroDetector:
    """The detector of faster-whisper's package."""

    def __init__(self) -> None:
        try:
            from faster_whisper.vad import get_vad_model  # noqa: PLC0415  takes 0.5 s; may be missing

            self._session = get_vad_model().session
        except (ImportError, RuntimeError) as error:
            raise ModelError(Code.VAD_LIBRARIES_MISSING(reason=str(error))) from error
        self.reset()

    def reset(self) -> None:
        self._h = self._c = np.zeros(_STATE, np.float32)
        self._context = np.zeros(_CONTEXT, np.float32)

    def probability(self, frame: Samples) -> float:
        heard = np.concatenate([self._context, frame])[None]
        said, self._h, self._c = self._session.run(
            None, {"input": heard, "h": self._h, "c": self._c}
        )
        self._context = frame[-_CONTEXT:]
        return float(np.reshape(said, -1)[0])


class VoiceActivityDetector:
    """Feed sound, get speech.

    Each sample of a speech is passed once and in order, from ``pre_roll_s`` before its start until
    ``silence_s`` after its end. The cut into chunks makes no difference. A speech ends where sound
    is missing.
    """

    def __init__(self, detector: Detector, settings: VadSettings) -> None:
        self._detector = detector
        self._settings = settings
        self._waiting = np.zeros(0, np.float32)  # less than a frame
        self._time_s = 0.0  # start of ``_waiting``
        self._held: deque[Samples] = deque()  # frames not passed yet
        self._is_open = False
        self._has_begun = False
        self._n_speech = self._n_silent = self._n_open = self._n_shut = 0

    @property
    def is_open(self) -> bool:
        return self._is_open

    def feed(self, chunk: AudioChunk) -> list[SpeechPart]:
        """Take the next sound; return the speech in it and in the sound held back before."""
        parts = []
        waiting_until_s = self._time_s + len(self._waiting) / SAMPLE_RATE_HZ
        if abs(chunk.start_s - waiting_until_s) > _SAME_TIME_S:
            parts += self.flush()
            self._time_s = chunk.start_s
        samples = np.concatenate([self._waiting, chunk.samples])
        n_whole = len(samples) // FRAME * FRAME
        for frame in samples[:n_whole].reshape(-1, FRAME):
            parts += self._judge(frame)
        self._waiting = samples[n_whole:].copy()
        return parts

    def flush(self) -> list[SpeechPart]:
        """End the current speech; the next sound is independent of it."""
        self._held.append(self._waiting)
        self._time_s += len(self._waiting) / SAMPLE_RATE_HZ
        self._waiting = np.zeros(0, np.float32)
        parts = [self._pass_held(ends=True)] if self._is_open else []
        self._close()
        self._detector.reset()
        return parts

    def _judge(self, frame: Samples) -> list[SpeechPart]:
        probability = self._detector.probability(frame)
        self._held.append(frame)
        self._time_s += FRAME / SAMPLE_RATE_HZ
        if self._is_open:
            return [self._continue(probability)]
        self._n_shut += 1
        self._n_speech = self._n_speech + 1 if probability >= self._settings.open_at else 0
        if self._n_speech >= _frames(self._settings.min_speech_s):
            self._is_open = True
            return [self._pass_held()]
        n_kept = _frames(self._settings.pre_roll_s) + self._n_speech
        while len(self._held) > n_kept:
            self._held.popleft()
        if not self._n_speech and self._n_shut >= _frames(self._settings.forget_s):
            self._forget()
        return []

    def _forget(self) -> None:
        self._detector.reset()
        for frame in self._held:
            self._detector.probability(frame)
        self._n_shut = 0

    def _continue(self, probability: float) -> SpeechPart:
        settings = self._settings
        if probability >= settings.open_at:
            self._n_silent = 0
        elif probability < settings.close_below or self._n_silent:
            self._n_silent += 1
        self._n_open += 1
        ends = self._n_silent >= _frames(settings.silence_s)
        ends |= self._n_open >= _frames(settings.max_speech_s)
        part = self._pass_held(ends=ends)
        if ends:
            self._close()
        return part

    def _pass_held(self, *, ends: bool = False) -> SpeechPart:
        samples = np.concatenate(self._held) if self._held else np.zeros(0, np.float32)
        self._held.clear()
        start_s = self._time_s - len(samples) / SAMPLE_RATE_HZ
        part = SpeechPart(
            samples=samples,
            start_s=start_s,
            begins=not self._has_begun,
            ends=ends,
            silent_s=self._n_silent * FRAME / SAMPLE_RATE_HZ,
        )
        self._has_begun = True
        return part

    def _close(self) -> None:
        self._held.clear()
        self._is_open = self._has_begun = False
        self._n_speech = self._n_silent = self._n_open = self._n_shut = 0


def _frames(seconds: float) -> int:
    return max(1, round(seconds * SAMPLE_RATE_HZ / FRAME))
