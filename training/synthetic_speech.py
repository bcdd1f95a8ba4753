"""Make everyday sentences and let espeak-ng say them, for a recogniser that only tests use.

Words of a small vocabulary, several voices, speeds and pitches, noise, and stretches in which
nobody speaks. The same seed gives the same speech.
"""

import io
import random
import shutil
import subprocess
import wave
from dataclasses import dataclass

import numpy as np

from engine.audio import SAMPLE_RATE_HZ, Samples
from engine.audio_resampler import Resampler
from training.errors import TrainingError

VOICES = ("en-us", "en-gb", "en-us+m3", "en-us+f2", "en-gb+f4", "en-gb+m1")
_SUBJECTS = ("The cat", "My dog", "Your friend", "Our teacher", "The doctor", "His brother")
_PLACES = ("house", "garden", "school", "kitchen", "river", "station")
_COLOURS = ("red", "green", "small", "old", "new", "heavy")
_THINGS = ("car", "book", "table", "window", "letter", "picture")
_TIMES = ("today", "tomorrow", "again", "every morning", "after dinner", "on Sunday")
_LOUD = 0.02  # a tenth of usual speech


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Utterance:
    """A sentence as it was said; or nobody spoke.

    Attributes:
        text: what was said, empty where nobody spoke.
        samples: shape (n_samples,), 16 kHz mono.
        start_s: where the voice begins in them.
        end_s: where it ends.
    """

    text: str
    samples: Samples
    start_s: float
    end_s: float


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


def utterance(rng: random.Random) -> Utterance:
    """Say a sentence with a pause around it and noise behind it, or let one in ten be silence.

    Raises:
        TrainingError: espeak-ng is missing or fails.
    """
    pauses = [np.zeros(rng.randint(1_000, 12_000), np.float32) for _ in range(2)]
    text = "" if rng.random() < 0.1 else sentence(rng)
    voiced = _voiced(_said(text, rng)) if text else np.zeros(rng.randint(0, 32_000), np.float32)
    samples = np.concatenate([pauses[0], voiced, pauses[1]]) * rng.uniform(0.4, 1.0)
    noise = np.random.default_rng(rng.getrandbits(32)).standard_normal(len(samples))
    level = rng.choice((0.0, 10 ** rng.uniform(-4.0, -1.8)))
    start_s = len(pauses[0]) / SAMPLE_RATE_HZ
    return Utterance(
        text=text,
        samples=(samples + level * noise).astype(np.float32),
        start_s=start_s,
        end_s=start_s + len(voiced) / SAMPLE_RATE_HZ,
    )


def _said(text: str, rng: random.Random) -> Samples:
    program = shutil.which("espeak-ng")
    if program is None:
        msg = "speech is made by espeak-ng and it is not installed: install it with apt-get"
        raise TrainingError(msg)
    options = {"-v": rng.choice(VOICES), "-s": rng.randint(130, 190), "-p": rng.randint(30, 70)}
    command = [program, *(str(part) for option in options.items() for part in option)]
    try:
        done = subprocess.run([*command, "--stdout", text], check=True, capture_output=True)
    except subprocess.CalledProcessError as error:
        msg = f"espeak-ng could not say {text!r}: {error.stderr.decode(errors='replace').strip()}"
        raise TrainingError(msg) from error
    with wave.open(io.BytesIO(done.stdout)) as file:
        resampler = Resampler(file.getframerate())
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16)
    whole = (samples / 32768).astype(np.float32)
    return np.concatenate([resampler.feed(whole), resampler.flush()])


def _voiced(samples: Samples) -> Samples:
    """Cut off the silence espeak-ng puts around a sentence."""
    loud = np.flatnonzero(np.abs(samples) > _LOUD)
    return samples[loud[0] : loud[-1] + 1] if len(loud) else samples
