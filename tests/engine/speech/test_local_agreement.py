import random
from dataclasses import replace

import pytest

from engine.speech.hypothesis import (
    MAX_TAIL_WORDS,
    Hypothesis,
    LocalAgreement,
    RecognizedWord,
    same_word_key,
)

VOCABULARY = "the a cat sat on mat and then went home again to see who was there".split()
WORD_S = 0.4
SEEDS = range(80)


def spoken(rng, n_words):
    return [rng.choice(VOCABULARY) for _ in range(n_words)]


def jittered(rng, text):
    """Spell a word as a recogniser in two minds does."""
    return rng.choice([text, text.capitalize(), text.upper(), text + ",", text + ".", f"“{text}"])


def heard(texts, *, start_s=0.0, first=0, rng=None, wander_s=0.0):
    """Make the hypothesis of sound in which word number i is said from i * WORD_S on."""
    words = []
    for number, text in enumerate(texts, first):
        shift_s = rng.uniform(-wander_s, wander_s) if rng else 0.0
        begin_s = max(start_s, number * WORD_S + shift_s)
        end_s = max(begin_s, (number + 1) * WORD_S + shift_s)
        words.append(RecognizedWord(text=text, start_s=begin_s, end_s=end_s, probability=0.9))
    return Hypothesis(
        words=tuple(words), start_s=start_s, end_s=max(start_s, (first + len(texts)) * WORD_S)
    )


def keys(words):
    return [same_word_key(word if isinstance(word, str) else word.text) for word in words]


def random_stream(seed, *, n_words=40):
    """Replay a speaker heard ever longer; the newest words are guesses, the buffer is trimmed."""
    rng = random.Random(seed)
    said = spoken(rng, n_words)
    start = n_heard = 0
    while n_heard < n_words:
        n_heard = min(n_words, n_heard + rng.randint(1, 5))
        n_sure = max(start, n_heard - rng.randrange(4))
        guesses = [rng.choice(VOCABULARY) for _ in range(rng.randrange(4))]
        texts = said[start:n_sure] + (guesses if n_heard < n_words else said[n_sure:])
        yield start, [jittered(rng, text) for text in texts], rng
        start = max(start, rng.choice([start, n_heard - 12]))
    yield start, said[start:], rng


@pytest.mark.parametrize("seed", SEEDS)
def test_whatever_is_heard_the_committed_words_are_only_appended_to(seed):
    rng = random.Random(seed)
    agreement = LocalAgreement()
    transcript = []
    for _ in range(30):
        texts = [jittered(rng, word) for word in spoken(rng, rng.randrange(12))]
        before = list(transcript)
        transcript += agreement.feed(heard(texts, first=rng.randrange(5), rng=rng, wander_s=1.0))
        if rng.random() < 0.1:
            transcript += agreement.flush()
        assert transcript[: len(before)] == before
        assert len(agreement.tail) <= MAX_TAIL_WORDS
    times = [time for word in transcript for time in (word.start_s, word.end_s)]
    assert times == sorted(times)


@pytest.mark.parametrize("seed", SEEDS)
def test_words_that_hypotheses_come_to_agree_on_are_committed_once_each_in_order(seed):
    agreement = LocalAgreement()
    transcript, last = [], []
    for start, texts, rng in random_stream(seed):
        transcript += agreement.feed(
            heard(texts, start_s=start * WORD_S, first=start, rng=rng, wander_s=0.1)
        )
        last = (start, texts)
    transcript += agreement.flush()
    start, texts = last
    # Two guesses may agree by chance and are then committed: what comes after them still is.
    assert keys(transcript)[-5:] == keys(texts)[-5:]
    assert abs(len(transcript) - (start + len(texts))) <= 3


@pytest.mark.parametrize("seed", SEEDS)
def test_without_wrong_guesses_the_transcript_is_what_was_said(seed):
    rng = random.Random(seed)
    said = spoken(rng, 60)
    agreement = LocalAgreement()
    transcript, start, n_heard = [], 0, 0
    while n_heard < len(said):
        n_heard = min(len(said), n_heard + rng.randint(1, 6))
        texts = [jittered(rng, word) for word in said[start:n_heard]]
        # Sound is let go up to the end of a committed word, as its own times tell it.
        start_s = transcript[start - 1].end_s if start else 0.0
        transcript += agreement.feed(
            heard(texts, start_s=start_s, first=start, rng=rng, wander_s=0.15)
        )
        if rng.random() < 0.4:
            start = max(start, len(transcript) - rng.randrange(6))
    assert keys(transcript + list(agreement.flush())) == keys(said)


def test_a_word_is_committed_when_two_successive_hypotheses_have_it():
    agreement = LocalAgreement()
    assert agreement.feed(heard(["the", "cat"])) == ()
    assert keys(agreement.feed(heard(["the", "cab", "sat"]))) == ["the"]
    assert keys(agreement.feed(heard(["the", "cat", "sat"]))) == []
    assert keys(agreement.feed(heard(["the", "cat", "sat"]))) == ["cat", "sat"]


def test_the_newest_spelling_is_committed():
    agreement = LocalAgreement()
    agreement.feed(heard(["The", "Cat."]))
    assert [word.text for word in agreement.feed(heard(["the", "cat", "sat"]))] == ["the", "cat"]


def test_a_committed_word_heard_otherwise_later_is_not_said_twice():
    agreement = LocalAgreement()
    for _ in range(2):
        agreement.feed(heard(["two", "cats", "sat"]))
    later = heard(["too", "cat", "sat", "on"])
    assert agreement.feed(later) == ()
    assert keys(agreement.feed(later)) == ["on"]


def test_a_word_that_is_really_said_twice_is_committed_twice():
    agreement = LocalAgreement()
    for _ in range(2):
        agreement.feed(heard(["no", "no"]))
    assert agreement.tail == ()
    agreement.feed(heard(["no", "no", "no", "way"]))
    assert keys(agreement.feed(heard(["no", "no", "no", "way"]))) == ["no", "way"]


def test_new_words_are_kept_where_the_committed_ones_are_not_heard_any_more():
    agreement = LocalAgreement()
    for _ in range(2):
        agreement.feed(heard(["the", "cat"]))
    for _ in range(2):
        new = agreement.feed(heard(["sat", "on", "mats"], first=2))
    assert keys(new) == ["sat", "on", "mats"]


def test_an_empty_hypothesis_commits_nothing_and_takes_nothing_back():
    agreement = LocalAgreement()
    agreement.feed(heard(["the", "cat"]))
    assert agreement.feed(heard([])) == ()
    assert agreement.flush() == ()


@pytest.mark.parametrize(
    ("one", "other"),
    [("Cat", "cat,"), ("“Yes!”", "yes"), ("don’t", "Don't"), ("Straße", "STRASSE")],
)
def test_case_and_punctuation_do_not_make_another_word(one, other):
    assert same_word_key(one) == same_word_key(other)


@pytest.mark.parametrize(("one", "other"), [("cat", "cats"), ("-", "…"), ("5%", "5€"), ("क", "कि")])
def test_letters_digits_and_signs_make_another_word(one, other):
    assert same_word_key(one) != same_word_key(other)


def test_times_tell_a_new_word_from_a_committed_one_that_is_spelt_the_same():
    agreement = LocalAgreement()
    for _ in range(2):
        agreement.feed(heard(["no", "no"]))
    later = tuple(
        RecognizedWord(text=text, start_s=start_s, end_s=start_s + WORD_S)
        for text, start_s in (("no", WORD_S), ("no", 2.0), ("way", 2.4))
    )
    for _ in range(2):
        new = agreement.feed(Hypothesis(words=later, start_s=0.0, end_s=3.0))
    assert keys(new) == ["no", "way"]


def test_a_word_that_was_committed_without_length_is_not_committed_again():
    """Recognisers squeeze words together where they are unsure; the next pass gives them room."""
    agreement = LocalAgreement()
    squeezed = [("on", 1.3, 1.5), ("Sunday.", 1.5, 1.5), ("The", 1.5, 1.5)]
    roomy = [("on", 1.3, 1.5), ("Sunday.", 1.5, 2.2), ("The", 2.2, 2.8), ("doctor", 2.8, 3.3)]
    said = []
    for words in (squeezed[:2], squeezed, roomy, roomy):
        hypothesis = Hypothesis(
            words=tuple(
                RecognizedWord(text=text, start_s=start_s, end_s=end_s)
                for text, start_s, end_s in words
            ),
            start_s=0.0,
            end_s=4.0,
        )
        said += [word.text for word in agreement.feed(hypothesis)]
    assert said == ["on", "Sunday.", "The", "doctor"]


def test_the_last_word_of_sound_that_goes_on_is_not_committed():
    agreement = LocalAgreement()
    cut = replace(heard(["so", "my", "fellow."]), goes_on=True)
    assert agreement.feed(cut) == ()
    assert keys(agreement.feed(cut)) == ["so", "my"]
    whole = heard(["so", "my", "fellowship", "grew"])
    assert agreement.feed(whole) == ()
    assert keys(agreement.feed(whole)) == ["fellowship", "grew"]
    assert agreement.feed(replace(heard([]), goes_on=True)) == ()


def test_a_word_is_not_committed_again_where_times_are_estimates():
    """A word more at the end moves all others: their order counts, not when they were said."""
    agreement = LocalAgreement()
    early = replace(heard(["we", "are", "cold", "and", "old"]), times_vary_s=2.0)
    for _ in range(2):
        agreement.feed(replace(early, goes_on=True))
    late = [replace(w, start_s=2 * w.start_s, end_s=2 * w.end_s) for w in early.words[:4]]
    agreement.feed(replace(early, words=(*late, RecognizedWord(text="new", start_s=3.2, end_s=4))))
    assert keys(agreement.flush()) == ["new"]
