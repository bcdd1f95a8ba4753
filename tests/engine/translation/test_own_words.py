"""Translations of a glossary stand in place of the model's own words for its terms."""

import random

import pytest

from engine.hub.catalogue import bundled_models
from engine.runtime.loader import load_weights
from engine.settings import ModelSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.own_words import HeardTerm, OwnWords, TermWriter
from engine.translation.slot_translator import Translator
from tests.support.commands import bare
from tests.support.fakes import WORD_FOR_WORD, hashing_translator, obey, play, word_for_word

SERVER = HeardTerm("Rechenknecht", 1, (("Server",),))
CUSTOMER = HeardTerm("Auftraggeber", 1, (("Kunde",), ("Kunden",)))
HEAD = HeardTerm("Präsident", 1, (("Kopf", "des", "Staates"),))
MAIL = HeardTerm("Elektropost", 1, (("E", "Mail"),))
TODAY = HeardTerm("heutzutage", 1, (("heute",),))


def written(text, *terms):
    writer = TermWriter()
    return writer.feed(text, terms) + writer.flush(terms)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("Der Server ist langsam.", "Der Rechenknecht ist langsam."),
        ("Die Größe des Servers.", "Die Größe des Rechenknecht."),
        ("Server, bitte!", "Rechenknecht, bitte!"),
        ("Ein Serverraum und servieren", "Ein Serverraum und servieren"),
        ("Der Server, der Server", "Der Rechenknecht, der Server"),
        ("Die Kundschaft des Kunden", "Die Kundschaft des Auftraggeber"),
        ("Der Kopf des Staates kommt", "Der Präsident kommt"),
        ("Der Kopf des Hundes", "Der Kopf des Hundes"),
        ("Der Kopf des", "Der Kopf des"),
        ("Heute ist es so", "Heutzutage ist es so"),
        ("Es ist heute", "Es ist heutzutage"),
        ("Die E-Mail und der Server-Raum", "Die Elektropost und der Rechenknecht-Raum"),
        ("Die Rechenknechte und ein Server", "Die Rechenknechte und ein Server"),
    ],
)
def test_an_own_word_in_any_inflection_gives_way_as_often_as_the_term_was_heard(text, shown):
    assert written(text, SERVER, CUSTOMER, HEAD, TODAY, MAIL) == shown


def test_a_plural_that_only_changes_an_umlaut_is_the_same_word():
    contract = HeardTerm("Abkommen", 1, (("Vertrag",),))
    assert written("Die Verträge liegen hier", contract) == "Die Abkommen liegen hier"


def test_a_short_word_has_no_inflections():
    assert written("Eine Katze und ein Ei", HeardTerm("Gelege", 1, (("Ei",),))).endswith("Gelege")


def test_piece_by_piece_it_is_what_it_is_at_once_and_nothing_shown_changes():
    rng = random.Random(3)
    terms = (SERVER, CUSTOMER, HEAD, MAIL)
    text = "Server Servers Serverraum Kunde Kunden Kopf des Staates und E-Mail der, Rechenknecht."
    words = text.split()
    for _ in range(300):
        text = " ".join(rng.choices(words, k=8))
        writer, shown, rest = TermWriter(), "", text
        while rest:
            n = rng.randint(1, 5)
            shown += writer.feed(rest[:n], terms)
            rest = rest[n:]
        assert shown + writer.flush(terms) == written(text, *terms)


def test_what_may_be_an_own_word_waits_for_its_end_and_nothing_else_does():
    writer = TermWriter()
    assert writer.feed("Der", [SERVER]) == "Der"
    assert writer.feed(" Se", [SERVER]) == ""
    assert writer.feed("rver", [SERVER]) == ""
    assert writer.feed(" ist", [SERVER]) == " Rechenknecht ist"
    assert writer.feed(" Server", [SERVER]) == " Server"


def test_the_end_of_a_write_ends_a_word_and_what_follows_within_it_goes_with_it():
    writer = TermWriter()
    assert writer.feed("Der Server", [SERVER]) == "Der"
    assert writer.feed("", [SERVER], ends_word=True) == " Rechenknecht"
    assert writer.feed("n ist", [SERVER]) == " ist"


def test_a_term_is_translated_alone_once_and_its_article_left_out():
    asked = []
    answers = {"server": "Server", "the server": "Der Server.", "servers": "?"}

    def translate(text):
        asked.append(text)
        return answers[text]

    own = OwnWords((("server", "Rechenknecht"),), translate, reads_english=True)
    assert own.heard("No word of it.") == ()
    assert asked == []
    assert own.heard("The Server and servers") == (HeardTerm("Rechenknecht", 2, (("Server",),)),)
    assert own.heard("A server!") == (HeardTerm("Rechenknecht", 1, (("Server",),)),)
    assert sorted(asked) == ["server", "the server"]


@pytest.mark.parametrize("policy", ["read:3", "wait:2", "offline"])
def test_a_caption_that_was_edited_has_its_terms_as_if_it_had_been_so_from_the_start(policy):
    glossary = (("c", "Cäsar"), ("f", "Friedrich"))
    rng = random.Random(5)
    for _ in range(20):
        translator = hashing_translator(policy)
        obey(translator, word_for_word)
        own = OwnWords(glossary, WORD_FOR_WORD.__getitem__, reads_english=False)
        translator.own_words = lambda own=own: own
        utterance = play(translator, rng, 5, lambda rng: rng.choice("abcdefgh"))
        instead = WORD_FOR_WORD | dict(glossary)
        words = [instead[word] for word in utterance.words]
        if utterance.caption[:1].isupper():
            words[0] = words[0].capitalize()
        assert utterance.caption == " ".join(words)


def test_own_words_that_are_written_one_by_one_give_way_to_their_term():
    translator = hashing_translator("read:2")
    obey(translator, word_for_word)
    own = OwnWords(
        (("c d", "Cäsar"),),
        lambda text: " ".join(map(WORD_FOR_WORD.__getitem__, text.split())),
        reads_english=False,
    )
    translator.own_words = lambda: own
    utterance = translator.open()
    utterance.set_source(bare(list("abcdef"), ended=True))
    shown = "".join(change.text for change in changes(utterance))
    assert shown == utterance.caption == "ae bd Cäsar ed fh"


def test_the_bundled_model_writes_the_terms_of_a_glossary():
    weights = load_weights(ModelSettings(directory=bundled_models()[0], device="cpu"))
    glossary = (("server", "Rechenknecht"), ("customer", "Auftraggeber"))
    engine = Translator(weights, TranslationSettings(glossary=glossary), capacity=512)
    captions = []
    for line in ("The server is slow today.", "We should talk to the customer first."):
        utterance = engine.open()
        utterance.set_source(bare(line.split(), ended=True))
        list(changes(utterance))
        captions.append(utterance.caption)
    assert "Rechenknecht" in captions[0]
    assert "Server" not in captions[0]
    assert "Auftraggeber" in captions[1]
