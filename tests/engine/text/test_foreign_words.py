import pytest

from engine.text.foreign_words import split_foreign


@pytest.mark.parametrize(
    "word", ["Hello,", "café", "Übung", "20°C", "Surtitle™", "–", "…", "12%", "naïve"]
)
def test_words_of_the_latin_script_are_translated(word):
    assert split_foreign(word) == (word, "")


@pytest.mark.parametrize(
    "word", ["😀", "👍🏽", "🇩🇪", "❤️", "Привет,", "東京", "שלום", "👨‍👩‍👧!", "→✅"]
)
def test_emoji_and_other_scripts_are_passed_on(word):
    assert split_foreign(word) == ("", word)


def test_an_emoji_on_a_word_is_passed_on_alone():
    assert split_foreign("great👍🏽!") == ("great!", "👍🏽")


@pytest.mark.parametrize("word", ["Привет,", "東京", "שלום"])
def test_a_model_that_reads_any_script_translates_all_but_emoji(word):
    assert split_foreign(word, any_script=True) == (word, "")
    assert split_foreign(word + "😀", any_script=True) == (word, "😀")
    assert split_foreign("😀", any_script=True) == ("", "😀")
