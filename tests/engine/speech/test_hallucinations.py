import random

import pytest

from engine.speech.hallucinations import (
    compression_ratio,
    heard_words,
    is_known_phrase,
    said_word,
    without_loops,
)
from engine.speech.hypothesis import RecognizedWord

SENTENCE = "We walked along the river until it became too dark to see."


def words_of(text):
    return [
        RecognizedWord(text=word, start_s=float(n), end_s=n + 0.5)
        for n, word in enumerate(text.split())
    ]


def judge(text=SENTENCE, *, no_speech=0.05, log_probability=-0.3):
    words = words_of(text)
    return not heard_words(words, no_speech=no_speech, log_probability=log_probability)


def without(text):
    return " ".join(word.text for word in without_loops(words_of(text)))


def test_what_the_model_is_sure_of_is_believed():
    assert not judge()


@pytest.mark.parametrize(
    ("no_speech", "log_probability", "dropped"),
    [(0.9, -1.5, True), (0.9, -0.3, False), (0.1, -1.5, False), (0.1, -2.5, True)],
)
def test_probable_silence_is_dropped_only_where_the_words_are_improbable_too(
    no_speech, log_probability, dropped
):
    assert judge(no_speech=no_speech, log_probability=log_probability) is dropped


@pytest.mark.parametrize(
    "text",
    ["Thank you.", "THANKS FOR WATCHING!", " Untertitel im Auftrag des ZDF,",
     "Продолжение следует…",
     "ご視聴ありがとうございました。", "Bye-bye!", "Sous-titrage Société Radio-Canada"],
)  # fmt: skip
def test_a_known_phantom_is_dropped_unless_the_model_is_sure(text):
    assert is_known_phrase(text)
    assert judge(text, no_speech=0.5)
    assert judge(text, log_probability=-1.1)
    assert not judge(text, no_speech=0.12, log_probability=-0.67)


@pytest.mark.parametrize(
    "text", ["Thank you for the letter.", "You know him.", "", "Goodbye, all."]
)
def test_a_sentence_that_only_begins_like_a_phantom_is_none(text):
    assert not is_known_phrase(text)


@pytest.mark.parametrize(
    "text",
    ["We'll see you next time.", "Thank you very much. Okay.", "So please like and subscribe"],
)
def test_a_word_more_makes_a_phantom_no_other(text):
    assert judge(text, no_speech=0.5)
    assert not judge(text, no_speech=0.01, log_probability=-0.1)


@pytest.mark.parametrize("text", ["And…", "Okay.", "Good luck.", "Yeah."])
def test_a_word_or_three_are_dropped_where_there_is_hardly_speech(text):
    assert judge(text, no_speech=0.55, log_probability=-0.8)
    assert not judge(text, no_speech=0.3, log_probability=-0.8)
    assert not judge(text, no_speech=0.55, log_probability=-0.3)
    assert not judge(f"{text} {SENTENCE}", no_speech=0.55, log_probability=-0.8)


def test_a_long_loop_and_nothing_else_is_dropped_however_sure_the_model_is():
    assert judge("and then we go home again " * 12, log_probability=-0.01)
    assert judge("no " * 30, log_probability=-0.01)


@pytest.mark.parametrize(
    "text",
    [
        "Yes, yes, yes, yes, yes, I will pay the bill tomorrow morning.",
        "No, no, no, no, no, that is not what I said.",
        "No, no, no, no, no!",
        "Never, never, never, never, never, never, never give up.",
        "Thank you. Thank you. Thank you. Thank you. And good night.",
        "She called him again and again and again and again.",
    ],
)
def test_what_people_repeat_stays_and_so_does_what_stands_beside_it(text):
    assert not judge(text)
    assert without(text) == text


@pytest.mark.parametrize("seed", range(50))
def test_what_stands_around_a_loop_stays_wherever_and_however_long_it_is(seed):
    rng = random.Random(seed)
    run = [f"w{i}" for i in range(rng.randint(1, 12))]
    times = rng.randint(9, 30)
    around = [[f"{side}{i}" for i in range(1, rng.randrange(2, 6))] for side in "ab"]
    text = [rng.choice([w, w.upper(), w + ","]) for w in run * times]
    kept = without(" ".join(around[0] + text + around[1])).split()
    n_kept = {1: 8, 2: 8, 3: 12}.get(len(run), len(run))
    assert kept == around[0] + text[:n_kept] + around[1]


def test_words_without_a_loop_stay():
    assert without(SENTENCE) == SENTENCE
    assert without("") == ""


def test_the_compression_ratio_grows_with_repetition():
    ratios = [compression_ratio("over and over " * n) for n in (1, 5, 20)]
    assert ratios == sorted(ratios)
    assert compression_ratio("  ") == 0


@pytest.mark.parametrize(
    "word",
    ["Hello,", "don\N{RIGHT SINGLE QUOTATION MARK}t", "$5", "401(k)", "(202)", "555-0143", "A*",
     "+", "=", "&", "5%", "[1]"],
)  # fmt: skip
def test_words_are_kept_as_they_were_heard(word):
    assert said_word(f" {word}") == word


@pytest.mark.parametrize(
    "noise",
    ["-", "...", "[Music]", "[BLANK_AUDIO]", "(laughs)", "(upbeat", "music)", "*sighs*", "*heavy",
     "sighs*", "\N{EIGHTH NOTE}", ""],
)  # fmt: skip
def test_noises_are_no_words(noise):
    assert said_word(noise) == ""
