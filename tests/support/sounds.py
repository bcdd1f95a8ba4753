"""Sound for tests of listening that is not speech, and how many words differ."""

import wave

import numpy as np

from engine.audio.devices import SAMPLE_RATE_HZ

SCALE_HZ = [220.0 * 2 ** (step / 12) for step in (0, 2, 4, 5, 7, 9, 11, 12)]


def silence(seconds, _seed=0):
    return np.zeros(round(seconds * SAMPLE_RATE_HZ), np.float32)


def white_noise(seconds, seed=0):
    rng = np.random.default_rng(seed)
    return (rng.standard_normal(round(seconds * SAMPLE_RATE_HZ)) * 0.05).astype(np.float32)


def music(seconds, seed=0):
    """A tune of plucked notes with overtones over chords and a beat, two notes a second."""
    rng = np.random.default_rng(seed)
    beat = SAMPLE_RATE_HZ // 2
    at = np.arange(beat) / SAMPLE_RATE_HZ
    parts = []
    for number in range(round(seconds * 2)):
        root = SCALE_HZ[number // 4 % 4]
        notes = [root, root * 1.25, root * 1.5, 2 * rng.choice(SCALE_HZ)]
        part = sum(
            np.sin(2 * np.pi * hertz * overtone * at) / overtone * np.exp(-3 * at)
            for hertz in notes
            for overtone in range(1, 5)
        )
        part[: beat // 16] += rng.standard_normal(beat // 16) * 2  # a drum
        parts.append(part * 0.05)
    return np.concatenate(parts).astype(np.float32)


def write_sound(path, samples):
    """Write samples from -1 to 1, 16,000 a second, as a WAV file of 16 bits; return its path."""
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(SAMPLE_RATE_HZ)
        file.writeframes((samples * np.float32(32767)).astype("<i2").tobytes())
    return path


def n_edits(one, other):
    """Count the words to change, add or take away between two lists."""
    row = list(range(len(other) + 1))
    for i, word in enumerate(one, 1):
        new = [i]
        for j, heard in enumerate(other, 1):
            new.append(min(row[j - 1] + (word != heard), row[j] + 1, new[j - 1] + 1))
        row = new
    return row[-1]
