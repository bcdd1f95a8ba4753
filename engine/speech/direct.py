"""Hear speech without recognising it: blocks of vectors in the place of words.

The encoder is the one of a translator that reads such blocks (``engine.translation.spoken``). torch
is imported when it is loaded.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import read_card
from engine.speech.hypothesis import RecognizedWord
from engine.speech.recognizer import LiveRecognizer, Recognized
from engine.speech.vad import SpeechPart, VoiceActivityDetector

if TYPE_CHECKING:
    from engine.runtime.sound import Block, BlockStream


@dataclass(frozen=True, slots=True, kw_only=True)
class DirectModel:
    """An encoder of speech; ``stream`` begins to hear one, in blocks of ``block_s``."""

    stream: "Callable[[], BlockStream]"
    block_s: float


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
    block_s = block_samples(encoder.card) / SAMPLE_RATE_HZ
    return DirectModel(stream=lambda: BlockStream(encoder), block_s=block_s)


class DirectRecognizer(LiveRecognizer):
    """Turn speech into blocks, each once; a block is a word without a text.

    The cut of the sound into chunks makes no difference.
    """

    ends_passages = streams = True

    def __init__(self, model: DirectModel, vad: VoiceActivityDetector) -> None:
        super().__init__(vad)
        self._model = model
        self._stream: BlockStream | None = None
        self._end_s = 0.0  # of the newest block

    @property
    def marks_sentences(self) -> bool:
        return False

    def _take(self, part: SpeechPart) -> Iterator[Recognized]:
        if part.begins or self._stream is None:
            self._stream, self._end_s = self._model.stream(), part.start_s
        blocks = [*self._stream.feed(part.samples)]
        if part.ends:
            blocks += self._stream.flush()
        if blocks or part.ends:
            words = tuple(self._words(blocks))
            yield Recognized(committed=words, tail=(), speech_ended=part.ends)

    def _words(self, blocks: "Sequence[Block]") -> Iterator[RecognizedWord]:
        for block in blocks:
            start_s, self._end_s = self._end_s, self._end_s + self._model.block_s
            yield RecognizedWord(text="", start_s=start_s, end_s=self._end_s, vectors=block.vectors)
