"""Make everyday sentences and let espeak-ng say them, for a recogniser that only tests use.

Words of a small vocabulary, several voices, speeds and pitches, noise, and stretches in which
nobody speaks. When each word is said is known, so sound can be cut anywhere, as a recogniser of
live speech has to.
"""

import random
from dataclasses import dataclass

import numpy as np

from engine.audio.chunks import Samples
from engine.audio.devices import SAMPLE_RATE_HZ
from training.research import speech_corpus as espeak

VOICES = ("en-us", "en-us+m3", "en-us+f2")
_SUBJECTS = ("The cat", "My dog", "Your friend", "Our teacher", "The doctor", "His brother")
_PLACES = ("house", "garden", "school", "kitchen", "river", "station")
_COLOURS = ("red", "green", "small", "old", "new", "heavy")
_THINGS = ("car", "book", "table", "window", "letter", "picture")
_TIMES = ("today", "tomorrow", "again", "every morning", "after dinner", "on Sunday")
_LOUD = 0.02  # a tenth of usual speech


@dataclass(frozen=True, slots=True, kw_only=True)
class SpokenWord:
    """A word and when it was said, in seconds from the beginning of the sound."""

    text: str
    start_s: float
    end_s: float


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Utterance:
    """Sentences as they were said; or nobody spoke.

    Attributes:
        words: that can be heard, punctuation at their ends; none where nobody spoke.
        samples: shape (n_samples,), 16 kHz mono.
    """

    words: tuple[SpokenWord, ...]
    samples: Samples

    @property
    def text(self) -> str:
        """Join the words."""
        return " ".join(word.text for word in self.words)


def sentence(rng: random.Random) -> str:
    """Make one sentence of four to eight words."""
    pick = rng.choice
    subject, place, time = pick(_SUBJECTS), pick(_PLACES), pick(_TIMES)
    thing = f"{pick(_COLOURS)} {pick(_THINGS)}"
    return pick(
        (
            f"{subject} is {pick(('in', 'near', 'behind'))} the {place}.",
            f"We {pick(('want', 'like', 'need'))} a {thing} {time}.",
            f"{subject} {pick(('found', 'lost', 'sees'))} the {thing}.",
            f"Please {pick(('open', 'close', 'bring'))} the {pick(_THINGS)} {time}.",
            f"They went to the {place} {time}.",
        )
    )


def utterance(rng: random.Random, *, n_sentences: int = 1) -> Utterance:
    """Say sentences with pauses around them and noise behind them, or let one in ten be silence.

    Raises:
        TrainingError: espeak-ng is missing or fails.
    """
    texts = [] if rng.random() < 0.1 else [sentence(rng) for _ in range(n_sentences)]
    return speech(texts, rng)


def speech(texts: list[str], rng: random.Random, *, longest_pause_s: float = 0.75) -> Utterance:
    """Say these sentences, one voice for all, with pauses around them and noise behind them."""
    voice, rate, pitch = rng.choice(VOICES), rng.randint(140, 180), rng.randint(35, 65)
    parts = [_pause(rng, longest_pause_s)]
    words: list[SpokenWord] = []
    for text in texts:
        before_s = sum(map(len, parts)) / SAMPLE_RATE_HZ
        said = _trimmed(*espeak.say(text, voice, rate, pitch), text.split())
        words += [
            SpokenWord(text=word.text, start_s=before_s + word.start_s, end_s=before_s + word.end_s)
            for word in said.words
        ]
        parts += [said.samples, _pause(rng, longest_pause_s)]
    if not texts:
        parts.append(np.zeros(rng.randint(0, 32_000), np.float32))
    samples = np.concatenate(parts) * rng.uniform(0.4, 1.0)
    noise = np.random.default_rng(rng.getrandbits(32)).standard_normal(len(samples))
    level = rng.choice((0.0, 10 ** rng.uniform(-4.0, -2.0)))
    return Utterance(words=tuple(words), samples=(samples + level * noise).astype(np.float32))


def _pause(rng: random.Random, longest_s: float) -> Samples:
    return np.zeros(round(rng.uniform(0.05, longest_s) * SAMPLE_RATE_HZ), np.float32)


def _trimmed(said: Samples, begins_s: tuple[float, ...], texts: list[str]) -> Utterance:
    """Cut off the silence espeak-ng puts around a sentence; a word lasts until the next one."""
    loud = np.flatnonzero(np.abs(said) > _LOUD)
    first, last = (int(loud[0]), int(loud[-1]) + 1) if len(loud) else (0, len(said))
    starts_s = [max(0.0, start_s - first / SAMPLE_RATE_HZ) for start_s in begins_s]
    ends_s = [*starts_s[1:], (last - first) / SAMPLE_RATE_HZ]
    words = tuple(
        SpokenWord(text=text, start_s=start_s, end_s=end_s)
        for text, start_s, end_s in zip(texts, starts_s, ends_s, strict=True)
    )
    return Utterance(words=words, samples=said[first:last])
