import numpy as np

from engine.runtime.sound import HOP, LogMel
from tests.support.direct.encoders import cut, noise


def test_frames_of_any_chunks_are_those_of_one_call():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        samples = noise(rng, rng.uniform(0.01, 2))
        mel = LogMel()
        frames = np.concatenate([mel.feed(chunk) for chunk in cut(rng, samples, 900)])
        at_once = LogMel().feed(samples)
        assert len(frames) == len(samples) // HOP
        np.testing.assert_allclose(frames, at_once, rtol=0, atol=1e-6)


def test_a_frame_needs_no_sound_after_it():
    samples = noise(np.random.default_rng(0), 0.5)
    whole = LogMel().feed(samples)
    for n_frames in (1, 7, 40):
        np.testing.assert_array_equal(LogMel().feed(samples[: n_frames * HOP]), whole[:n_frames])


def test_a_tone_stands_in_the_bins_of_its_frequency():
    seconds = np.arange(16_000) / 16_000
    loudest = [
        int(LogMel().feed(np.sin(2 * np.pi * hertz * seconds).astype(np.float32))[50].argmax())
        for hertz in (200, 400, 1000, 3000, 7000)
    ]
    assert loudest == sorted(loudest)
    assert loudest[0] < 10
    assert loudest[-1] > 70


def test_silence_is_the_least_of_all_and_finite():
    frames = LogMel().feed(np.zeros(4000, np.float32))
    assert np.isfinite(frames).all()
    assert (frames == frames.min()).all()
