"""Recognise speech as it comes by sherpa-onnx: samples in, pieces of words out.

The library (https://github.com/k2-fsa/sherpa-onnx) belongs to the extra ``speech`` and is imported
when a model is loaded. Nothing is downloaded here. Its greedy search only appends; where words are
preferred it searches several ways at once, which may take back the newest pieces. Its end points
are not used: voice activity ends a speech.
"""

import contextlib
import logging
import math
import tempfile
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import ModelError, is_failure
from engine.messages import Code
from engine.speech.streaming import Piece
from engine.text.punctuation import punctuation_for
from engine.untrusted.faults import about, detail_of, refuse
from engine.untrusted.file_headers import onnx_metadata
from engine.untrusted.limited_child import Asked, streaming_recognizer
from engine.untrusted.limited_process import LimitedError, ask
from engine.untrusted.plain_files import open_plain

if TYPE_CHECKING:
    from sherpa_onnx import OnlineRecognizer


# A folder holds ``tokens.txt`` and either an encoder, a decoder and a joiner (a transducer), or one
# file (CTC), as the makers of sherpa-onnx publish them. Of several of a kind those in 8 bits are
# taken, of these the last by name.

TOKENS = "tokens.txt"
_PARTS = ("encoder", "decoder", "joiner")
_BLANKS = ("<blk>", "<blank>", "<eps>")
_OF_CTC = "encoder_dims"
"""What the metadata of a streaming Zipformer with CTC tell, and no other file of one part."""

_MOST_TOKENS_BYTES, _LONGEST_TOKEN, _MOST_DIGITS = 1 << 20, 64, 6
_MOST_BYTES = 1 << 30  # of a file of ONNX
_TRY_S, _TRY_S_PER_MEGABYTE = 10, 0.2
_TRY_BYTES, _TRY_BYTES_PER_BYTE = 1 << 29, 6


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamingFiles:
    """A model of speech in a folder; its ``tokens`` are in the order of their numbers.

    ``paths`` have the names of ``engine.untrusted.limited_child.streaming_recognizer``.
    """

    paths: Mapping[str, str]
    tokens: tuple[str, ...]

    @property
    def marks_sentences(self) -> bool:
        return any(token.endswith(".") for token in self.tokens)

    @property
    def is_in_capitals(self) -> bool:
        """Whether it knows no small letters, although its language has them."""
        letters = [c for token in self.tokens if not _is_special(token) for c in token]
        return any(c.isupper() for c in letters) and not any(c.islower() for c in letters)

    @property
    def prefers_words(self) -> bool:
        return "joiner" in self.paths

    def spelt(self, words: Sequence[str]) -> tuple[str, ...]:
        """Return the words that its tokens can spell, in capitals if it knows them alone."""
        written = [word.upper() if self.is_in_capitals else word for word in words]
        return tuple(
            word
            for word in (" ".join(text.split()) for text in written)
            if word and all(self._spells("▁" + part) for part in word.split())
        )

    def _spells(self, text: str) -> bool:
        known, longest = set(self.tokens), max(map(len, self.tokens))
        reached = [True] + [False] * len(text)
        for end in range(1, len(text) + 1):
            reached[end] = any(
                reached[start] and text[start:end] in known
                for start in range(max(0, end - longest), end)
            )
        return reached[-1]


def is_streaming(folder: Path) -> bool:
    """Return whether a folder holds a model of this kind, or what is left of one."""
    return (folder / TOKENS).exists() or any(folder.glob("*.onnx"))


def checked_files(folder: Path) -> StreamingFiles:
    try:
        with about(TOKENS):
            tokens = _read_tokens(folder / TOKENS)
        found = _found(folder)
        files = StreamingFiles(
            paths={"tokens": str(folder / TOKENS)} | {k: str(v) for k, v in found.items()},
            tokens=tokens,
        )
        for part, path in found.items():
            with about(path.name):
                told = onnx_metadata(path, _MOST_BYTES)
            if part == "ctc" and _OF_CTC not in told:
                refuse(f"has a {path.name} of a kind that is not known here")
        if "ctc" in found and not set(_BLANKS) & set(tokens):
            refuse(f"{TOKENS} has no token for nothing: <blk>, <blank> or <eps>")
    except ValueError as error:
        detail = detail_of(error)
        raise ModelError(Code.STREAMING_UNFIT(folder=str(folder), detail=detail)) from error
    return files


@contextlib.contextmanager
def with_vocabulary(files: StreamingFiles) -> Iterator[StreamingFiles]:
    """Hand the library the tokens with their scores in a file, so that words can be preferred.

    The makers number tokens from the most frequent on; how frequent each is follows Zipf's law.
    """
    with tempfile.TemporaryDirectory(prefix="surtitle-") as folder:
        path = Path(folder) / "vocabulary"
        lines = (
            f"{token}\t{-math.log(number + 1):.4f}\n"
            for number, token in enumerate(files.tokens)
            if not any(c.isspace() for c in token)
        )
        path.write_text("".join(lines), encoding="utf-8")
        yield replace(files, paths={**files.paths, "vocabulary": str(path)})


def tried(files: StreamingFiles, folder: Path) -> None:
    """Try a model in a process of its own.

    The library may end the process where a model does not suit it, or take all memory.

    Raises:
        ModelError: it cannot be used.
    """
    try:
        _try(files)
    except ValueError as error:
        detail = detail_of(error)
        raise ModelError(Code.STREAMING_UNFIT(folder=str(folder), detail=detail)) from error


def _found(folder: Path) -> dict[str, Path]:
    names = sorted(path.name for path in folder.glob("*.onnx"))
    of_part = {part: [name for name in names if name.startswith(part)] for part in _PARTS}
    if any(of_part.values()):
        for part in _PARTS:
            if not of_part[part]:
                refuse(f"it has no {part}*.onnx")
        return {part: folder / _chosen(of_part[part]) for part in _PARTS}
    if not names:
        refuse("it has no *.onnx")
    return {"ctc": folder / _chosen(names)}


def _chosen(names: list[str]) -> str:
    small = [name for name in names if ".int8." in name]
    return (small or names)[-1]


def _read_tokens(path: Path) -> tuple[str, ...]:
    with open_plain(path) as file:
        content = file.read(_MOST_TOKENS_BYTES + 1)
    if len(content) > _MOST_TOKENS_BYTES:
        refuse(f"is longer than {_MOST_TOKENS_BYTES} bytes")
    try:
        lines = content.decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        refuse("is no UTF-8 text")
    tokens = dict[int, str]()
    for n, line in enumerate(lines, 1):
        token, _, number = line.removesuffix("\r").rpartition(" ")
        fits = 0 < len(token) <= _LONGEST_TOKEN and number.isascii() and number.isdigit()
        if not fits or len(number) > _MOST_DIGITS or _has_control(token):
            refuse(f"should have a token and its number in line {n}")
        tokens[int(number)] = token
    if sorted(tokens) != [*range(len(lines))] or len(set(tokens.values())) < len(lines):
        refuse("should number its tokens from 0, without a gap and each once")
    return tuple(tokens[number] for number in range(len(lines)))


def _has_control(token: str) -> bool:
    return any(unicodedata.category(c)[0] == "C" for c in token)


def _is_special(token: str) -> bool:
    return token.startswith("<") and token.endswith(">")


def _try(files: StreamingFiles) -> None:
    """Let a model hear noise; raise ValueError, a clause about the folder, if it cannot."""
    paths = [Path(path) for path in files.paths.values()]
    n_bytes = sum(path.stat().st_size for path in paths)
    try:
        ask(
            Asked(
                speech=dict(files.paths),
                n_tokens=len(files.tokens),
                cpu_s=_TRY_S + int(_TRY_S_PER_MEGABYTE * (n_bytes >> 20)),
                memory_bytes=_TRY_BYTES + _TRY_BYTES_PER_BYTE * n_bytes,
                version=max(path.stat().st_mtime_ns for path in paths),
            )
        )
    except LimitedError as error:
        refuse(f"cannot be used: {error}")


_log = logging.getLogger(__name__)

_AFTER_S = 0.66  # of silence behind a speech, so that the last words come out


class Sherpa:
    """A loaded model. One thread uses it."""

    def __init__(self, folder: Path, language: str = "en", words: Sequence[str] = ()) -> None:
        """Load it; a transducer prefers these words, as far as its tokens spell them."""
        try:
            import sherpa_onnx  # noqa: F401, PLC0415  takes 0.3 s; may be missing
        except ImportError as error:
            raise ModelError(Code.SPEECH_LIBRARIES_MISSING(reason=str(error))) from error
        files = checked_files(folder)
        self._words = "/".join(files.spelt(words)) if files.prefers_words else ""
        try:
            with with_vocabulary(files) if self._words else nullcontext(files) as used:
                tried(used, folder)
                self._recognizer = streaming_recognizer(used.paths)
        except ModelError:
            raise
        except BaseException as error:  # the library raises nothing more precise
            if not is_failure(error):
                raise
            _log.info("a library refused %s", folder, exc_info=error)
            detail = type(error).__name__
            message = Code.STREAMING_NOT_LOADED(folder=str(folder), detail=detail)
            raise ModelError(message) from error
        self.marks_sentences = files.marks_sentences
        self._is_in_capitals = files.is_in_capitals
        self._is_english = language == "en"
        self.punctuation = None if files.marks_sentences else punctuation_for(language)

    def stream(self) -> "SherpaStream":
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
        silence = np.zeros(round(_AFTER_S * SAMPLE_RATE_HZ), np.float32)
        return self.feed(silence)
