"""Speech for tests: sentences of espeak-ng, the Whisper that knows them, and what it heard."""

import random
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.audio import SAMPLE_RATE_HZ
from engine.hypothesis import same_word_key
from training import espeak
from training.synthetic_speech import Utterance, sentence, speech

TINY = Path(__file__).parent / "assets" / "tiny-whisper"


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


def raw(samples):
    """The samples as signed 16-bit numbers, 16 kHz mono."""
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def keys(words):
    """Words without what a recogniser may write in several ways."""
    return [same_word_key(word) for word in words]
