"""Case and punctuation for words that were heard without: right mostly, and never another word."""

import random

import pytest

from engine.text.punctuation import SentenceMarks, punctuation_for


@pytest.fixture(scope="module")
def english():
    return punctuation_for("en")


def written(english, text, *, pauses=True):
    marks = SentenceMarks(english)
    words = [word for heard in text.split() for word in marks.feed(heard)]
    return " ".join([*words, *(marks.pause() if pauses else [])])


def test_sentences_get_capitals_and_ends(english):
    assert written(english, "thank you very much") == "Thank you very much."
    assert written(english, "can you hear me") == "Can you hear me?"
    said = "we will meet in london on monday do you know when it begins"
    assert written(english, said).startswith("We will meet in London on Monday. Do you know when")


@pytest.mark.parametrize("seed", range(20))
def test_no_word_is_changed_lost_or_out_of_order(english, seed):
    rng = random.Random(seed)
    letters = "abcdefghijklmnopqrstuvwxyzäßéıŉ漢字'’-0123456789\u0301"
    words = ["".join(rng.choices(letters, k=rng.randrange(1, 9))) for _ in range(200)]
    marks, found = SentenceMarks(english), []
    for word in words:
        found += marks.feed(word)
        assert len(found) <= len(words)
        if rng.random() < 0.1:
            found += marks.pause()
    found += marks.pause()
    bare = [word.rstrip(",.?") for word in found]
    assert [word.casefold() for word in bare] == [word.casefold() for word in words]


def test_most_words_do_not_wait_for_the_next_one(english):
    words = "the new version of the program is ready and we can show it to everybody".split()
    marks, late = SentenceMarks(english), 0
    n_told = 0
    for n, word in enumerate(words, 1):
        n_told += len(marks.feed(word))
        late += n_told < n
    assert late <= len(words) // 2


def test_a_language_without_weights_has_no_punctuation():
    assert punctuation_for("de") is None
    assert punctuation_for("../en") is None


def test_a_sentence_without_end_is_ended_where_a_weak_sign_is(english):
    assert "." in written(english, "and then we go on and on " * 12, pauses=False)
