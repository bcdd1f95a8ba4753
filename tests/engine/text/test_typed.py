import random

from engine.text.typed import committed_words

ALPHABET = "ab  .é漢🙂\t\u3000\u00a0"


def test_a_word_is_committed_by_the_blank_behind_it():
    assert committed_words("I am") == ["I"]
    assert committed_words("I am ") == ["I", "am"]


def test_the_last_word_counts_when_nothing_more_is_typed():
    assert committed_words("I am", finished=True) == ["I", "am"]


def test_blanks_alone_are_no_word():
    for text in ("", " ", "\t \u3000"):
        assert committed_words(text) == committed_words(text, finished=True) == []


def test_words_typed_key_by_key_are_only_ever_added():
    rng = random.Random(0)
    for _ in range(200):
        text = "".join(rng.choice(ALPHABET) for _ in range(rng.randrange(30)))
        before = []
        for n_keys in range(len(text) + 1):
            words = committed_words(text[:n_keys])
            assert words[: len(before)] == before
            assert len(words) <= len(before) + 1
            before = words
        assert committed_words(text, finished=True) == text.split()
        assert committed_words(text + " ") == text.split()
