"""Words of a model that hears sound as it comes: when they are committed, and that none is lost."""

import random

import numpy as np
import pytest

from engine.audio.chunks import AudioChunk
from engine.audio.devices import SAMPLE_RATE_HZ
from engine.speech.hypothesis import same_word_key
from engine.speech.streaming import Piece, StreamingRecognizer
from engine.speech.vad import VadSettings, VoiceActivityDetector
from engine.text.punctuation import UNKNOWN, punctuation_for
from tests.support.listening_fakes import Loudness
from tests.support.sounds import silence

PRE_ROLL_S = 0.5


class Told:
    """A model that tells pieces at given seconds of a speech."""

    marks_sentences = False
    punctuation = None

    def __init__(self, *pieces):
        self.pieces = [Piece(text=text, at_s=at_s) for text, at_s in pieces]
        self.n_streams = 0

    def stream(self):
        self.n_streams += 1
        return _Stream(self.pieces)

    def spelled(self, word):
        return word.lower()


class _Stream:
    def __init__(self, pieces):
        self.pieces, self.n_heard = pieces, 0

    def feed(self, samples):
        self.n_heard += len(samples)
        heard_s = self.n_heard / SAMPLE_RATE_HZ
        return [piece for piece in self.pieces if piece.at_s <= heard_s]

    def flush(self):
        return self.pieces


def loud(seconds):
    return np.full(round(seconds * SAMPLE_RATE_HZ), 0.5, np.float32)


def chunks(samples, sizes):
    at = 0
    for size in sizes:
        if at >= len(samples):
            return
        part = samples[at : at + size]
        yield AudioChunk(samples=part, start_s=at / SAMPLE_RATE_HZ, heard_at_s=0.0)
        at += size


def heard(model, samples, sizes=None):
    """Return the results one by one, and those of the end."""
    vad = VoiceActivityDetector(Loudness(), VadSettings(pre_roll_s=PRE_ROLL_S))
    made = StreamingRecognizer(model, vad)
    sizes = sizes or [1600] * (len(samples) // 1600 + 1)
    results = [one for chunk in chunks(samples, sizes) for one in made.feed(chunk)]
    return results + made.flush()


def words(results):
    return [word.text for result in results for word in result.committed]


def test_a_word_is_committed_once_the_next_one_has_begun():
    model = Told((" GOOD", 0.2), (" MOR", 0.4), ("NING", 0.5), (" TOM", 0.7))
    results = heard(model, loud(0.9))
    steps = [(words([one]), [word.text for word in one.tail]) for one in results]
    assert steps == [
        ([], ["good"]),
        (["good"], ["mor"]),
        ([], ["morning"]),
        (["morning"], ["tom"]),
        (["tom"], []),
    ]
    assert [one.speech_ended for one in results] == [False] * 4 + [True]


def test_the_last_word_is_committed_when_nothing_came_for_a_while():
    results = heard(Told((" GOOD", 0.3)), loud(3.0))
    assert words(results[:2]) == ["good"]
    assert words(results) == ["good"]
    assert results[1].tail == ()


def test_what_goes_on_after_it_was_committed_is_a_word_of_its_own():
    results = heard(Told((" GOOD", 0.2), ("BYE", 0.9), (" TOM", 1.0)), loud(2.0))
    assert words(results) == ["good", "bye", "tom"]


@pytest.mark.parametrize("seed", range(20))
def test_the_cut_into_chunks_changes_nothing_and_no_word_is_lost_or_doubled(seed):
    rng = random.Random(seed)
    at_s, pieces = 0.0, []
    for n in range(30):
        at_s += rng.choice((0.04, 0.2, 0.7))
        pieces.append((rng.choice((" ", "")) + f"W{n}", round(at_s, 2)))
    samples = loud(at_s + 1.0)
    sizes = [rng.randrange(1, 9000) for _ in range(len(samples))]
    whole = heard(Told(*pieces), samples)
    assert heard(Told(*pieces), samples, sizes) == whole
    assert "".join(words(whole)) == "".join(text.strip().lower() for text, _ in pieces)


def test_times_of_words_lie_on_the_timeline_of_the_source():
    samples = np.concatenate([silence(2.0), loud(2.0)])
    results = heard(Told((" GOOD", 0.7), ("BYE", 0.9)), samples)
    (word,) = [word for one in results for word in one.committed]
    begun_s = 2.0 - PRE_ROLL_S
    assert word.start_s == pytest.approx(begun_s + 0.7, abs=0.04)
    assert word.end_s == pytest.approx(begun_s + 0.9, abs=0.04)


def test_each_speech_is_heard_from_an_empty_state_and_silence_not_at_all():
    model = Told((" GOOD", 0.2))
    samples = np.concatenate([loud(1.0), silence(3.0), loud(1.0)])
    assert words(heard(model, samples)) == ["good", "good"]
    assert model.n_streams == 2
    assert heard(Told((" GOOD", 0.2)), silence(5.0)) == []


class Changing:
    """Pieces that a model takes back: those told at each step."""

    def __init__(self, *told):
        self.told, self.n_steps = told, 0

    def feed(self, _samples):
        self.n_steps += 1
        return self.flush()

    def flush(self):
        told = self.told[min(self.n_steps, len(self.told)) - 1]
        return [Piece(text=text, at_s=at_s) for text, at_s in told]


@pytest.mark.parametrize(
    ("otherwise", "words_told"),
    [
        ([(" A", 0.1), (" BE", 0.2), (" C", 0.5)], ["a", "b", "c"]),
        ([(" AB", 0.2), (" C", 0.5)], ["a", "b", "c"]),
        ([(" A", 0.1), (" B", 0.1), (" E", 0.2), (" C", 0.5)], ["a", "b", "c"]),
        ([(" A", 0.1)], ["a", "b"]),
    ],
)
def test_what_is_committed_stays_where_the_model_takes_it_back(otherwise, words_told):
    before = [(" A", 0.1), (" B", 0.2), (" C", 0.5)]
    model = Told()
    model.stream = lambda: Changing(before, otherwise)
    assert words(heard(model, loud(0.9))) == words_told


class StopsAfter:
    """Is certain of no word, and puts a full stop behind these."""

    def __init__(self, *words):
        self.words = words

    def chances(self, _before, word, after, _first, _n_since):
        ends = word in self.words and after != UNKNOWN
        return np.array([0.2, 0.1, 0.6, 0.1] if ends else [0.6, 0.2, 0.1, 0.1]), 0


def test_words_without_case_and_punctuation_get_both_and_wait_for_the_next_one():
    model = Told((" GOOD", 0.2), (" MORNING", 0.5), (" THANK", 0.8), (" YOU", 1.1))
    model.punctuation = StopsAfter("morning", "you")
    results = heard(model, loud(1.3))
    steps = [(words([one]), [word.text for word in one.tail]) for one in results]
    assert steps == [
        ([], ["good"]),
        ([], ["good", "morning"]),
        (["Good"], ["morning", "thank"]),
        (["morning."], ["thank", "you"]),
        (["Thank", "you."], []),
    ]


def test_the_last_word_of_a_speech_ends_a_sentence_and_waits_no_longer_than_a_pause():
    model = Told((" GOOD", 0.2), (" MORNING", 0.5))
    model.punctuation = StopsAfter()
    assert words(heard(model, loud(0.9))) == ["Good", "morning."]
    assert words(heard(model, loud(3.0))[:-1]) == ["Good", "morning"]


@pytest.mark.parametrize("seed", range(10))
def test_case_and_punctuation_lose_double_and_change_no_word(seed):
    rng = random.Random(seed)
    at_s, pieces = 0.0, []
    for n in range(40):
        at_s += rng.choice((0.1, 0.4, 0.8))
        pieces.append((f" W{n}", round(at_s, 2)))
    model = Told(*pieces)
    model.punctuation = punctuation_for("en")
    results = heard(model, loud(at_s + 0.1), [rng.randrange(1, 9000) for _ in range(200_000)])
    assert [same_word_key(word) for word in words(results)] == [f"w{n}" for n in range(40)]


def test_letters_that_come_in_bytes_are_joined_and_special_tokens_left_out():
    model = Told((" N", 0.1), ("<0xC3>", 0.2), ("<0xA9>", 0.2), ("<unk>", 0.3), ("▁DA", 0.4))
    assert words(heard(model, loud(1.0))) == ["né", "da"]


def test_a_language_without_blanks_is_cut_before_a_word_grows_without_end():
    results = heard(Told(*(("漢", 0.02 * n) for n in range(1, 100))), loud(3.0))
    assert "".join(words(results)) == "漢" * 99
    assert max(map(len, words(results))) <= 40
