"""A talk of our own sentences, half of them put together from two, and the memory that it takes."""

import random
from collections.abc import Iterator
from pathlib import Path

SENTENCES = Path(__file__).with_name("sentences.en")


def talk(n_words: int, *, seed: int = 0) -> Iterator[str]:
    """Draw a talk of at least so many words, to the end of a sentence."""
    rng = random.Random(seed)
    sentences = [line.split() for line in SENTENCES.read_text(encoding="utf-8").splitlines()]
    sentences = [words for words in sentences if words]
    given = 0
    while given < n_words:
        words = rng.choice(sentences)
        if rng.random() < 0.5:
            other = rng.choice(sentences)
            words = words[: len(words) // 2] + other[len(other) // 2 :]
        given += len(words)
        yield from words


def resident_mib() -> float:
    """Read the resident set of this process; Linux."""
    n_pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return n_pages * 4096 / (1 << 20)
