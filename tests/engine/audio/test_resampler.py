import numpy as np
import pytest

from engine.audio.devices import SAMPLE_RATE_HZ
from engine.audio.recorder import Resampler


def resampled(samples, rate_hz, cuts=()):
    resampler = Resampler(rate_hz)
    parts = [resampler.feed(part) for part in np.split(samples, cuts)]
    return np.concatenate([*parts, resampler.flush()])


def tone(frequency_hz, rate_hz, seconds=2):
    times = np.arange(rate_hz * seconds) / rate_hz
    return (0.5 * np.sin(2 * np.pi * frequency_hz * times)).astype(np.float32)


def loudness_db(samples):
    middle = samples[4000:-4000].astype(np.float64)
    return 20 * np.log10(np.sqrt(np.mean(middle**2)) / (0.5 / np.sqrt(2)))


@pytest.mark.parametrize("rate_hz", [8_000, 16_000, 22_050, 44_100, 48_000, 96_000])
def test_piecewise_equals_at_once(rate_hz):
    rng = np.random.default_rng(rate_hz)
    for _ in range(10):
        samples = rng.uniform(-1, 1, int(rng.integers(0, rate_hz))).astype(np.float32)
        cuts = np.sort(rng.integers(0, len(samples) + 1, 20))
        assert np.array_equal(resampled(samples, rate_hz, cuts), resampled(samples, rate_hz))


@pytest.mark.parametrize("rate_hz", [8_000, 22_050, 44_100, 48_000, 96_000])
def test_a_second_stays_a_second(rate_hz):
    n_samples = len(resampled(np.zeros(rate_hz, np.float32), rate_hz))
    assert n_samples == pytest.approx(SAMPLE_RATE_HZ, abs=2)


@pytest.mark.parametrize("rate_hz", [44_100, 48_000, 96_000])
def test_speech_passes_and_what_would_be_mirrored_does_not(rate_hz):
    for frequency_hz in (100, 1000, 4000, 6000):
        assert abs(loudness_db(resampled(tone(frequency_hz, rate_hz), rate_hz))) < 0.1
    for frequency_hz in (10_000, 12_000, 15_000):
        assert loudness_db(resampled(tone(frequency_hz, rate_hz), rate_hz)) < -80


def test_sound_keeps_its_place_in_time():
    click = np.zeros(48_000, np.float32)
    click[30_000] = 1
    assert np.argmax(np.abs(resampled(click, 48_000))) == 10_000


def test_sound_of_16_khz_is_not_touched():
    samples = np.random.default_rng(0).uniform(-1, 1, 999).astype(np.float32)
    assert np.array_equal(resampled(samples, 16_000), samples)


def test_a_rate_must_be_positive():
    with pytest.raises(ValueError, match="got 0"):
        Resampler(0)
