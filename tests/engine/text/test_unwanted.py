import random

import pytest

from engine.text.written import LONGEST_PHRASE, HarmfulWords, is_loop


@pytest.fixture
def german():
    return HarmfulWords("de")


@pytest.mark.parametrize(
    ("source", "caption"),
    [
        ("Thank you for joining.", "Danke, dass Sie sich umbringen."),
        ("Let us begin.", "Erschießt uns!"),
        ("We meet at six.", "Wir haben Sex um sechs."),
        ("This is Mr. Black.", "Scheißkerl"),
    ],
)
def test_a_harmful_word_without_a_counterpart_is_found(german, source, caption):
    assert german.holds(caption, german.barred(source.split()))


@pytest.mark.parametrize(
    ("source", "caption"),
    [
        ("He was murdered.", "Er wurde ermordet."),
        ("Tom committed suicide.", "Tom hat Selbstmord begangen."),
        ("The birds sing at six.", "Um sechs singen die Vögel in Essex."),
        ("What the hell!", "Was zum Teufel, Scheiße!"),
    ],
)
def test_what_the_source_says_may_be_said(german, source, caption):
    assert not german.holds(caption, german.barred(source.split()))


@pytest.mark.parametrize(
    ("language", "caption"), [("fr", "Nous avons l'otage."), ("fr", "C'est un projet d’assassin.")]
)
def test_a_harmful_word_is_found_behind_an_apostrophe(language, caption):
    words = HarmfulWords(language)
    assert words.holds(caption, words.barred(["we", "agree"]))


@pytest.mark.parametrize(
    ("language", "caption"),
    [
        ("fr", "C'est un goulot d'étranglement."),
        ("fr", "Nous serons à Puteaux."),
        ("es", "El pedido está retrasado."),
    ],
)
def test_what_is_said_at_work_harms_nobody(language, caption):
    words = HarmfulWords(language)
    assert not words.holds(caption, words.barred(["we", "agree"]))


def test_one_group_does_not_open_another(german):
    assert german.holds("Sex", german.barred(["murder"]))


def test_a_language_without_lists_has_no_harmful_words():
    assert not HarmfulWords("xx").barred(["Hello"])


@pytest.mark.parametrize("language", ["de", "fr", "es"])
def test_every_group_has_words_of_each_language(language):
    assert len(HarmfulWords(language).barred([])) == 7


def drawn(rng, size):
    """A phrase that holds no shorter one twice in a row."""
    return rng.sample(range(1000), size)


def first_loop(target, source=()):
    """How many ids are written when the loop is noticed, or None."""
    return next((n for n in range(1, len(target) + 1) if is_loop(target[:n], source)), None)


@pytest.mark.parametrize("size", range(1, LONGEST_PHRASE + 1))
def test_a_phrase_is_a_loop_when_it_is_whole_once_too_often(size):
    rng = random.Random(size)
    for _ in range(20):
        start = [id_ + 1000 for id_ in drawn(rng, rng.randrange(30))]
        most = 5 if size == 1 else 3
        target = start + drawn(rng, size) * (most + 3)
        assert first_loop(target, drawn(rng, 10)) == len(start) + size * (most + 1)


def test_a_longer_phrase_is_never_a_loop():
    phrase = drawn(random.Random(0), LONGEST_PHRASE + 1)
    assert first_loop(phrase * 10) is None


@pytest.mark.parametrize("size", [1, 2, 5, LONGEST_PHRASE])
def test_what_the_source_repeats_the_translation_may_repeat_twice_more(size):
    rng = random.Random(size)
    for n_times in range(4, 9):
        source = drawn(rng, 5) + drawn(rng, rng.randint(1, LONGEST_PHRASE)) * n_times
        target = drawn(rng, size) * 20
        assert first_loop(target, source) == size * (n_times + 3)


def test_ids_that_differ_are_no_loop():
    rng = random.Random(0)
    for _ in range(50):
        assert first_loop(drawn(rng, 60), drawn(rng, 30)) is None


def test_a_loop_that_is_over_is_not_a_loop_any_more():
    assert is_loop([7] * 6, [1])
    assert not is_loop([7] * 6 + [8], [1])


def test_nothing_is_no_loop():
    assert not is_loop([], [])
    assert not is_loop([1], [])
