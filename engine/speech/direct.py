"""Hear speech without recognising it: blocks of vectors in the place of words.

The encoder is the one of a translator that reads such blocks (``engine.translation.spoken``). torch
is imported when it is loaded.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import read_card
from engine.speech.hypothesis import RecognizedWord
from engine.speech.recognizer import LiveRecognizer, Recognized
from engine.speech.speed import Pace
from engine.speech.vad import SpeechPart, VoiceActivityDetector

if TYPE_CHECKING:
    from engine.runtime.sound import Block, BlockStream


_NEWEST_WEIGHT = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectModel:
    """An encoder of speech; ``stream`` begins to hear one, in blocks of ``block_samples``."""

    stream: "Callable[[], BlockStream]"
    block_samples: int


def load_direct_model(folder: Path) -> DirectModel:
    """Load the encoder of a model folder.

    Raises:
        ModelError: the folder has none, or one that is damaged, oversized, or of another model.
    """
    from engine.runtime.sound import (  # noqa: PLC0415  torch takes seconds
        BlockStream,
        block_samples,
        load_speech_encoder,
    )

    encoder = load_speech_encoder(folder, read_card(folder), read_fingerprint(folder).hidden_size)
    return DirectModel(
        stream=lambda: BlockStream(encoder), block_samples=block_samples(encoder.card)
    )


class DirectRecognizer(LiveRecognizer):
    """Turn speech into blocks, each once; a block is a word without a text.

    The cut of the sound into chunks makes no difference.
    """

    ends_passages = True

    def __init__(
        self,
        model: DirectModel,
        vad: VoiceActivityDetector,
        *,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        super().__init__(vad, Pace(_NEWEST_WEIGHT))
        self._model = model
        self._clock = clock
        self._stream: BlockStream | None = None
        self._start_s = 0.0
        self._n_heard = self._n_blocks = 0

    @property
    def buffered_s(self) -> float:
        n_waiting = self._n_heard - self._n_blocks * self._model.block_samples
        return max(0, n_waiting) / SAMPLE_RATE_HZ

    @property
    def marks_sentences(self) -> bool:
        return False

    def _take(self, part: SpeechPart) -> Iterator[Recognized]:
        if part.begins or self._stream is None:
            self._stream, self._start_s = self._model.stream(), part.start_s
            self._n_heard = self._n_blocks = 0
        before_s = self._clock()
        blocks = [*self._stream.feed(part.samples)]
        self._n_heard += len(part.samples)
        if part.ends:
            blocks += self._stream.flush()
        block_s = self._model.block_samples / SAMPLE_RATE_HZ
        if blocks:
            self._pace.take(self._clock() - before_s, len(blocks) * block_s)
        words = tuple(self._words(blocks, block_s))
        if words or part.ends:
            yield Recognized(committed=words, tail=(), speech_ended=part.ends)

    def _words(self, blocks: "Sequence[Block]", block_s: float) -> Iterator[RecognizedWord]:
        for block in blocks:
            start_s = self._start_s + self._n_blocks * block_s
            self._n_blocks += 1
            yield RecognizedWord(
                text="", start_s=start_s, end_s=start_s + block_s, vectors=block.vectors
            )
