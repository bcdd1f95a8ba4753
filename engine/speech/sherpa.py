"""Recognise speech as it comes by sherpa-onnx: samples in, pieces of words out.

The library (https://github.com/k2-fsa/sherpa-onnx) belongs to the extra ``speech`` and is imported
when a model is loaded. Nothing is downloaded here. Its greedy search only appends; where words are
preferred it searches several ways at once, which may take back the newest pieces. Its end points
are not used: voice activity ends a speech.
"""

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import ModelError, is_failure
from engine.messages import Code
from engine.speech.streaming import Piece
from engine.speech.streaming_files import checked_files, tried, with_vocabulary
from engine.text.punctuation import Punctuation, punctuation_for
from engine.untrusted.limited_child import streaming_recognizer

if TYPE_CHECKING:
    from sherpa_onnx import OnlineRecognizer

_log = logging.getLogger(__name__)

_AFTER_S = 0.66  # of silence behind a speech, so that the last words come out


@dataclass(frozen=True, slots=True, kw_only=True)
class SherpaSettings:
    """Which model.

    Attributes:
        folder: that holds it.
        language: two-letter code of what is spoken.
        words: names and the like that a transducer prefers, as far as its tokens spell them.
    """

    folder: Path
    language: str = "en"
    words: tuple[str, ...] = ()


class Sherpa:
    """A loaded model. One thread uses it."""

    def __init__(self, settings: SherpaSettings) -> None:
        """Load the model from this computer.

        Raises:
            ModelError: the folder holds none that can be used, or the extra ``speech`` is not
                installed.
        """
        try:
            import sherpa_onnx  # noqa: F401, PLC0415  takes 0.3 s; may be missing
        except ImportError as error:
            raise ModelError(Code.SPEECH_LIBRARIES_MISSING(reason=str(error))) from error
        files = checked_files(settings.folder)
        self._words = "/".join(files.spelt(settings.words)) if files.prefers_words else ""
        try:
            with with_vocabulary(files) if self._words else nullcontext(files) as used:
                tried(used, settings.folder)
                self._recognizer = streaming_recognizer(used.paths)
        except ModelError:
            raise
        except BaseException as error:  # the library raises nothing more precise
            if not is_failure(error):
                raise
            _log.info("a library refused %s", settings.folder, exc_info=error)
            detail = type(error).__name__
            message = Code.STREAMING_NOT_LOADED(folder=str(settings.folder), detail=detail)
            raise ModelError(message) from error
        self._marks_sentences = files.marks_sentences
        self._is_in_capitals = files.is_in_capitals
        self._is_english = settings.language == "en"
        self._punctuation = None if files.marks_sentences else punctuation_for(settings.language)

    @property
    def punctuation(self) -> Punctuation | None:
        """The writer of case and punctuation in its place; None where it does, or nothing can."""
        return self._punctuation

    @property
    def marks_sentences(self) -> bool:
        """Whether it writes punctuation."""
        return self._marks_sentences

    def stream(self) -> "SherpaStream":
        """Begin to hear a speech; several are heard beside each other."""
        return SherpaStream(self._recognizer, self._words)

    def spelled(self, word: str) -> str:
        """Return a word in small letters if the model knows capitals alone; English keeps "I"."""
        if not self._is_in_capitals:
            return word
        if self._is_english and (word == "I" or word.startswith("I'")):
            return "I" + word[1:].lower()
        return word.lower()


class SherpaStream:
    """One speech, heard from an empty state."""

    def __init__(self, recognizer: "OnlineRecognizer", words: str) -> None:
        self._recognizer = recognizer
        self._stream = recognizer.create_stream(words or None)
        self._told: tuple[list[str], list[float]] = ([], [])
        self._pieces: list[Piece] = []

    def feed(self, samples: Samples) -> Sequence[Piece]:
        """Hear more; return all pieces so far."""
        self._stream.accept_waveform(SAMPLE_RATE_HZ, samples)
        has_heard = False
        while self._recognizer.is_ready(self._stream):
            self._recognizer.decode_stream(self._stream)
            has_heard = True
        if has_heard:
            self._take_answer()
        return self._pieces

    def _take_answer(self) -> None:
        """Take what was heard; minutes of speech without a pause have a thousand pieces."""
        answer = self._recognizer.get_result_all(self._stream)
        tokens, times = answer.tokens, answer.timestamps
        n_same = len(self._pieces)
        if (tokens[:n_same], times[:n_same]) != self._told:
            n_same = 0
        rest = zip(tokens[n_same:], times[n_same:], strict=True)
        new = (Piece(text=text, at_s=at_s) for text, at_s in rest)
        self._pieces = [*self._pieces[:n_same], *new]
        self._told = (tokens, times)

    def flush(self) -> Sequence[Piece]:
        """Hear the rest: nothing follows; return all pieces."""
        silence = np.zeros(round(_AFTER_S * SAMPLE_RATE_HZ), np.float32)
        return self.feed(silence)
