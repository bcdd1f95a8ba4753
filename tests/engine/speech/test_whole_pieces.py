"""A recording is heard in whole pieces, each once."""

import random

import numpy as np
import pytest

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.hypothesis import Hypothesis, RecognizedWord
from engine.speech.recognizer import LONGEST_S
from engine.speech.speech_models import make_recognizer
from tests.support.listening_fakes import Loudness

PAUSE_S, WORD_S = 1.5, 0.4


class Model:
    """Hears the words that are whole in a piece, and notes the pieces."""

    def __init__(self, starts_s):
        self.starts_s = starts_s
        self.pieces = []

    def recognize(self, samples, start_s, prompt, *, whole=False):
        end_s = start_s + len(samples) / SAMPLE_RATE_HZ
        self.pieces.append((start_s, end_s))
        assert whole
        assert not prompt
        words = tuple(
            RecognizedWord(text=f"w{i}", start_s=at_s, end_s=at_s + WORD_S)
            for i, at_s in enumerate(self.starts_s)
            if start_s - 0.05 <= at_s and at_s + WORD_S <= end_s + 0.05
        )
        return Hypothesis(words=words, start_s=start_s, end_s=end_s)


def sound(starts_s, end_s):
    samples = np.zeros(round(end_s * SAMPLE_RATE_HZ), np.float32)
    for at_s in starts_s:
        first = round(at_s * SAMPLE_RATE_HZ)
        samples[first : first + round(WORD_S * SAMPLE_RATE_HZ)] = 0.5
    return samples


def heard(starts_s, end_s, rng=None):
    """Hear words that begin at these times; return the model and what came of it."""
    model = Model(starts_s)
    recognizer = make_recognizer(model, Loudness(), whole_after_s=PAUSE_S)
    samples, at, results = sound(starts_s, end_s), 0, []
    while at < len(samples):
        n = rng.randrange(1, 200_000) if rng else 1600
        part = samples[at : at + n]
        chunk = AudioChunk(samples=part, start_s=at / SAMPLE_RATE_HZ, heard_at_s=0.0)
        results += recognizer.feed(chunk)
        at += len(part)
    return model, results + recognizer.flush()


def texts(results):
    return [word.text for result in results for word in result.committed]


def test_each_word_of_a_long_talk_is_heard_once_in_order_and_with_its_time():
    rng = random.Random(1)
    for _ in range(20):
        starts_s, at_s = [], 1.0
        for _ in range(rng.randrange(1, 250)):
            starts_s.append(at_s)
            at_s += WORD_S + rng.choice((0.05, 0.1, 0.3, 0.8, 1.4, 2.5, 6.0))
        model, results = heard(starts_s, at_s + 1, rng)
        words = [word for result in results for word in result.committed]
        assert [word.text for word in words] == [f"w{i}" for i in range(len(starts_s))]
        assert np.allclose([word.start_s for word in words], starts_s, atol=0.05)
        assert all(end_s - start_s <= LONGEST_S + 0.01 for start_s, end_s in model.pieces)
        between = zip(model.pieces, model.pieces[1:], strict=False)
        assert all(first[1] <= second[0] + 0.01 for first, second in between), "none is heard twice"


def test_what_is_said_in_one_go_is_one_piece_and_a_pause_ends_it_with_its_passage():
    starts_s = [1.0, 1.5, 2.8, 3.2, 8.0, 8.5]
    model, results = heard(starts_s, 12.0)
    assert len(model.pieces) == 2
    assert [result.speech_ended for result in results] == [True, True]
    assert [len(result.committed) for result in results] == [4, 2]


def test_talk_without_a_pause_is_cut_between_words():
    starts_s = [0.5 + i * (WORD_S + 0.2) for i in range(200)]
    model, results = heard(starts_s, 0.5 + 200 * (WORD_S + 0.2) + 2)
    assert texts(results) == [f"w{i}" for i in range(200)]
    assert len(model.pieces) >= 5
    assert [result.speech_ended for result in results[:-1]] == [False] * (len(results) - 1)


@pytest.mark.parametrize("seconds", [0.0, 30.0])
def test_without_speech_nothing_is_heard(seconds):
    model, results = heard([], seconds)
    assert model.pieces == []
    assert texts(results) == []
