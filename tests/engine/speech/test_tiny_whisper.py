"""The true chain on speech of espeak-ng; skipped without the test model or a voice."""

import random

import numpy as np
import pytest

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ

pytest.importorskip("faster_whisper")

from engine.speech.recognizer import Recognizer, RecognizerSettings
from engine.speech.vad import SileroDetector, VadSettings, VoiceActivityDetector
from tests.support.sounds import n_edits
from tests.support.spoken import needs_tiny, tiny_whisper
from tests.tiny_whisper.synthetic_speech import utterance

pytestmark = [needs_tiny(), pytest.mark.slow]


@pytest.fixture(scope="module")
def whisper():
    return tiny_whisper()


def held_out(n):
    rng = random.Random(20_261_121)
    spoken = [utterance(rng) for _ in range(n)]
    return [one for one in spoken if one.text]


def committed(whisper, samples):
    vad = VoiceActivityDetector(SileroDetector(), VadSettings())
    listening = Recognizer(whisper, vad, RecognizerSettings())
    news, step = [], 1_600
    for at in range(0, len(samples), step):
        start_s = at / SAMPLE_RATE_HZ
        piece = samples[at : at + step]
        news += listening.feed(AudioChunk(samples=piece, start_s=start_s, heard_at_s=start_s))
    news += listening.flush()
    return [word for one in news for word in one.committed]


def test_held_out_speech_is_recognised_word_for_word_with_times(whisper):
    n_words = n_wrong = 0
    for one in held_out(20):
        heard = whisper.recognize(one.samples, 0.0, "").words
        n_words += len(one.text.split())
        n_wrong += n_edits(one.text.split(), [word.text for word in heard])
        assert all(0 <= word.start_s <= word.end_s <= 30 for word in heard)
    assert n_wrong <= 0.1 * n_words


def test_streaming_commits_about_what_the_whole_recording_gives(whisper):
    n_words = n_streamed = n_whole = 0
    for one in held_out(12):
        said = one.text.split()
        streamed = [word.text for word in committed(whisper, one.samples)]
        whole = [word.text for word in whisper.recognize(one.samples, 0.0, "").words]
        n_words += len(said)
        n_streamed += n_edits(said, streamed)
        n_whole += n_edits(said, whole)
    assert n_streamed <= n_whole + 0.1 * n_words


def test_a_minute_without_speech_gives_no_word(whisper):
    noise = np.random.default_rng(5).standard_normal(60 * SAMPLE_RATE_HZ)
    noise *= np.repeat([0.0, 0.01, 0.2], 20 * SAMPLE_RATE_HZ)
    assert committed(whisper, noise.astype(np.float32)) == []
