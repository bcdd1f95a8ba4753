import random
from itertools import islice

import pytest

from training.data.augmentation import Entry, NounSwap, in_sentences, read_lexicon
from training.data.corpus import SentencePair

LEXICON = """\
customer\tder Kunde\tnoun\tomw-wiktionary+corpus
customer\tder Abnehmer\tnoun\tomw-wiktionary
screen\tder Bildschirm\tnoun\tcorpus
employee\tder Angestellter\tnoun\tomw-wiktionary+corpus
employee\tdie Angestellte\tnoun\tomw-wiktionary+corpus
quarter\tdas/der Viertel\tnoun\tomw-wiktionary
quarter\tunterbringen\tverb\tomw-wiktionary
invoice\tdie Rechnung\tnoun\tomw-wiktionary+corpus
apple\tder Apfel\tnoun\tcorpus
new\tneu\tadjective\tcorpus
"""


@pytest.fixture
def entries(tmp_path):
    path = tmp_path / "lexicon.tsv"
    path.write_text(LEXICON, encoding="utf-8")
    return {(entry.source, entry.kind): entry for entry in read_lexicon(path)}


def swapped(entries, source, target, seed=1):
    return NounSwap(list(entries.values()))(
        SentencePair(source, target, "real"), random.Random(seed)
    )


def test_a_word_has_the_translation_that_pairs_confirm_and_a_noun_its_gender(entries):
    assert entries["customer", "noun"] == Entry("customer", "Kunde", "noun", "m", confirmed=True)
    assert entries["quarter", "verb"] == Entry(
        "quarter", "unterbringen", "verb", "", confirmed=False
    )


def test_nouns_of_two_genders_or_bent_like_adjectives_are_left_out(entries):
    assert ("quarter", "noun") not in entries
    assert entries["employee", "noun"].target == "Angestellte"


def test_a_weak_noun_is_bent_where_its_case_asks_for_it(entries):
    made = {
        pair.source: pair.target
        for pair in in_sentences([entries["customer", "noun"]], 99, random.Random(1))
    }
    assert made["Where is the customer?"] == "Wo ist der Kunde?"
    assert made["We need a new customer."] == "Wir brauchen einen neuen Kunden."
    assert made["What should we do with the customer?"] == "Was sollen wir mit dem Kunden machen?"


def test_unconfirmed_words_come_once_confirmed_ones_as_often_as_asked(entries):
    words = [entries["quarter", "verb"], entries["new", "adjective"]]
    made = [pair.source for pair in in_sentences(words, 3, random.Random(1))]
    assert sum("quarter" in text for text in made) == 1
    assert sum("new" in text for text in made) == 3


def test_a_noun_gives_way_to_one_of_its_gender_on_both_sides(entries):
    for seed in range(20):
        pair = swapped(
            entries, "I bought a new screen.", "Ich kaufte einen neuen Bildschirm.", seed
        )
        assert (pair.source, pair.target) in {
            ("I bought a new screen.", "Ich kaufte einen neuen Bildschirm."),
            ("I bought a new apple.", "Ich kaufte einen neuen Apfel."),
        }


def test_the_article_before_a_swapped_noun_fits_it(entries):
    sources = {
        swapped(entries, "This is a screen.", "Das ist ein Bildschirm.", seed).source
        for seed in range(20)
    }
    assert sources == {"This is a screen.", "This is an apple."}


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("Two screens.", "Zwei Bildschirme."),  # another form
        ("The screen.", "Der Schirm."),  # another translation
        ("The customer pays.", "Der Kunde zahlt."),  # bent in other cases
        ("The screen of the screen", "Der Bildschirm des Bildschirm"),
    ],
)
def test_what_may_be_another_noun_stays(entries, source, target):
    assert swapped(entries, source, target) is None


def test_equal_seeds_make_equal_sentences(entries):
    one, other = (
        list(islice(in_sentences(list(entries.values()), 2, random.Random(5)), 20))
        for _ in range(2)
    )
    assert one == other
