"""Terms of a glossary become words of the caption, without anything in the prompt."""

import functools

import numpy as np
import pytest

from engine.errors import ContextError
from engine.settings import TranslationSettings
from engine.text.glossary import LONGEST, MAX_TERMS, TermFinder
from engine.text.prompt import word_ids
from engine.text.source import heard
from engine.text.tokenizer import Detokenizer
from engine.translation.constraints import Constraints
from engine.translation.copies import SECOND_BONUS, TERM_BONUS
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.commands import bare
from tests.support.fakes import hashing_translator, tiny_weights
from training.trainer.tokenizer import END_OF_WRITE, train_tokenizer

LINES = (
    "Der Umsatz wuchs im Fenster. Wir treffen uns am Montag im Haus der Vereinigten Staaten.",
    "Das Buch liegt auf dem Tisch, und die Hausaufgabe ist heute fertig.",
)
GLOSSARY = (("window", "Fenster"), ("head of state", "Staatsoberhaupt"), ("today", "heutzutage"))


@functools.cache
def tokenizer():
    return train_tokenizer([*LINES] * 20, vocabulary=420, languages=["de"])


@pytest.fixture
def constraints():
    return Constraints(tokenizer(), tokenizer().backend_tokenizer, "de", GLOSSARY)


def ids_of(text):
    return [id_ for word in text.split() for id_ in word_ids(tokenizer(), word)]


def chosen(constraints, source, caption, proposed, rival, value, *, begun=0):
    """Return whether the token of a rival word is written in place of the proposed one.

    ``begun`` tokens of the rival stand at the caption's end already.
    """
    ids = ids_of(rival)
    target = ids_of(caption) + ids[:begun]
    text = caption + "".join(map(Detokenizer(tokenizer().backend_tokenizer).feed, ids[:begun]))
    values = np.full(len(tokenizer()), -50.0, dtype=np.float32)
    values[ids[begun]] = value
    values[proposed] = 0.0
    id_ = constraints.choose(proposed, values, heard(source), text, target)
    assert id_ in (proposed, ids[begun])
    return id_ != proposed


def first(word):
    return ids_of(word)[0]


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("Open the Window!", ["Fenster"]),
        ("two windows, one window", ["Fenster", "Fenster"]),
        ("the window's frame", ["Fenster"]),
        ("windowless, windowed", []),
        ("the head of state and the state", ["Oberhaupt", "Staat"]),
        ("a head, of state", ["Kopf", "Staat"]),
        ("NASA and nasa, two NASAs", ["Nasa", "Nasa"]),
    ],
)
def test_terms_are_found_as_whole_words_the_longest_first(source, found):
    glossary = (
        ("window", "Fenster"),
        ("state", "Staat"),
        ("head of  state", "Oberhaupt"),
        ("head", "Kopf"),
        ("NASA", "Nasa"),
    )
    assert list(TermFinder(glossary).found(source.split())) == found


def test_of_two_terms_alike_the_first_counts_and_punctuation_is_none():
    finder = TermFinder((("a", "x"), ("a", "y"), ("?", "z")))
    assert list(finder.found(["a", "?"])) == ["x"]


def test_a_term_takes_the_place_of_a_word_that_is_not_much_likelier(constraints):
    window = "Open the window"
    near, far = -TERM_BONUS + 0.1, -TERM_BONUS - 0.1
    assert chosen(constraints, window, "Das", first("Haus"), "Fenster", near)
    assert not chosen(constraints, window, "Das", first("Haus"), "Fenster", far)
    assert not chosen(constraints, "Open the door", "Das", first("Haus"), "Fenster", near)
    end = tokenizer().convert_tokens_to_ids(END_OF_WRITE)
    assert chosen(constraints, window, "Das", end, "Fenster", near)


def test_a_term_takes_no_place_of_an_article_and_begins_within_no_word(constraints):
    window = "Open the window"
    assert not chosen(constraints, window, "Wir", first("der"), "Fenster", -0.1)
    within = next(
        i
        for i, t in enumerate(tokenizer().convert_ids_to_tokens(range(420)))
        if t.isalpha() and t.isascii()
    )
    assert not chosen(constraints, window, "Das", within, "Fenster", -0.1)


def test_a_term_is_written_to_its_end_once_two_tokens_are_there(constraints):
    source, word = "The head of state", "Staatsoberhaupt"
    assert len(ids_of(word)) > 3
    other = first("Haus")
    assert chosen(constraints, source, "Das", other, word, -SECOND_BONUS + 0.1, begun=1)
    assert not chosen(constraints, source, "Das", other, word, -SECOND_BONUS - 0.1, begun=1)
    for begun in range(2, len(ids_of(word))):
        assert chosen(constraints, source, "Das", other, word, -49.0, begun=begun)


def test_a_term_is_written_as_often_as_the_source_has_it(constraints):
    near, other = -0.1, first("Haus")
    assert not chosen(constraints, "the window", "Das Fenster", other, "Fenster", near)
    assert not chosen(constraints, "the window", "Das Fensterglas", other, "Fenster", near)
    assert chosen(constraints, "window by window", "Das Fenster", other, "Fenster", near)


def test_a_term_with_an_ending_is_let_be(constraints):
    glossary = (("house", "Hau"),)
    constraints = Constraints(tokenizer(), tokenizer().backend_tokenizer, "de", glossary)
    assert tokenizer().decode([first("Haus")]).strip() == "Haus"
    assert not chosen(constraints, "the house", "Das", first("Haus"), "Hau", -0.1)


def test_the_first_word_of_a_caption_has_a_capital(constraints):
    ids = ids_of("Heutzutage")
    values = np.full(len(tokenizer()), -50.0, dtype=np.float32)
    values[first("Das")], values[ids[0]] = 0.0, -0.1
    assert constraints.choose(first("Das"), values, heard("Today"), "", ()) == ids[0]
    values[ids[2]] = -49.0
    text = tokenizer().decode(ids[:2]).strip()
    assert constraints.choose(first("Das"), values, heard("Today"), text, ids[:2]) == ids[2]


def test_a_token_that_may_not_be_chosen_is_no_part_of_a_term(constraints):
    other, word = first("Haus"), "Staatsoberhaupt"
    for begun in (0, 2):
        source = "The head of state"
        assert not chosen(constraints, source, "Das", other, word, -float("inf"), begun=begun)


def test_a_model_trained_for_slots_gets_terms_by_rules_and_its_prompt_stays(monkeypatch):
    monkeypatch.setattr("engine.translation.copies.TERM_BONUS", 1e9)
    monkeypatch.setattr("engine.translation.copies.SECOND_BONUS", 1e9)
    weights = tiny_weights()
    plain, engine = (Translator(weights, TranslationSettings(), capacity=256) for _ in "ab")
    engine.configure(TranslationSettings(glossary=(("ab", "fedcba"),)))
    assert engine.prompt == plain.prompt
    assert engine.context_rows == 0
    captions = []
    for one in (plain, engine):
        utterance = one.open()
        utterance.set_source(bare("gh ab cd ef ab.".split(), ended=True))
        list(changes(utterance))
        captions.append(utterance.caption)
    assert [caption.lower().count("fedcba") for caption in captions] == [0, 2]


@pytest.mark.parametrize(
    "glossary",
    [
        tuple((f"term{n}", "x") for n in range(MAX_TERMS + 1)),
        (("x" * (LONGEST + 1), "y"),),
        (("x", "y" * (LONGEST + 1)),),
    ],
)
def test_a_glossary_that_is_too_large_is_refused_and_the_old_one_stays(glossary):
    engine = hashing_translator()
    before = engine.constraints
    with pytest.raises(ContextError, match=f"at most {MAX_TERMS} terms of {LONGEST} characters"):
        engine.configure(TranslationSettings(glossary=glossary))
    assert engine.constraints is before
