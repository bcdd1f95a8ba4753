"""Corpora of spoken pairs: each letter is a tone, so that no synthesiser is needed."""

import random

import numpy as np

from tests.support.fakes import WORD_FOR_WORD
from training.research.speech_corpus import Line, shard_path, sound_bytes, write_table

WORD_S = 0.24


def tones(words, seed=0):
    """Sound of letters, each a tone with some noise."""
    rng = np.random.default_rng(seed)
    times = np.arange(int(WORD_S * 16_000)) / 16_000
    parts = [0.3 * np.sin(2 * np.pi * 300 * (1 + "abcdefgh".index(one)) * times) for one in words]
    sound = np.concatenate(parts)
    return (sound + 0.01 * rng.normal(size=len(sound))).astype(np.float32)


def write_tones(path, n_lines, *, seed=0, aligned=True, timed=True, longest=7):
    """A corpus of one shard in a language that is translated word for word."""
    rng, lines, sounds = random.Random(seed), [], []
    for number in range(n_lines):
        words = [rng.choice("abcdefgh") for _ in range(rng.randint(2, longest))]
        sound, n = tones(words, number), len(words)
        ends = tuple(round(1000 * WORD_S * (index + 1)) for index in range(n))
        lines.append(
            Line(
                shard=path.stem,
                first=sum(map(len, sounds)),
                n_samples=len(sound),
                source=" ".join(words),
                target=" ".join(WORD_FOR_WORD[word] for word in words),
                corpus="letters",
                needs=tuple(range(1, n + 1)) if aligned else (),
                ends_ms=ends if timed else (),
                voice="tones",
            )
        )
        sounds.append(sound)
    shard_path(path, path.stem).write_bytes(sound_bytes(sounds))
    write_table(path, lines)
    return path
