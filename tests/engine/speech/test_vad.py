import io
import random
import shutil
import wave

import numpy as np
import pytest

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.vad import FRAME, SileroDetector, VadSettings, VoiceActivityDetector
from tests.engine.speech.recordings import FOLDER, recordings
from tests.support.programs.run import ran
from tests.support.sounds import white_noise

FRAME_S = FRAME / SAMPLE_RATE_HZ


class FirstSample:
    """A detector for tests: a frame is as probably speech as its first sample is large."""

    def __init__(self):
        self.n_resets = 0

    def probability(self, frame):
        return float(abs(frame[0]))

    def reset(self):
        self.n_resets += 1


def frames(*probabilities):
    """Make sound whose frames have these probabilities and else count samples, to be told apart."""
    samples = np.arange(len(probabilities) * FRAME, dtype=np.float32) / 1e6
    samples[::FRAME] = probabilities
    return samples


def feed(vad, samples, sizes=None, start_s=0.0):
    parts, at = [], 0
    while at < len(samples):
        size = sizes() if sizes else 1600
        piece = samples[at : at + size]
        chunk_s = start_s + at / SAMPLE_RATE_HZ
        parts += vad.feed(AudioChunk(samples=piece, start_s=chunk_s, heard_at_s=chunk_s))
        at += size
    return parts


def random_probabilities(seed):
    rng = random.Random(seed)
    probabilities = []
    while len(probabilities) < 300:
        level = rng.choice([0.05, 0.4, 0.9])
        probabilities += [level] * rng.randint(1, 40)
    return rng, probabilities


@pytest.mark.parametrize("seed", range(20))
def test_speech_goes_through_once_in_order_at_its_own_time(seed):
    rng, probabilities = random_probabilities(seed)
    samples = frames(*probabilities)
    vad = VoiceActivityDetector(FirstSample(), VadSettings())
    parts = feed(vad, samples, lambda: rng.randint(1, 2000), start_s=7.0) + vad.flush()
    end = 0
    for part in parts:
        first = round((part.start_s - 7.0) * SAMPLE_RATE_HZ)
        assert first >= end
        assert first == end or part.begins
        end = first + len(part.samples)
        assert np.array_equal(part.samples, samples[first:end])
    turns = [(part.begins, part.ends) for part in parts if part.begins or part.ends]
    assert all(one[0] for one in turns[::2])
    assert sum(one[0] for one in turns) == sum(one[1] for one in turns)


@pytest.mark.parametrize("seed", range(20))
def test_how_the_sound_is_cut_makes_no_difference(seed):
    rng, probabilities = random_probabilities(seed)
    samples = frames(*probabilities)

    def let_through(sizes):
        vad = VoiceActivityDetector(FirstSample(), VadSettings())
        parts = feed(vad, samples, sizes) + vad.flush()
        return np.concatenate([part.samples for part in parts] or [samples[:0]])

    assert np.array_equal(let_through(lambda: rng.randint(1, 5000)), let_through(None))


def test_a_click_does_not_open_the_gate_and_a_short_pause_does_not_close_it():
    vad = VoiceActivityDetector(FirstSample(), VadSettings(min_speech_s=0.096, silence_s=0.32))
    assert feed(vad, frames(*[0.0] * 20, 0.9, 0.9, *[0.0] * 20)) == []
    vad = VoiceActivityDetector(FirstSample(), VadSettings(min_speech_s=0.096, silence_s=0.32))
    parts = feed(vad, frames(*[0.9] * 10, *[0.0] * 9, *[0.9] * 10))
    assert not any(part.ends for part in parts)


def test_between_both_thresholds_the_gate_stays_as_it_is():
    vad = VoiceActivityDetector(FirstSample(), VadSettings())
    assert feed(vad, frames(*[0.4] * 50)) == []
    vad = VoiceActivityDetector(FirstSample(), VadSettings())
    assert not any(part.ends for part in feed(vad, frames(*[0.9] * 5, *[0.4] * 50)))


def test_the_sound_just_before_speech_goes_through_too():
    vad = VoiceActivityDetector(
        FirstSample(), VadSettings(pre_roll_s=4 * FRAME_S, min_speech_s=2 * FRAME_S)
    )
    first = feed(vad, frames(*[0.0] * 30, *[0.9] * 10))[0]
    assert first.begins
    assert first.start_s == pytest.approx(26 * FRAME_S)


def test_a_speech_without_end_is_cut_and_nothing_of_it_is_lost():
    vad = VoiceActivityDetector(
        FirstSample(), VadSettings(max_speech_s=20 * FRAME_S, pre_roll_s=FRAME_S)
    )
    samples = frames(*[0.9] * 200)
    parts = feed(vad, samples) + vad.flush()
    assert sum(part.ends for part in parts) >= 8
    assert np.array_equal(np.concatenate([part.samples for part in parts]), samples)


def test_missing_sound_ends_a_speech():
    detector = FirstSample()
    vad = VoiceActivityDetector(detector, VadSettings())
    feed(vad, frames(*[0.9] * 10))
    parts = feed(vad, frames(*[0.9] * 10), start_s=5.0)
    assert parts[0].ends
    assert parts[1].begins
    assert parts[1].start_s == pytest.approx(5.0)
    assert detector.n_resets == 1


class Remembering(FirstSample):
    """Keeps the frames that it has heard since it was reset last."""

    def __init__(self):
        super().__init__()
        self.since_reset = []

    def reset(self):
        super().reset()
        self.since_reset = []

    def probability(self, frame):
        self.since_reset.append(frame)
        return super().probability(frame)


def test_in_silence_the_detector_forgets_all_but_the_newest_sound():
    detector = Remembering()
    vad = VoiceActivityDetector(
        detector, VadSettings(forget_s=40 * FRAME_S, pre_roll_s=10 * FRAME_S)
    )
    samples = frames(*[0.0] * 1000)
    longest = 0
    for at in range(0, len(samples), FRAME):
        feed(vad, samples[at : at + FRAME], start_s=at / SAMPLE_RATE_HZ)
        heard = np.concatenate([samples[:0], *detector.since_reset])
        assert np.array_equal(heard, samples[at + FRAME - len(heard) : at + FRAME])
        longest = max(longest, len(detector.since_reset))
        assert at < 40 * FRAME or len(detector.since_reset) >= 10
    assert longest <= 50


def test_in_speech_the_detector_forgets_nothing():
    detector = Remembering()
    vad = VoiceActivityDetector(detector, VadSettings(forget_s=4 * FRAME_S))
    feed(vad, frames(*[0.9] * 3, *([0.0] * 8 + [0.9]) * 20))
    assert detector.n_resets == 0


def sound(kind, seconds=6.0):
    rng = np.random.default_rng(1)
    time_s = np.arange(int(seconds * SAMPLE_RATE_HZ)) / SAMPLE_RATE_HZ
    chord = sum(np.sin(2 * np.pi * f * time_s) for f in (262, 330, 392))
    samples = {
        "silence": np.zeros_like(time_s),
        "noise": 0.05 * rng.standard_normal(len(time_s)),
        "loud noise": 0.3 * rng.standard_normal(len(time_s)),
        "tone": 0.3 * np.sin(2 * np.pi * 440 * time_s),
        "chord": 0.1 * chord * (1 + np.sin(2 * np.pi * 2 * time_s)) / 2,
    }[kind]
    return samples.astype(np.float32)


def said(text, voice):
    program = shutil.which("espeak-ng")
    if program is None:
        pytest.skip("needs espeak-ng")
    done = ran(program, "-v", voice, "--stdout", text, text=False, check=True)
    with wave.open(io.BytesIO(done.stdout)) as file:
        rate_hz = file.getframerate()
        samples = np.frombuffer(file.readframes(file.getnframes()), np.int16) / 32768
    resampler = pytest.importorskip("engine.audio.recorder").Resampler(rate_hz)
    return np.concatenate([resampler.feed(samples.astype(np.float32)), resampler.flush()])


@pytest.fixture(scope="module")
def silero():
    pytest.importorskip("faster_whisper")
    return SileroDetector()


@pytest.mark.parametrize("kind", ["silence", "noise", "loud noise", "tone", "chord"])
def test_what_nobody_says_does_not_open_the_gate(silero, kind):
    silero.reset()
    assert feed(VoiceActivityDetector(silero, VadSettings()), sound(kind)) == []


@pytest.mark.parametrize("voice", ["en-us", "en-gb", "en-us+f3"])
def test_what_somebody_says_goes_through(silero, voice):
    silero.reset()
    speech = said("Good morning. We would like to see the house in the garden today.", voice)
    pause = np.zeros(SAMPLE_RATE_HZ, np.float32)
    vad = VoiceActivityDetector(silero, VadSettings())
    parts = feed(vad, np.concatenate([pause, speech, pause, pause])) + vad.flush()
    let_through_s = sum(len(part.samples) for part in parts) / SAMPLE_RATE_HZ
    assert let_through_s > 0.9 * len(speech) / SAMPLE_RATE_HZ
    assert parts[0].start_s <= 1.15
    assert parts[-1].ends


def begins_at_s(silero, before, speech):
    """Tell how long after the silence before it a speech goes through."""
    silero.reset()
    after = np.zeros(SAMPLE_RATE_HZ, np.float32)
    vad = VoiceActivityDetector(silero, VadSettings())
    parts = feed(vad, np.concatenate([before, speech, after])) + vad.flush()
    return parts[0].start_s - len(before) / SAMPLE_RATE_HZ


@pytest.mark.slow
@pytest.mark.parametrize("loudness", [0.0, 0.06])
def test_after_a_minute_of_silence_or_noise_no_beginning_comes_later(silero, loudness):
    voices = ("en-us", "en-us+f3", "en-us+m3")
    speeches = [said("And so we ask you to come.", voice) for voice in voices]
    if FOLDER.is_dir():
        speeches += [recording.samples for recording in recordings()]
    minute = white_noise(60.0) * np.float32(loudness)
    for speech in speeches:
        soon_s = begins_at_s(silero, minute[:SAMPLE_RATE_HZ], speech)
        assert begins_at_s(silero, minute, speech) <= soon_s + 0.05


def test_frame_by_frame_the_detector_says_what_it_says_of_all_frames_at_once(silero):
    from faster_whisper.vad import get_vad_model  # noqa: PLC0415  a library may be missing

    silero.reset()
    samples = sound("loud noise", 1.0)[: 30 * FRAME] + sound("tone", 1.0)[: 30 * FRAME]
    piecewise = [silero.probability(frame) for frame in samples.reshape(-1, FRAME)]
    at_once = get_vad_model()(samples.copy()).reshape(-1)
    # The library blanks the end of the last frame it is given.
    assert piecewise[:-1] == pytest.approx(at_once[:-1].tolist(), abs=1e-5)
