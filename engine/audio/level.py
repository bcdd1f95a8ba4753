"""Measure the loudness of sound, for level meters."""

import numpy as np

from engine.audio.chunks import Samples
from engine.audio.devices import FLOOR_DB, Level


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
