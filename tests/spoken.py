"""Speech for tests: sentences of espeak-ng, the Whisper that knows them, and what it heard."""

import random
from pathlib import Path

import numpy as np
import pytest

from engine.hypothesis import same_word_key
from training import espeak
from training.synthetic_speech import sentence, speech

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


def raw(samples):
    """The samples as signed 16-bit numbers, 16 kHz mono."""
    return (np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes()


def keys(words):
    """Words without what a recogniser may write in several ways."""
    return [same_word_key(word) for word in words]
