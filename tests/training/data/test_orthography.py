"""Test what is known of languages, and the one form of text."""

import random
import unicodedata

import pytest

from training.data.cleaning import (
    ORTHOGRAPHIES,
    bare,
    is_in_script,
    length,
    n_words,
    spelt,
    tidy,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  too \t many\u00a0 spaces\u2028 ", "too many spaces"),
        ("Cafe\u0301", "Café"),
        ("zero\u200bwidth\ufeff soft\u00adhyphen", "zerowidth softhyphen"),
        ("bell\x07 and escape\x1b[0m", "bell and escape[0m"),
        ("a \x00 b", "a b"),
        ("Podr&iacute;as &amp; m&#225;s", "Podrías & más"),
        ("AT&T; R&D", "AT&T; R&D"),
        ("Mask filling[[mask-filling]]", "Mask filling"),
        ("the [[Valley]]", "the [[Valley]]"),
        ("e\x07\u0301\u200b", "é"),
        ("", ""),
    ],
)
def test_text_is_brought_into_one_form(text, expected):
    assert tidy(text) == expected


def test_tidy_text_stays_as_it_is():
    rng = random.Random(0)
    characters = "aé漢🙂 \t\u200b\x07\u00a0e\u0301\u202e'.\x85"
    for _ in range(500):
        text = tidy("".join(rng.choice(characters) for _ in range(rng.randrange(20))))
        assert tidy(text) == text
        assert unicodedata.is_normalized("NFC", text)
        assert "  " not in text
        assert not {"\t", "\x07", "\u200b", "\u202e", "\x85"} & set(text)


def test_bare_text_knows_no_case_and_no_punctuation():
    assert bare("„Straße“, isn't it?!") == bare("STRASSE isn T IT") == "strasse isn t it"
    assert bare("...") == ""


def test_chinese_words_are_counted_by_characters():
    assert n_words("one two three", "en") == 3
    assert n_words("漢" * 17, "zh") == pytest.approx(10)
    assert length("漢" * 17, "zh") == pytest.approx(length("a" * 50, "en"))


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Straße nach Łódź", "de", True),
        ("Der Name Москва steht hier oft genug.", "de", True),
        ("连接到 API", "de", False),
        ("Привет", "de", False),
        ("Hello there", "zh", False),
        ("使用 GitHub 和 Python", "zh", True),
        ("ありがとう", "ja", True),
        ("555-1234", "zh", True),
    ],
)
def test_the_script_of_a_text_is_told_by_most_of_its_words(text, language, expected):
    assert is_in_script(text, language) is expected


def test_every_writing_knows_its_own_letters():
    samples = {
        "ar": "سلام", "bg": "да", "el": "ναί", "he": "כן", "hi": "नमस्ते", "ko": "한국", "ro": "țară",
    }  # fmt: skip
    assert all(ORTHOGRAPHIES[language].letters.search(text) for language, text in samples.items())
    assert all(is_in_script(text, language) for language, text in samples.items())


@pytest.mark.parametrize(
    ("text", "language", "expected"),
    [
        ("Qu’est-ce que c’est?", "fr", "Qu'est-ce que c'est ?"),
        ("Voici: 20% à 9:30 sur a.b/c?d=1!", "fr", "Voici : 20 % à 9:30 sur a.b/c?d=1 !"),
        ("«Oui», dit-il ; non !", "fr", "« Oui », dit-il ; non !"),
        ("Creció un 20%.", "es", "Creció un 20 %."),
        ("20%, ’s ist?", "de", "20%, ’s ist?"),
    ],
)
def test_a_language_is_spelt_in_one_way(text, language, expected):
    assert spelt(text, language) == expected
    assert spelt(expected, language) == expected
