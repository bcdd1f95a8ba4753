"""Speech for tests: sentences of espeak-ng, the recognisers that know them, and what they heard."""

import random
import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.hypothesis import Hypothesis, RecognizedWord, same_word_key
from engine.speech.sherpa import Sherpa
from engine.speech.whisper import Whisper
from tests.tiny_whisper.synthetic_speech import Utterance, sentence, speech
from training.research import speech_corpus as espeak

_ALIKE = 0.7  # what is the same is above it, resampled or not; what is not, below
_COARSE = 2  # samples taken together: what sets voices apart is below 4 kHz

TINY = Path(__file__).parents[1] / "assets" / "tiny-whisper"
TINY_STREAMING, TINY_TRANSDUCER = (TINY.with_name(f"tiny-{n}") for n in ("streaming", "transducer"))

needs_sherpa = pytest.mark.skipif(find_spec("sherpa_onnx") is None, reason="needs sherpa-onnx")
needs_voice = pytest.mark.skipif(not espeak.is_here(), reason="needs espeak-ng")


def tiny_whisper():
    """Load the Whisper for tests so that every kind of CPU hears the same.

    In int8, as a CPU computes otherwise, it takes other words with other instructions; in float32
    not even noise of a hundred thousandth changes a word.
    """
    return Whisper(TINY, "cpu", compute_type="float32")


def tiny_streaming():
    """Load the streaming recogniser for tests."""
    return Sherpa(TINY_STREAMING)


def needs_tiny():
    """Mark tests that are skipped where the Whisper for tests has nobody to listen to."""
    return pytest.mark.skipif(
        not (TINY / "model.bin").exists() or not espeak.is_here(),
        reason="needs the test model and espeak-ng",
    )


def talk(seed, n_sentences, longest_pause_s=0.75):
    """Say sentences that are drawn; what was said stands beside the samples."""
    rng = random.Random(seed)
    return speech([sentence(rng) for _ in range(n_sentences)], rng, longest_pause_s=longest_pause_s)


def apart(seed, n_sentences, silent_s=1.5):
    """Say one sentence after the other, silent long enough that each is heard alone.

    Of several at once the small Whisper may make nothing, as its rounding and the pieces fall.
    """
    words, parts, begun_s = [], [], 0.0
    for number in range(n_sentences):
        one = talk(100 * seed + number, 1)
        samples = np.concatenate([one.samples, np.zeros(round(silent_s * SAMPLE_RATE_HZ))])
        words += [
            replace(word, start_s=begun_s + word.start_s, end_s=begun_s + word.end_s)
            for word in one.words
        ]
        parts.append(samples.astype(np.float32))
        begun_s += len(samples) / SAMPLE_RATE_HZ
    return Utterance(words=tuple(words), samples=np.concatenate(parts))


class Known:
    """A recogniser that knows what is said, and finds out by the sound when it is.

    What it makes of a piece of sound depends neither on rounding nor on where the pieces are cut,
    as with the small Whisper. Of a word that is not over it hears something else each time.
    """

    def __init__(self, *spoken):
        self.spoken = list(spoken)
        self.beside = None  # a model that hears the same; nobody looks at what
        self._n_passes = 0

    def recognize(self, samples, start_s, prompt):
        if self.beside is not None:
            self.beside.recognize(samples, start_s, prompt)
        self._n_passes += 1
        length_s = len(samples) / SAMPLE_RATE_HZ
        places = [(*_alike(one.samples, samples), one.words) for one in self.spoken]
        score, begins_at, known = max(places, default=(0.0, 0, ()))
        words = []
        for word in known if score > _ALIKE else ():
            begins_s, ends_s = (
                at_s - begins_at / SAMPLE_RATE_HZ for at_s in (word.start_s, word.end_s)
            )
            if (begins_s + ends_s) / 2 < 0 or begins_s >= length_s:
                continue
            text = word.text if ends_s <= length_s else f"xx{self._n_passes}"
            words.append(
                RecognizedWord(text=text, start_s=start_s + begins_s, end_s=start_s + ends_s)
            )
        return Hypothesis(words=tuple(words), start_s=start_s, end_s=start_s + length_s)


def _alike(whole, part):
    """Find where in a whole a part begins that may reach beyond it, and how alike they are there.

    By the correlation of what overlaps, which is at least half of what can be heard in the part.
    """
    whole, part = (
        samples[: len(samples) // _COARSE * _COARSE].reshape(-1, _COARSE).mean(axis=1)
        for samples in (whole, part)
    )
    size = 1 << (len(whole) + len(part)).bit_length()
    shifts = np.arange(1 - len(part), len(whole))
    products = np.fft.irfft(np.fft.rfft(whole, size) * np.conj(np.fft.rfft(part, size)), size)
    first, last = np.maximum(shifts, 0), np.minimum(shifts + len(part), len(whole))
    loud_whole, loud_part = (
        np.concatenate([[0.0], np.cumsum(np.square(samples, dtype=np.float64))])
        for samples in (whole, part)
    )
    energy = loud_part[last - shifts] - loud_part[first - shifts]
    both = energy * (loud_whole[last] - loud_whole[first])
    both[(energy < loud_part[-1] / 2) | (both <= 0)] = np.inf
    scores = products[shifts] / np.sqrt(both)
    best = int(scores.argmax())
    return float(scores[best]), int(shifts[best]) * _COARSE


def raw(samples):
    """The samples as signed 16-bit numbers, 16 kHz mono."""
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def keys(words):
    """Words without what a recogniser may write in several ways."""
    return [same_word_key(word) for word in words]


_NO_WORD = re.compile(r"[^\w']+")


def word_error_rate(hypothesis: str, reference: str) -> float:
    """Return the word errors for each word of the reference; 0 is perfect, 1 is bad.

    Errors are insertions, deletions and substitutions (Levenshtein), in lower case and without
    punctuation.

    Raises:
        ValueError: the reference has no word.
    """
    recognised, spoken = _plain_words(hypothesis), _plain_words(reference)
    if not spoken:
        msg = "a word error rate needs a reference with words"
        raise ValueError(msg)
    costs = list(range(len(recognised) + 1))
    for row, word in enumerate(spoken, start=1):
        diagonal, costs[0] = costs[0], row
        for column, guess in enumerate(recognised, start=1):
            best = min(costs[column] + 1, costs[column - 1] + 1, diagonal + (word != guess))
            diagonal, costs[column] = costs[column], best
    return costs[-1] / len(spoken)


def _plain_words(text: str) -> list[str]:
    return _NO_WORD.sub(" ", text.lower().replace("’", "'")).split()
