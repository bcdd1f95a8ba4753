import random
from dataclasses import replace

import numpy as np
import pytest

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.hypothesis import Hypothesis, RecognizedWord, same_word_key
from engine.speech.recognizer import Recognizer, RecognizerSettings
from engine.speech.vad import VadSettings, VoiceActivityDetector
from tests.support.listening_fakes import Loudness

VOCABULARY = "the a cat sat on mat and then went home again to see who was there".split()
PHRASES = [
    "they went to the station.",
    "they went home.",
    "they went.",
    "did they?",
    "and then they went they went to see",
    "no no no.",
]
WORD_S = 0.4


class Speaker:
    """A model for tests that knows what is said when, and misses the word it hears half of."""

    def __init__(self, texts, *, rng=None, starts_s=None):
        starts_s = starts_s or [i * WORD_S for i in range(len(texts))]
        self.words = [
            RecognizedWord(text=text, start_s=start_s, end_s=start_s + WORD_S)
            for text, start_s in zip(texts, starts_s, strict=True)
        ]
        self.rng = rng or random.Random(0)
        self.heard = []

    def recognize(self, samples, start_s, prompt):
        end_s = start_s + len(samples) / SAMPLE_RATE_HZ
        self.heard.append((start_s, end_s, prompt))
        words = []
        for word in self.words:
            if word.middle_s < start_s or word.start_s >= end_s:
                continue
            is_whole = word.end_s <= end_s + 0.01
            text = self.spelt(word.text) if is_whole else f"xx{self.rng.randrange(10**6)}"
            words.append(
                RecognizedWord(
                    text=text, start_s=max(start_s, word.start_s), end_s=min(end_s, word.end_s)
                )
            )
        return Hypothesis(words=tuple(words), start_s=start_s, end_s=end_s)

    def spelt(self, text):
        return self.rng.choice([text, text.capitalize()])


class Silent(Speaker):
    def recognize(self, samples, start_s, prompt):
        hypothesis = super().recognize(samples, start_s, prompt)
        return Hypothesis(words=(), start_s=hypothesis.start_s, end_s=hypothesis.end_s)


class Undecided(Speaker):
    def spelt(self, _text):
        return f"xx{self.rng.randrange(10**6)}"


class Begun(Undecided):
    """A model that agrees with itself on the first word of its sound alone."""

    def recognize(self, samples, start_s, prompt):
        hypothesis = super().recognize(samples, start_s, prompt)
        first = [replace(word, text="the") for word in hypothesis.words[:1]]
        return replace(hypothesis, words=(*first, *hypothesis.words[1:]))


def said(rng, n_words, *, sentences=True):
    texts = [rng.choice(VOCABULARY) for _ in range(n_words)]
    return [text + "." if sentences and rng.random() < 0.15 else text for text in texts]


def recognizer(model, **settings):
    vad = VoiceActivityDetector(Loudness(), VadSettings(max_speech_s=10_000.0))
    return Recognizer(model, vad, RecognizerSettings(**settings))


def chunks(samples, rng):
    at = 0
    while at < len(samples):
        size = rng.randint(200, 3000)
        start_s = at / SAMPLE_RATE_HZ
        yield AudioChunk(samples=samples[at : at + size], start_s=start_s, heard_at_s=start_s)
        at += size


def loud(seconds):
    return np.full(round(seconds * SAMPLE_RATE_HZ), 0.5, np.float32)


def run(model, samples, rng, **settings):
    listening = recognizer(model, **settings)
    news = []
    for chunk in chunks(samples, rng):
        news += listening.feed(chunk)
    longest_s = 20.0 + settings.get("step_s", 1.0)
    assert all(end_s - start_s <= longest_s for start_s, end_s, _ in model.heard)
    return news + listening.flush()


def keys(texts):
    return [same_word_key(text) for text in texts]


def transcript(news):
    return [word.text for one in news for word in one.committed]


@pytest.mark.parametrize("sentences", [True, False])
@pytest.mark.parametrize("seed", range(10))
def test_what_is_said_is_committed_once_in_order(seed, sentences):
    rng = random.Random(seed)
    texts = said(rng, 120, sentences=sentences)
    model = Speaker(texts, rng=rng)
    news = run(model, loud(120 * WORD_S), rng, step_s=rng.choice([0.5, 1.1, 1.7]))
    assert keys(transcript(news)) == keys(texts)
    times = [time for one in news for word in one.committed for time in (word.start_s, word.end_s)]
    assert times == sorted(times)
    assert all(len(one.tail) <= 4 for one in news)


class Unsteady(Speaker):
    """Times vary from pass to pass, as Whisper's do; some words are missed or heard as others."""

    wrong = 0.0

    def recognize(self, samples, start_s, prompt):
        hypothesis = super().recognize(samples, start_s, prompt)
        words, earliest_s = [], start_s
        for word in hypothesis.words:
            shifts_s = [self.rng.uniform(-0.2, 0.2) for _ in range(2)]
            earliest_s = max(earliest_s, word.start_s + shifts_s[0])
            end_s = min(hypothesis.end_s, max(earliest_s, word.end_s + shifts_s[1]))
            chance = self.rng.random()
            if chance < self.wrong / 2:
                continue
            text = self.rng.choice(VOCABULARY) if chance < self.wrong else word.text
            words.append(RecognizedWord(text=text, start_s=earliest_s, end_s=end_s))
        return Hypothesis(words=tuple(words), start_s=start_s, end_s=hypothesis.end_s)


@pytest.mark.parametrize("wrong", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(6))
def test_phrases_that_come_again_after_pauses_are_never_committed_twice(seed, wrong):
    rng = random.Random(seed)
    texts = " ".join(rng.choice(PHRASES) for _ in range(20)).split()
    starts_s, at_s = [], 0.4
    for _ in texts:
        at_s += rng.uniform(0.15, 1.5) if rng.random() < 0.12 else 0.0
        starts_s.append(at_s)
        at_s += WORD_S
    model = Unsteady(texts, rng=rng, starts_s=starts_s)
    model.wrong = wrong
    sound = 0.0 * loud(at_s + 1.0)
    for start_s in starts_s:
        first = round(start_s * SAMPLE_RATE_HZ)
        sound[first : first + round(WORD_S * SAMPLE_RATE_HZ)] = 0.5
    heard = transcript(run(model, sound, rng, step_s=rng.choice([0.5, 1.0, 1.7])))
    if wrong:
        assert len(heard) <= len(texts)
    else:
        assert keys(heard) == keys(texts)


@pytest.mark.parametrize("seed", range(5))
def test_the_model_is_prompted_with_what_was_committed_before_its_sound(seed):
    rng = random.Random(seed)
    texts = said(rng, 120)
    model = Speaker(texts, rng=rng)
    run(model, loud(120 * WORD_S), rng)
    for start_s, _, prompt in model.heard:
        before = [one.text for one in model.words if start_s - 20 <= one.end_s < start_s + 0.2]
        assert keys(prompt.split()) == keys(before[-60:])


@pytest.mark.parametrize("model", [Silent, Undecided, Begun])
def test_a_model_that_never_agrees_with_itself_still_gets_a_bounded_buffer(model):
    rng = random.Random(1)
    speaker = model(said(rng, 300), rng=rng)
    news = run(speaker, loud(300 * WORD_S), rng)
    assert max(end_s - start_s for start_s, end_s, _ in speaker.heard) <= 21.0
    assert len(transcript(news)) > 200 or model is Silent


def test_a_pause_commits_the_rest_and_what_follows_stands_at_its_own_time():
    rng = random.Random(2)
    texts = said(rng, 8, sentences=False)
    model = Speaker(texts, starts_s=[i * WORD_S + (6.0 if i >= 5 else 0.0) for i in range(8)])
    silence = np.zeros(6 * SAMPLE_RATE_HZ, np.float32)
    sound = np.concatenate([loud(5 * WORD_S), silence, loud(3 * WORD_S)])
    news = run(model, sound, rng)
    ended = [i for i, one in enumerate(news) if one.speech_ended]
    assert len(ended) == 2
    assert keys(transcript(news[: ended[0] + 1])) == keys(texts[:5])
    assert keys(transcript(news)) == keys(texts)
    assert news[-1].committed[-1].end_s == pytest.approx(14 * WORD_S + 3.6, abs=1.0)


def test_silence_never_wakes_the_model():
    model = Speaker(["thank", "you"])
    assert run(model, np.zeros(60 * SAMPLE_RATE_HZ, np.float32), random.Random(3)) == []
    assert model.heard == []


def test_sound_is_let_go_at_sentence_ends_long_before_the_buffer_is_full():
    texts = [f"w{i}." if i % 8 == 7 else f"w{i}" for i in range(120)]
    model = Speaker(texts)
    run(model, loud(120 * WORD_S), random.Random(5))
    starts_s = {start_s for start_s, _, _ in model.heard}
    sentence_s = 8 * WORD_S
    assert len(starts_s) > 5
    assert all(abs((start_s + 0.1) % sentence_s - 0.1) < 0.01 for start_s in starts_s)
    assert max(end_s - start_s for start_s, end_s, _ in model.heard) <= 8.0 + sentence_s + 1.0


class Poisoned(Speaker):
    """A model that takes up what it misheard once, and then nothing is left of what is said."""

    def recognize(self, samples, start_s, prompt):
        hypothesis = super().recognize(samples, start_s, prompt)
        return replace(hypothesis, words=()) if "lock" in prompt else hypothesis


def test_what_was_misheard_before_a_silence_does_not_take_what_is_said_after_it():
    texts = ["lock", "lock", *said(random.Random(2), 12, sentences=False)]
    starts_s = [(at + 30 / WORD_S * (at > 1)) * WORD_S for at in range(len(texts))]
    quiet = np.zeros(30 * SAMPLE_RATE_HZ, np.float32)
    samples = np.concatenate([loud(2 * WORD_S), quiet, loud(12 * WORD_S), quiet])
    news = run(Poisoned(texts, starts_s=starts_s), samples, random.Random(2))
    committed = [same_word_key(word.text) for one in news for word in one.committed]
    assert committed == [same_word_key(text) for text in texts]


def test_silence_alone_is_never_heard():
    """What is left of the buffer after the last sentence, for which models invent words."""
    texts = ["word"] * 19 + ["end."]
    model = Speaker(texts)
    samples = np.concatenate([loud(8.0), np.zeros(2 * SAMPLE_RATE_HZ, np.float32)])
    news = run(model, samples, random.Random(0), step_s=0.25, trim_from_s=6.0)
    committed = [same_word_key(word.text) for one in news for word in one.committed]
    assert committed == [same_word_key(text) for text in texts]
    assert max(start_s for start_s, _, _ in model.heard) < 8.0 - WORD_S / 2


@pytest.mark.parametrize(("silence_s", "is_joined"), [(1.2, True), (3.0, False)])
def test_after_a_short_pause_what_was_said_before_is_heard_once_more(silence_s, is_joined):
    texts = said(random.Random(1), 12, sentences=False)
    second_s = 6 * WORD_S + silence_s
    starts_s = [at * WORD_S + (at >= 6) * silence_s for at in range(12)]
    model = Speaker(texts, starts_s=starts_s)
    quiet = np.zeros(round(silence_s * SAMPLE_RATE_HZ), np.float32)
    samples = np.concatenate([loud(6 * WORD_S), quiet, loud(6 * WORD_S), quiet])
    news = run(model, samples, random.Random(1), joins_s=0.7)
    committed = [same_word_key(word.text) for one in news for word in one.committed]
    assert committed == [same_word_key(text) for text in texts]
    begins_s = {start_s for start_s, end_s, _ in model.heard if end_s > second_s}
    assert begins_s.pop() == pytest.approx(0.0 if is_joined else second_s - 0.3, abs=0.1)
    assert not begins_s


def test_a_cut_moves_to_the_pause_that_follows():
    """A word ends later than its time says, by up to 0.4 s; what is left of it is no word."""
    texts = ["word"] * 14 + ["end."] + ["more"] * 5
    model = Speaker(texts, starts_s=[i * WORD_S + (i > 14) * 0.4 for i in range(20)])
    late = np.concatenate([loud(6.2), np.zeros(3200, np.float32), loud(2.0)])
    run(model, late, random.Random(0), trim_from_s=6.0)
    begins_s = sorted({start_s for start_s, _, _ in model.heard})
    assert begins_s[1] == pytest.approx(6.2, abs=0.1)
