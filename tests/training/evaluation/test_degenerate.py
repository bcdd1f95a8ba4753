"""Loops and runaways are told from what a translation may repeat."""

import random

import pytest

from training.evaluation.scores import is_degenerate

WORDS = [f"wort{letter}" for letter in "abcdefghijklmnopqrstuvwxyz"]


def found(hypothesis, source="please look at the price of this old house", *, spaced=True):
    return is_degenerate(hypothesis, source.split(), spaced=spaced)


@pytest.mark.parametrize(
    "hypothesis",
    [
        "Das Haus liegt in der Nähe der Nähe der Nähe.",
        "Das Haus, das Haus, das Haus!",
        "Der Preis Preis Preis Preis ist hoch.",
        "Bitte die Stern-Stern-Stern-Stern ansehen.",
        "Bitte S-S-S-S-S.",
        "Es kostet 10000000000.",
        "Es kostet 1212121212121212.",
        "Hmmmmmmmm",
        "wir sehen hin und sehen uns um, wir sehen hin und sehen uns um, "
        "wir sehen hin und sehen uns um",
    ],
)
def test_a_loop_is_degenerate(hypothesis):
    assert found(hypothesis)


@pytest.mark.parametrize(
    "hypothesis",
    [
        "",
        "Bitte sehen Sie sich den Preis dieses alten Hauses an.",
        "Ja, ja, ja.",
        "sehr sehr sehr alt",
        "Es ist gut. Es ist gut.",
        "Das kostet 1000000 Euro, hahahaha!",
        "......... ---------- !!!!!!!!!",
        "Wort für Wort für das ganze Haus, Stein auf Stein",
        "Die, die da da stehen, stehen hier, hier!",
    ],
)
def test_what_a_translation_may_say_is_not(hypothesis):
    assert not found(hypothesis)


@pytest.mark.parametrize(
    ("hypothesis", "source"),
    [
        ("Die Nummer ist 2 0 1 1 1 1 1.", "The number is 2 0 1 1 1 1 1."),
        ("nein, nein, nein, nein, nein!", "no, no, no, no!"),
        ("Und dann, und dann, und dann!", "And then, and then, and then!"),
        ("Es sind 10000000000 Sterne.", "There are 10000000000 stars."),
        ("Aaaaaaaaaah", "Aaaaaaaaaah"),
    ],
)
def test_what_the_source_repeats_its_translation_may(hypothesis, source):
    assert not found(hypothesis, source)
    assert found(hypothesis)


def test_a_drawn_text_is_found_when_a_phrase_of_it_is_looped():
    rng = random.Random(0)
    for _ in range(300):
        source = rng.sample(WORDS, rng.randint(12, 20))
        words = rng.sample(WORDS, len(source))
        assert not is_degenerate(" ".join(words), source, spaced=True)
        size = rng.randint(1, 8)
        start = rng.randrange(len(words) - size)
        loop = words[start : start + size] * rng.randint(4 if size == 1 else 3, 6)
        looped = words[:start] + loop + words[start + size :]
        assert is_degenerate(" ".join(looped), source, spaced=True)
        assert not is_degenerate(" ".join(looped), looped, spaced=True)


def test_an_output_is_degenerate_when_it_is_absurdly_longer_than_its_source():
    for n_words in range(6):
        source = " ".join(["source", "words", "are", "never", "alike"][:n_words])
        most = 3 * n_words + 5
        assert not found(" ".join(WORDS[:most]), source)
        assert found(" ".join(WORDS[: most + 1]), source)


def test_without_blanks_characters_are_compared():
    text = "这座老房子的价格不高你可以去看看它离城里的车站也很近"
    assert not found(text, spaced=False)
    assert found("这座房子的价格的价格的价格", spaced=False)
    assert found("好" * 8, spaced=False)
    assert not found("好" * 7, spaced=False)
    assert not found("等等等等，价格是1000000元", spaced=False)
    assert not found("需要10000000000元", "it takes 10000000000 yuan", spaced=False)
    assert not found(text[:22], "ab cd", spaced=False)
    assert found(text[:23], "ab cd", spaced=False)


def test_case_and_punctuation_do_not_hide_a_loop():
    assert found("Das Haus. DAS HAUS, das-haus")
