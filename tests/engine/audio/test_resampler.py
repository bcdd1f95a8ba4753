import numpy as np
import pytest

from engine.audio.recorder import Resampler


def resampled(samples, rate_hz, cuts=()):
    resampler = Resampler(rate_hz)
    parts = [resampler.feed(part) for part in np.split(samples, cuts)]
    return np.concatenate([*parts, resampler.flush()])


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 44_100, 48_000, 96_000])
def test_piecewise_equals_at_once(rate_hz):
    rng = np.random.default_rng(rate_hz)
    for _ in range(10):
        samples = rng.uniform(-1, 1, int(rng.integers(0, rate_hz))).astype(np.float32)
        cuts = np.sort(rng.integers(0, len(samples) + 1, 20))
        assert np.array_equal(resampled(samples, rate_hz, cuts), resampled(samples, rate_hz))


def test_sound_keeps_its_place_in_time():
    click = np.zeros(48_000, np.float32)
    click[30_000] = 1
    assert np.argmax(np.abs(resampled(click, 48_000))) == 10_000
