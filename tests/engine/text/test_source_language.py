"""A source in another language than expected is noticed by its most frequent words."""

import pytest

from engine.text.source_language import SourceLanguage

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
