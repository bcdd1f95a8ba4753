"""How loud a piece of sound is: what a level meter shows."""

from dataclasses import dataclass

import numpy as np

from engine.audio.types import Samples

FLOOR_DB = -100.0
"""What silence counts as; no microphone is as quiet as this."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """Loudness in dBFS, from ``FLOOR_DB`` to 0.

    Attributes:
        rms_db: the mean over the piece; 0 is a square wave as loud as can be, and so a sine wave
            as loud as can be has -3.
        peak_db: the loudest sample; what is above -1 is probably cut off.
    """

    rms_db: float
    peak_db: float


def measure_level(samples: Samples) -> Level:
    """Measure a piece of sound; an empty one is silent."""
    if not len(samples):
        return Level(rms_db=FLOOR_DB, peak_db=FLOOR_DB)
    exact = samples.astype(np.float64)  # squares of quiet samples would vanish in float32
    return Level(
        rms_db=_decibels(float(np.sqrt(np.mean(exact * exact)))),
        peak_db=_decibels(float(np.max(np.abs(exact)))),
    )


def _decibels(amplitude: float) -> float:
    if amplitude <= 0:
        return FLOOR_DB
    return min(max(20 * float(np.log10(amplitude)), FLOOR_DB), 0.0)
