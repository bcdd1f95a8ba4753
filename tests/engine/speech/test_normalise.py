import pytest

from engine.speech.normalise import said_word


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
