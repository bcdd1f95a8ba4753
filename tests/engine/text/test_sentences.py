import random

import pytest

from engine.settings import UtteranceLimits
from engine.text.sentences import (
    Sentence,
    SourceLanguage,
    committed_words,
    ends_sentence,
    is_strange,
    split_sentences,
    without_full_stop,
    word_parts,
)

WORDS = [
    "I", "saw", "Dr.", "Smith,", "at", "3.5", "p.m.", "today.", "Really?", '"Yes!"', "U.S.",
    "well...", "e.g.", "漢字。", "and", "so", "on;", "https://a.de/b.html", "🙂", "x" * 170,
    "é" * 200, "🙂" * 90,
]  # fmt: skip


def texts(sentences):
    return [" ".join(sentence.words) for sentence in sentences]


def split(text, *, finished=False, **limits):
    return split_sentences(text.split(), UtteranceLimits(**limits), finished=finished)


def random_case(seed):
    rng = random.Random(seed)
    soft = rng.randint(1, 12)
    limits = UtteranceLimits(
        soft_words=soft,
        max_words=rng.randint(soft, 16),
        max_bytes=rng.choice([8, 40, 200, 400]),
    )
    return [rng.choice(WORDS) for _ in range(rng.randrange(40))], limits


@pytest.mark.parametrize(
    "word",
    ["done.", "done!", "done?", "what?!", "well...", "well…", 'said."', "said.”", "said.»",
     "(done.)", "[1].", "漢字。", "何？", "7.", "2024.", "No.", "no.", "https://example.org/.",
     "e-mail.", "!", "?", "it."],
)  # fmt: skip
def test_a_word_with_final_punctuation_ends_a_sentence(word):
    assert ends_sentence(word)


@pytest.mark.parametrize(
    "word",
    ["done", "done,", "done;", "3.5", "3,5", ".5", "v2.0", "Mr.", "mr.", "Dr.", '"Dr.', "(Prof.",
     "St.", "etc.", "e.g.", "i.e.", "(e.g.", "U.S.", "U.S.A.", "p.m.", "a.m.", "J.", "Jan.", "vs.",
     "https://example.org", "example.com/a?b=c", "what?no", "a.b", "", "-", '"'],
)  # fmt: skip
def test_any_other_word_does_not(word):
    assert not ends_sentence(word)


def test_a_text_is_cut_at_its_sentence_ends():
    sentences = split('He said "No." Dr. Smith paid 3.5 million. And then')
    assert texts(sentences) == ['He said "No."', "Dr. Smith paid 3.5 million.", "And then"]
    assert [sentence.ended for sentence in sentences] == [True, True, False]


def test_the_last_sentence_ends_when_the_text_is_finished():
    (sentence,) = split("And then", finished=True)
    assert sentence.ended


@pytest.mark.parametrize(
    ("word", "full_stop"),
    [("came", "."), ("came,", "."), ('"came"', "."), ("7", "."), ("🙂", "."), ("Москва", "."),
     ("来た", "。"), ("你好", "。"), ("カタカナ", "。"), ("नमस्ते", "।"), ("came.", ""),
     ("came?", ""), ("etc.", ""), ("U.S.", ""), ("何？", ""), ("漢字。", ""),
     ("「漢字。」", ""), ("नमस्ते।", "")],
)  # fmt: skip
def test_a_sentence_that_ended_without_a_mark_lacks_that_of_its_script(word, full_stop):
    assert Sentence(("We", word), ended=True).full_stop == full_stop
    assert Sentence(("We", word), ended=False).full_stop == ""
    assert Sentence(("We", word), ended=True).end_alone is not ends_sentence(word)
    assert not Sentence(("We", word), ended=False).end_alone


@pytest.mark.parametrize(
    ("text", "strange"),
    [("Good morning", False), ("Ça va, Jürgen?", False), ("Hello 😀", False), ("42", False),
     ("3.5 %", False), ("Москва is the capital", False), ("😀", True), ("🙂 👩‍👩‍👧 🇩🇪.", True),
     ("!", True), ("صباح الخير", True), ("בוקר טוב", True), ("おはよう", True),
     ("ok, доброе утро", True)],
)  # fmt: skip
def test_what_is_mostly_in_no_latin_letters_cannot_be_read(text, strange):
    assert is_strange(text.split()) is strange


def test_one_full_stop_is_cut_off_and_no_other_mark():
    assert without_full_stop("kamen.") == "kamen"
    assert without_full_stop("来ました。") == "来ました"
    for text in ("", "kamen", "kamen...", "kamen?", "3.5", 'kam."'):
        assert without_full_stop(text) == text


def test_no_words_are_no_sentence():
    assert split("") == split("", finished=True) == []


def test_a_long_text_is_cut_at_a_comma_and_without_one_at_the_limit():
    limits = {"soft_words": 3, "max_words": 5}
    assert texts(split("a, b c, d e f g h i", **limits)) == ["a, b c,", "d e f g h", "i"]
    assert [s.ended for s in split("a b c d e", **limits)] == [True]


def test_an_utterance_stays_under_its_bytes():
    assert texts(split("aaa bbb ccc", max_bytes=8)) == ["aaa bbb", "ccc"]
    assert texts(split("漢漢 漢", max_bytes=8)) == ["漢漢", "漢"]


def test_a_word_of_absurd_length_is_cut_into_parts_that_join_again():
    for word in ("x" * 161, "é" * 100, "🙂" * 41, "x" * 5000):
        parts = word_parts(word)
        assert len(parts) > 1
        assert "".join(parts) == word
        assert max(len(part.encode()) for part in parts) <= 160
    assert word_parts("x" * 160) == ["x" * 160]


def test_nothing_is_lost_and_nothing_is_added():
    for seed in range(200):
        words, limits = random_case(seed)
        sentences = split_sentences(words, limits, finished=False)
        parts = [part for sentence in sentences for part in sentence.words]
        assert parts == [part for word in words for part in word_parts(word)]


def test_no_sentence_is_empty_and_only_the_last_is_open():
    for seed in range(200):
        words, limits = random_case(seed)
        sentences = split_sentences(words, limits, finished=False)
        assert all(sentence.words for sentence in sentences)
        assert all(sentence.ended for sentence in sentences[:-1])


def test_no_sentence_is_over_the_limits():
    for seed in range(200):
        words, limits = random_case(seed)
        for sentence in split_sentences(words, limits, finished=False):
            size = sum(len(word.encode()) + 1 for word in sentence.words)
            assert len(sentence.words) <= limits.max_words
            assert size <= limits.max_bytes or len(sentence.words) == 1


def test_more_words_never_change_a_sentence_that_has_ended():
    for seed in range(100):
        words, limits = random_case(seed)
        whole = split_sentences(words, limits, finished=False)
        for n_words in range(len(words)):
            sentences = split_sentences(words[:n_words], limits, finished=False)
            ended = [sentence for sentence in sentences if sentence.ended]
            assert whole[: len(ended)] == ended


def test_what_follows_a_sentence_is_cut_as_if_it_stood_alone():
    for seed in range(100):
        words, limits = random_case(seed)
        parts = [part for word in words for part in word_parts(word)]
        whole = split_sentences(parts, limits, finished=False)
        n_words = 0
        for index, sentence in enumerate(whole):
            assert split_sentences(parts[n_words:], limits, finished=False) == whole[index:]
            n_words += len(sentence.words)


ALPHABET = "ab  .é漢🙂\t\u3000\u00a0"


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


ENGLISH = """
I was in Die Hard with Hans Gruber, so he said.
The man from Den Haag also will come to La Paz.
Set an alarm for silence in two hours.
Berlin, Paris, Madrid, Rom, Amsterdam.
Der Spiegel and Le Monde wrote about it.
Can you play Despacito by Luis Fonsi?
Our house in Los Angeles has a view of the sea.
He ordered a crème brûlée and a café au lait.
Ja, ja, that is what they say in Berlin.
No, no, no.
We don't know, it's what she'd call a "je ne sais quoi".
Mr. van der Berg met Mrs. de la Cruz.
I like die cuts, war films and a hat.
""".strip().splitlines()


def told(sentences, expected="en"):
    """Return what was told after each sentence."""
    language = SourceLanguage(expected)
    return [language.feed(sentence.split()) for sentence in sentences]


@pytest.mark.parametrize(
    ("language", "sentences"),
    [
        ("de", ["Guten Morgen, heute haben wir zwei Punkte.", "Wie geht es Ihnen?"]),
        ("de", ["Guten Morgen zusammen.", "Wir sind heute nur zu zweit."]),
        ("fr", ["Bonjour, je suis très heureux d'être ici.", "C'est la première fois."]),
        ("es", ["Buenos días a todos.", "Hoy estamos aquí para hablar de las cifras."]),
        ("it", ["Buongiorno a tutti.", "Oggi non abbiamo molto tempo per questo."]),
        ("nl", ["Goedemorgen allemaal.", "We hebben het vandaag over de nieuwe cijfers."]),
    ],
)
def test_two_sentences_in_another_language_are_noticed(language, sentences):
    assert told([*ENGLISH, *sentences])[-1] == language


def test_names_and_quotations_in_english_are_no_other_language():
    assert set(told(ENGLISH * 3)) == {None}


def test_what_is_expected_is_not_noticed_whatever_language_it_is():
    german = ["Guten Morgen, heute haben wir zwei Punkte.", "Wie geht es Ihnen?"]
    assert told(german, "de") == [None, None]
    assert told([*german, "Hello, what did you say about the house?"] * 2, "de")[-1] is None
    assert told(["Hello, what did you say about the house that they have?"], "de") == ["en"]


def test_a_language_without_a_list_is_never_doubted():
    assert told(["Hello, what did you say about the house that they have?"], "ja") == [None]
