import numpy as np
import pytest

from engine.audio.devices import FLOOR_DB
from engine.audio.live_source import measure_level


@pytest.mark.parametrize("amplitude", [1.0, 0.5, 0.1, 1e-3, 1e-4])
def test_a_square_wave_is_as_loud_as_its_amplitude(amplitude):
    wave = (amplitude * np.sign(np.arange(-50, 50) + 0.5)).astype(np.float32)
    level = measure_level(wave)
    assert level.rms_db == pytest.approx(20 * np.log10(amplitude), abs=1e-3)
    assert level.peak_db == pytest.approx(level.rms_db)


@pytest.mark.parametrize("samples", [[], [0, 0, 0], [1e-30]])
def test_silence_is_the_floor(samples):
    level = measure_level(np.array(samples, np.float32))
    assert (level.rms_db, level.peak_db) == (FLOOR_DB, FLOOR_DB)
