"""Turn speech into committed words by a model that hears it as it comes, 100 ms at a time.

Such a model returns pieces of words: mostly it only appends, so a word can only go on. A word is
committed once the next one has begun, or once nothing came for a while. Where
the model writes neither case nor punctuation, ``engine.text.punctuation`` does, for which some
words wait for the next one. Voice activity decides when the model runs at all, and each speech is
heard from an empty state.
"""

import re
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol, runtime_checkable

import numpy as np

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.hypothesis import RecognizedWord
from engine.speech.recognizer import LiveRecognizer, Recognized
from engine.speech.vad import SpeechPart, VoiceActivityDetector
from engine.text.punctuation import Punctuation, SentenceMarks

PRE_ROLL_S = 0.5
"""Sound before the opening of the gate that such a model needs: it hears nothing twice."""

_STEP = SAMPLE_RATE_HZ // 10  # samples of one step
_SETTLED_S = 0.5
"""Sound without a further piece after which the last word is committed."""

_BEGINS_WORD = (" ", "▁")
_LONGEST_WORD = 40  # letters; languages without blanks, and a model that was made to tell none
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")
_SPECIAL = re.compile(r"<[^<>]*>")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a word.

    Attributes:
        text: begins with a blank, or with ``▁``, where a word begins.
        at_s: when it was heard, from the beginning of the speech.
    """

    text: str
    at_s: float


class SpeechStream(Protocol):
    """One speech, heard from an empty state."""

    def feed(self, samples: Samples) -> Sequence[Piece]:
        """Hear more; return all pieces so far.

        Words that were reported before may change where the model prefers words; what is committed
        stays.
        """

    def flush(self) -> Sequence[Piece]:
        """Hear the rest: nothing follows; return all pieces."""


@runtime_checkable
class StreamingModel(Protocol):
    """A model of speech that hears it as it comes, as ``engine.speech.sherpa.Sherpa``."""

    @property
    def marks_sentences(self) -> bool:
        """Whether it writes punctuation."""

    @property
    def punctuation(self) -> Punctuation | None:
        """The writer of case and punctuation in its place; None for nothing."""

    def stream(self) -> SpeechStream:
        """Begin to hear a speech; several are heard beside each other."""

    def spelled(self, word: str) -> str:
        """Return a word as it is shown."""


@dataclass(slots=True)
class _Speech:
    """The words heard of one speech.

    Attributes:
        start_s: on the source's timeline.
        waiting: samples, less than a step.
        n_heard: samples that the model has heard.
        n_committed: pieces of committed words, ``last`` the newest.
        shown: the tail that was reported last.
    """

    stream: SpeechStream
    start_s: float
    waiting: Samples = field(default_factory=lambda: np.zeros(0, np.float32))
    n_heard: int = 0
    n_committed: int = 0
    last: Piece | None = None
    shown: tuple[RecognizedWord, ...] = ()


class StreamingRecognizer(LiveRecognizer):
    """A live recogniser of a model that hears sound as it comes.

    The cut of the sound into chunks makes no difference.
    """

    streams = True

    def __init__(self, model: StreamingModel, vad: VoiceActivityDetector) -> None:
        """Prepare; ``vad`` passes sound from ``PRE_ROLL_S`` before the model is to hear it."""
        super().__init__(vad)
        self._model = model
        self._speech: _Speech | None = None
        self._marks = SentenceMarks(model.punctuation) if model.punctuation else None
        self._unwritten: deque[RecognizedWord] = deque()  # those that ``_marks`` holds

    @property
    def marks_sentences(self) -> bool:
        return self._model.marks_sentences

    def _take(self, part: SpeechPart) -> Iterator[Recognized]:
        if part.begins or self._speech is None:
            self._speech = _Speech(stream=self._model.stream(), start_s=part.start_s)
        speech = self._speech
        samples = np.concatenate([speech.waiting, part.samples])
        n_whole = len(samples) // _STEP * _STEP
        speech.waiting = samples[n_whole:].copy()
        for step in samples[:n_whole].reshape(-1, _STEP):
            pieces = speech.stream.feed(step)
            speech.n_heard += _STEP
            yield from self._commit(speech, pieces)
        if part.ends:
            speech.stream.feed(speech.waiting)
            pieces = speech.stream.flush()
            self._follow(speech, pieces)
            words = self._words(speech, pieces)
            self._speech = None
            committed = self._written([word for _, word in words], ends=True)
            yield Recognized(committed=committed, tail=(), speech_ended=True)

    def _commit(self, speech: _Speech, pieces: Sequence[Piece]) -> Iterator[Recognized]:
        self._follow(speech, pieces)
        words = self._words(speech, pieces)
        heard_s = speech.n_heard / SAMPLE_RATE_HZ
        if words and heard_s - pieces[-1].at_s >= _SETTLED_S:
            tail, speech.n_committed = words[:0], len(pieces)
        else:
            tail = words[-1:]
            speech.n_committed = tail[0][0] if tail else speech.n_committed
        if speech.n_committed:
            speech.last = pieces[speech.n_committed - 1]
        certain = [word for _, word in words[: len(words) - len(tail)]]
        silent_s = heard_s - pieces[-1].at_s if pieces else 0.0
        committed = self._written(certain, pauses=silent_s >= 2 * _SETTLED_S)
        shown = (*self._unwritten, *(word for _, word in tail))
        if committed or shown != speech.shown:
            yield Recognized(committed=committed, tail=shown)
        speech.shown = shown

    def _follow(self, speech: _Speech, pieces: Sequence[Piece]) -> None:
        """Find by their times where committed pieces end after the model has changed them."""
        n, last = speech.n_committed, speech.last
        if last is not None and (n > len(pieces) or pieces[n - 1] != last):
            speech.n_committed = sum(piece.at_s <= last.at_s for piece in pieces)

    def _written(
        self, words: Sequence[RecognizedWord], *, pauses: bool = False, ends: bool = False
    ) -> tuple[RecognizedWord, ...]:
        """Return certain words, and those that waited, with case and punctuation.

        ``pauses``: nothing was said for a while; ``ends``: the speech is over.
        """
        if self._marks is None:
            return tuple(words)
        texts = list[str]()
        for word in words:
            self._unwritten.append(word)
            texts += self._marks.feed(word.text)
        if pauses or ends:
            texts += self._marks.pause(ends=ends)
        return tuple(replace(self._unwritten.popleft(), text=text) for text in texts)

    def _words(self, speech: _Speech, pieces: Sequence[Piece]) -> list[tuple[int, RecognizedWord]]:
        """Return the words that are not committed yet, with the places of their first pieces."""
        starts = _word_starts(pieces, speech.n_committed)
        words = []
        for first, behind in zip(starts, [*starts[1:], len(pieces)], strict=False):
            text = self._model.spelled(_joined_text(pieces[first:behind]))
            start_s, end_s = (speech.start_s + pieces[at].at_s for at in (first, behind - 1))
            if text:
                words.append((first, RecognizedWord(text=text, start_s=start_s, end_s=end_s)))
        return words


def _word_starts(pieces: Sequence[Piece], first: int) -> list[int]:
    """List at which pieces the words begin, from a piece on; that one begins one in any case."""
    starts, n_letters = list[int](), 0
    for at in range(first, len(pieces)):
        text = pieces[at].text
        if not starts or text.startswith(_BEGINS_WORD) or n_letters + len(text) > _LONGEST_WORD:
            starts.append(at)
            n_letters = 0
        n_letters += len(text)
    return starts


def _joined_text(pieces: Sequence[Piece]) -> str:
    """Return the text of a word, its bytes joined to letters and without special tokens."""
    data = b""
    for piece in pieces:
        byte = _BYTE.fullmatch(piece.text)
        data += bytes([int(byte[1], 16)]) if byte else _SPECIAL.sub("", piece.text).encode()
    return "".join(data.decode(errors="replace").replace("▁", " ").split())
