import random

import pytest

from engine.speech.hallucinations import (
    compression_ratio,
    is_hallucination,
    is_known_phrase,
    n_loops,
)

SENTENCE = "We walked along the river until it became too dark to see."


def judge(text=SENTENCE, *, no_speech=0.05, log_probability=-0.3):
    return is_hallucination(text, no_speech=no_speech, log_probability=log_probability)


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
    assert judge(text, log_probability=-0.6)
    assert not judge(text, no_speech=0.01, log_probability=-0.1)


@pytest.mark.parametrize(
    "text", ["Thank you for the letter.", "You know him.", "", "Goodbye, all."]
)
def test_a_sentence_that_only_begins_like_a_phantom_is_none(text):
    assert not is_known_phrase(text)


def test_text_that_repeats_itself_is_dropped_however_sure_the_model_is():
    assert judge("and then we go home again " * 12, log_probability=-0.01)
    assert judge("no no no no no", log_probability=-0.01)
    assert not judge("No, no, no, no!", log_probability=-0.01)


@pytest.mark.parametrize("seed", range(50))
def test_loops_are_counted_wherever_they_stand_and_however_long_they_are(seed):
    rng = random.Random(seed)
    run = [f"w{i}" for i in range(rng.randint(1, 8))]
    times = rng.randint(2, 6)
    around = [[f"{side}{i}" for i in range(rng.randrange(6))] for side in "ab"]
    words = [rng.choice([w, w.upper(), w + ","]) for w in around[0] + run * times + around[1]]
    assert n_loops(words) == times


def test_words_without_a_loop_count_once_and_none_not_at_all():
    assert n_loops(SENTENCE.split()) == 1
    assert n_loops([]) == 0


def test_the_compression_ratio_grows_with_repetition():
    ratios = [compression_ratio("over and over " * n) for n in (1, 5, 20)]
    assert ratios == sorted(ratios)
    assert compression_ratio("  ") == 0
