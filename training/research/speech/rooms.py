"""Put speech into a room: pauses around it, echoes, noise behind it, and how loud it is."""

import random
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from engine.audio.devices import SAMPLE_RATE_HZ
from training.research.speech.voices import Speech

_Sound = NDArray[np.float64]

_SHARE_ECHOING, _SHARE_NOISY = 0.5, 0.6


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """Where a speech is heard.

    Attributes:
        before_s, after_s: silence around it.
        echo_s: time in which echoes fall by 60 dB; 0: none.
        noise_db: of the noise under the speech; infinite: none.
        falls: the noise has less of high frequencies, as that of rooms has.
        peak: the loudest sample, of 1.
        seed: of echoes and noise.
    """

    before_s: float = 0.1
    after_s: float = 0.1
    echo_s: float = 0.0
    noise_db: float = np.inf
    falls: bool = False
    peak: float = 0.5
    seed: int = 0


def draw_room(rng: random.Random) -> Room:
    """Draw a room; half of them echo, and more are noisy."""
    return Room(
        before_s=rng.uniform(0.05, 0.4),
        after_s=rng.uniform(0.05, 0.3),
        echo_s=rng.uniform(0.1, 0.5) if rng.random() < _SHARE_ECHOING else 0.0,
        noise_db=rng.uniform(8, 35) if rng.random() < _SHARE_NOISY else np.inf,
        falls=rng.random() < 0.5,
        peak=rng.uniform(0.2, 0.9),
        seed=rng.getrandbits(32),
    )


def hear_in(room: Room, speech: Speech) -> Speech:
    """Return a speech as it is heard in a room; its words end later by the pause before it."""
    rng = np.random.default_rng(room.seed)
    before, after = (
        np.zeros(round(pause_s * SAMPLE_RATE_HZ)) for pause_s in (room.before_s, room.after_s)
    )
    dry = np.concatenate([before, speech.samples.astype(np.float64), after])
    wet = _echoing(dry, room.echo_s, rng) if room.echo_s else dry
    if np.isfinite(room.noise_db):
        power = np.mean(speech.samples.astype(np.float64) ** 2) if len(speech.samples) else 0.0
        noise = _noise(rng, len(wet), falls=room.falls)
        wet = wet + noise * np.sqrt(power * 10 ** (-room.noise_db / 10))
    scaled = wet * (room.peak / max(np.abs(wet).max(), 1e-9))
    ends = speech.ends_s
    return replace(
        speech,
        samples=scaled.astype(np.float32),
        ends_s=None if ends is None else tuple(end_s + room.before_s for end_s in ends),
    )


def _echoing(dry: _Sound, echo_s: float, rng: np.random.Generator) -> _Sound:
    """Convolve with the sound itself and noise that dies away (Moorer 1979)."""
    n_taps = round(echo_s * SAMPLE_RATE_HZ)
    fall = 10 ** (-3 * np.arange(n_taps) / n_taps)
    response = rng.normal(size=n_taps) * fall
    response *= 0.5 / np.sqrt(np.sum(response**2))
    response[0] = 1.0
    size = len(dry) + n_taps
    wet = np.fft.irfft(np.fft.rfft(dry, size) * np.fft.rfft(response, size), size)
    cut: _Sound = wet[: len(dry)]
    return cut


def _noise(rng: np.random.Generator, n: int, *, falls: bool) -> _Sound:
    """Make noise of power 1; where it falls, by 3 dB an octave."""
    white = np.fft.rfft(rng.normal(size=n))
    if falls:
        white[1:] /= np.sqrt(np.arange(1, len(white)))
    noise: _Sound = np.fft.irfft(white, n)
    noise /= max(float(np.sqrt(np.mean(noise**2))), 1e-9)
    return noise
