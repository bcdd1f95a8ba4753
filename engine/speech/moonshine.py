"""Recognise English by Moonshine tiny in sherpa-onnx: samples in, one hypothesis out.

The model (Jeffries et al. 2024, https://arxiv.org/abs/2410.15608; MIT, Moonshine AI) comes with the
package ``moonshine-voice``, whose files are read and whose code is not run. A pass costs as long as
the sound is, so that it can be heard again and again. It returns no probabilities and no times:
words stand in the loud stretches of the sound, marks where it pauses, and each stretch is as long
as its words are written. How exact that is: ``docs/decisions/0019-moonshine.md``.
"""

import base64
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.errors import ModelError
from engine.messages import Code
from engine.speech.hallucinations import without_loops
from engine.speech.hypothesis import Hypothesis, RecognizedWord
from engine.untrusted.plain_files import file_sha256

_ENCODER, _DECODER, _TOKENS = "encoder_model.ort", "decoder_model_merged.ort", "tokenizer.bin"
_DIGESTS = {
    _ENCODER: "94e90a4654fc45cdfedb77c4c08e1739f48862998e58fada384b25118134f221",
    _DECODER: "cf524c4862d36e9e5ab032eddc73637efd822d70e868ac575cf1a46e1e4708a0",
    _TOKENS: "6884b35fd6377d4c4d32336a0bc152f36b64d1e45b6503683cdc238250a8472d",
}
"""Of the files of the one model that is known; no other is run."""

_LONG_TOKEN = 128  # a length from here on takes two bytes
_LEAST = SAMPLE_RATE_HZ // 10  # samples; of less sound the library answers nothing, and complains
_GOES_ON_S = 0.3  # of quiet behind the last word; with less the sentence may go on
_TIMES_VARY_S = 2.0  # they are estimates, and a word more moves all others
_BLOCK = SAMPLE_RATE_HZ // 50
_BLOCK_S = _BLOCK / SAMPLE_RATE_HZ
_QUIET = 0.1  # of the loudest blocks: below it nobody speaks
_PAUSE = 8  # blocks of quiet that part two stretches; a closed mouth inside a word has fewer
_MARKS = ".,;:?!"
_MARK_S = 0.4  # so much may a stretch be too long or too short for its words, to end with a mark


def is_moonshine(folder: Path) -> bool:
    """Return whether a folder holds this model, by its names."""
    return all((folder / name).is_file() for name in _DIGESTS)


class Moonshine:
    """The loaded model. One thread uses it."""

    def __init__(self, folder: Path) -> None:
        """Load the model from a folder.

        Raises:
            ModelError: its files are not those of the known model, or the extra ``speech`` is not
                installed.
        """
        try:
            from sherpa_onnx import OfflineRecognizer  # noqa: PLC0415  takes 0.3 s; may be missing
        except ImportError as error:
            raise ModelError(Code.SPEECH_LIBRARIES_MISSING(reason=str(error))) from error
        try:
            other = [name for name in _DIGESTS if file_sha256(folder / name) != _DIGESTS[name]]
            if other:
                detail = f"{other[0]} is not that of Moonshine tiny"
                raise ModelError(Code.STREAMING_NOT_LOADED(folder=str(folder), detail=detail))
            with tempfile.TemporaryDirectory() as place:
                tokens = Path(place) / "tokens.txt"
                tokens.write_text(_listed((folder / _TOKENS).read_bytes()), "ascii")
                self._recognizer = OfflineRecognizer.from_moonshine_v2(
                    str(folder / _ENCODER), str(folder / _DECODER), str(tokens)
                )
        except (OSError, RuntimeError) as error:
            detail = type(error).__name__
            message = Code.STREAMING_NOT_LOADED(folder=str(folder), detail=detail)
            raise ModelError(message) from error

    def recognize(
        self,
        samples: Samples,
        start_s: float,
        prompt: str,  # noqa: ARG002  it takes none
        *,
        whole: bool = False,  # noqa: ARG002  it has no other way of hearing
    ) -> Hypothesis:
        """Recognise speech in a piece of sound, see ``SpeechModel``.

        The last word is not certain before it is quiet, since the model ends each text with a mark.
        """
        end_s = start_s + len(samples) / SAMPLE_RATE_HZ
        texts = self._texts(samples)
        if not texts:
            return Hypothesis(words=(), start_s=start_s, end_s=end_s)
        times, quiet_s = word_times(texts, samples)
        words = tuple(
            RecognizedWord(text=text, start_s=start_s + begin_s, end_s=start_s + stop_s)
            for text, (begin_s, stop_s) in zip(texts, times, strict=True)
        )
        return Hypothesis(
            words=tuple(without_loops(words)),
            start_s=start_s,
            end_s=end_s,
            times_vary_s=_TIMES_VARY_S,
            goes_on=quiet_s < _GOES_ON_S,
        )

    def _texts(self, samples: Samples) -> list[str]:
        if len(samples) < _LEAST:
            return []
        stream = self._recognizer.create_stream()
        stream.accept_waveform(SAMPLE_RATE_HZ, samples)
        self._recognizer.decode_stream(stream)
        return str(stream.result.text).split()


def _listed(data: bytes) -> str:
    """Return the tokens as the library reads them, each in base64 with its number.

    In the file each has its length before it, in one byte or in two.
    """
    lines, at = list[str](), 0
    while at < len(data):
        length, at = data[at], at + 1
        if length >= _LONG_TOKEN:
            length, at = length - _LONG_TOKEN + _LONG_TOKEN * data[at], at + 1
        lines.append(f"{base64.b64encode(data[at : at + length]).decode()} {len(lines)}\n")
        at += length
    return "".join(lines)


def word_times(texts: Sequence[str], samples: Samples) -> tuple[list[tuple[float, float]], float]:
    """Return start and end of each word in seconds, and the seconds of quiet behind the last.

    ``texts`` are all words in the sound, with their punctuation; ``samples`` 16 kHz mono.
    """
    stretches, n_blocks = _stretches(samples), len(samples) / _BLOCK
    if not stretches:
        stretches = [(0.0, n_blocks)]
    letters = np.array([0, *(len(text) + 1 for text in texts)], np.float64).cumsum()
    firsts = _divided(texts, letters, stretches)
    times = list[tuple[float, float]]()
    for (begin, end), (first, behind) in zip(stretches, pairwise(firsts), strict=True):
        if first < behind:
            share = letters[first : behind + 1] - letters[first]
            edges = (begin + (end - begin) * share / share[-1]) * _BLOCK_S
            times += pairwise(float(edge) for edge in edges)
    return times, (n_blocks - stretches[-1][1]) * _BLOCK_S


def _stretches(samples: Samples) -> list[tuple[float, float]]:
    """Return the first and the last block of each loud stretch."""
    blocks = samples[: len(samples) // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
    if not len(blocks):
        return []
    loudness = np.sqrt(np.square(blocks).mean(axis=1))
    found = list[tuple[float, float]]()
    for at in np.flatnonzero(loudness > _QUIET * np.quantile(loudness, 0.95)):
        begin = found.pop()[0] if found and at - found[-1][1] < _PAUSE else float(at)
        found.append((begin, float(at) + 1))
    return found


def _divided(
    texts: Sequence[str],
    letters: "np.ndarray[tuple[int], np.dtype[np.float64]]",
    stretches: Sequence[tuple[float, float]],
) -> list[int]:
    """Return the first word of each stretch, and the number of words.

    Of all divisions the one in which stretches are as long as their words, and end with marks.
    """
    lengths = [(end - begin) * _BLOCK_S for begin, end in stretches]
    told_s = letters * sum(lengths) / letters[-1]
    marks = np.array([0.0, *(_MARK_S * text.endswith(tuple(_MARKS)) for text in texts)])
    gained = np.tril(np.repeat(marks[:, None], len(marks), axis=1), -1)  # by words, once
    costs, choices = np.full(len(told_s), np.inf), []
    costs[0] = 0.0
    for length_s in lengths:
        # Row: the first word behind the stretch; column: the first one in it.
        wrong_s = np.abs(told_s[:, None] - told_s[None, :] - length_s)
        wrong_s[np.triu_indices(len(told_s), 1)] = np.inf
        total = costs[None, :] + wrong_s - gained
        choices.append(total.argmin(axis=1))
        costs = total.min(axis=1)
    firsts = [len(texts)]
    for choice in reversed(choices):
        firsts.append(int(choice[firsts[-1]]))
    return firsts[::-1]
