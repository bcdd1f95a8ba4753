"""Systems that hear sound and write captions: straight from it, or by the words of a cascade.

Both have the encoder of one model folder. The cascade takes the words that this encoder writes
(CTC, the likeliest id of each frame), each as soon as the next one begins, and translates them as
a text, so a difference between the two is not one of hearing.
"""

from typing import Protocol

from tokenizers import Tokenizer

from engine.audio.chunks import Samples
from engine.runtime.sound.block_stream import Block, BlockStream
from engine.translation.base import AnySystem
from engine.translation.feed import changes
from engine.translation.sound.spoken import SpokenTranslator, SpokenUtterance
from training.errors import UsageError
from training.research.interop.word_by_word import WordByWord
from training.research.speech.folder import Hearing, open_stream
from training.research.speech.wav2vec.encoder import Wav2VecStream


class SoundSystem(Protocol):
    """Turns the sound of one utterance after another into text."""

    def hear(self, samples: Samples, *, ended: bool) -> str:
        """Hear more; return what it adds to the caption. After the end the next one begins.

        Args:
            samples: shape (N,), float32 from -1 to 1, 16 kHz.
            ended: the utterance ends with them.
        """


class Direct:
    """Blocks of vectors are read by the translator."""

    def __init__(self, translator: SpokenTranslator, encoder: Hearing) -> None:
        self._translator = translator
        self._encoder = encoder
        self._stream: BlockStream | Wav2VecStream | None = None
        self._utterance: SpokenUtterance | None = None

    def hear(self, samples: Samples, *, ended: bool) -> str:
        """See ``SoundSystem``."""
        if self._stream is None or self._utterance is None:
            self._stream = open_stream(self._encoder)
            self._utterance = self._translator.open()
        utterance = self._utterance
        blocks = _blocks(self._stream, samples, ended=ended)
        self._translator.hear(utterance, [block.vectors for block in blocks], ended=ended)
        text = "".join(change.text for change in changes(self._translator, utterance))
        if ended:
            self._stream = self._utterance = None
        return text


class Cascade:
    """Words of the encoder are translated as a text."""

    def __init__(self, system: AnySystem, encoder: Hearing, tokenizer: Tokenizer) -> None:
        """Take a system of texts.

        Raises:
            UsageError: the encoder writes no words.
        """
        if encoder.words is None:
            msg = "a cascade needs an encoder that writes words: train it by the recipe words"
            raise UsageError(msg)
        self._line = WordByWord(system)
        self._encoder = encoder
        self._tokenizer = tokenizer
        self._stream: BlockStream | Wav2VecStream | None = None
        self._words = GreedyWords(tokenizer)

    def hear(self, samples: Samples, *, ended: bool) -> str:
        """See ``SoundSystem``."""
        if self._stream is None:
            self._stream = open_stream(self._encoder)
            self._words = GreedyWords(self._tokenizer)
        words = [
            word
            for block in _blocks(self._stream, samples, ended=ended)
            for word in self._words.feed(block)
        ]
        if ended:
            words += self._words.flush()
            self._stream = None
        last = len(words) if ended else 0
        text = "".join(
            self._line.feed(word, ended=number == last) for number, word in enumerate(words, 1)
        )
        if ended and not words:  # the newest word was held back, so none was ever fed
            self._line.reset()
        return text


class GreedyWords:
    """Feed blocks, get the words that are whole: each once the next one has begun.

    Invariant: everything ``feed`` returned, followed by ``flush``, are the words of all ids.
    """

    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._ids = list[int]()
        self._newest = -1
        self._n_told = 0

    def feed(self, block: Block) -> list[str]:
        """Take the next block; return words that became whole."""
        assert block.words is not None
        blank = block.words.shape[1] - 1
        for id_ in block.words.argmax(axis=1).tolist():
            if id_ not in (self._newest, blank):
                self._ids.append(id_)
            self._newest = id_
        return self._told(self._all()[:-1])

    def flush(self) -> list[str]:
        """Return the newest word too."""
        return self._told(self._all())

    def _all(self) -> list[str]:
        return self._tokenizer.decode(self._ids, skip_special_tokens=True).split()

    def _told(self, whole: list[str]) -> list[str]:
        fresh = whole[self._n_told :]
        self._n_told += len(fresh)
        return fresh


def _blocks(stream: BlockStream | Wav2VecStream, samples: Samples, *, ended: bool) -> list[Block]:
    return stream.feed(samples) + (stream.flush() if ended else [])
