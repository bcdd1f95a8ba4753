import functools
import random
import unicodedata

import numpy as np
import pytest

from engine.text.prompt import word_ids
from engine.text.source import heard
from engine.text.tokenizer import Detokenizer
from engine.text.written import RUN, HarmfulWords, says_other
from engine.translation.constraints import Constraints
from engine.translation.copies import ADDRESS_BONUS, NAME_BONUS, VERBATIM_BONUS
from training.trainer.tokenizer import END_OF_WRITE, train_tokenizer

LINES = (
    "Der Umsatz wuchs um 12,5 Prozent auf 4.200 Euro. Wir treffen uns um 9:30 Uhr.",
    "Papadopoulos schreibt an anna.berg@example.org und https://example.net/r42 .",
    "Sie wollen sich umbringen. Ermordet wurde niemand. Wir brauchen Brandenburg und Brand.",
)


@functools.cache
def tokenizer():
    return train_tokenizer([*LINES] * 20, vocabulary=420, languages=["de"])


@pytest.fixture
def constraints():
    return Constraints(tokenizer(), tokenizer().backend_tokenizer, "de")


def logits(*wanted):
    """Logits of which these ids have the highest, in their order; the rest are far below."""
    values = np.full(len(tokenizer()), -50.0, dtype=np.float32)
    for n, id_ in enumerate(wanted):
        values[id_] = -float(n)
    return values


def write(constraints, source, wish):
    """Let a model that wants to write one text write under the constraints."""
    stream, caption, ids = (
        Detokenizer(tokenizer().backend_tokenizer),
        "",
        word_ids(tokenizer(), wish),
    )
    end = tokenizer().convert_tokens_to_ids(END_OF_WRITE)
    for id_ in [*ids, end]:
        values = logits(id_, end)
        chosen = constraints.choose(id_, values, heard(source), caption)
        if chosen == end:
            break
        caption += stream.feed(chosen)
    return caption


@pytest.mark.parametrize(
    ("source", "caption"),
    [
        ("It grew by 12.5 percent", "wuchs um 12,5 Prozent"),
        ("We meet at 9:30", "um 9:30 Uhr"),
        ("We meet at 9:30", "um 9 Uhr 30"),
        ("We meet at 3:30 pm", "um 15 Uhr 30"),
        ("It is nine thirty", "um 9 Uhr 30"),
        ("At half past nine", "um halb zehn"),
        ("4200 euros", "4.200 Euro"),
        ("It is X7kQ9.", "Es ist X7kQ9"),
        ("Nobody was murdered", "Ermordet wurde niemand"),
    ],
)
def test_what_the_source_says_is_written_as_the_model_wants(constraints, source, caption):
    assert write(constraints, source, caption) == caption


@pytest.mark.parametrize(
    ("source", "caption"),
    [
        ("It grew by 12 percent", "wuchs um 12,5 Prozent"),
        ("It grew", "wuchs um 4.200 Euro"),
        ("We meet at 9:30", "um 9:30 Uhr um 9:30 Uhr"),
        ("At half past nine", "um halb neun"),
        ("They want to join", "Sie wollen sich umbringen"),
    ],
)
def test_what_the_source_does_not_say_is_not_written(constraints, source, caption):
    written = write(constraints, source, caption)
    assert written != caption
    assert all(run in caption for run in RUN.findall(written))


def test_hours_and_money_are_written_only_where_a_number_may_be_such(constraints):
    assert write(constraints, "We meet at nine", "um neun Uhr") == "um neun Uhr"
    assert write(constraints, "She ate nine", "um neun Uhr") == "um neun"
    assert write(constraints, "They grew by 12", "um 12 Euro") == "um 12"
    assert write(constraints, "They cost 12", "um 12 Euro") == "um 12 Euro"


def test_an_ordinal_of_another_number_is_not_written():
    source = heard("the 89th minute")
    assert says_other("en el quinto", source.numbers, [0], "es")
    assert not says_other("en el quinto", heard("the 5th minute").numbers, [0], "es")
    assert says_other("el tercer", heard("the 23rd of May").numbers, [0], "es")


def test_a_number_in_words_is_judged_behind_the_last_number_of_the_source():
    assert says_other("bis 11 Uhr, von zwei", heard("until 11 a.m.").numbers, [], "de")
    assert not says_other("bis 11, und zwei", heard("until 11 and two").numbers, [], "de")


def test_half_of_the_sign_of_a_unit_may_stand_behind_its_number(constraints):
    half, other = tokenizer().backend_tokenizer.encode("°", add_special_tokens=False).ids[0], 5
    values = logits(half, other)
    assert constraints.choose(half, values, heard("It is 12 °C"), "12") == half
    assert constraints.choose(half, values, heard("It is 12"), "12") == other


def test_a_number_is_written_to_its_end(constraints):
    one, end = tokenizer().convert_tokens_to_ids(["1", END_OF_WRITE])
    two = tokenizer().convert_tokens_to_ids("2")
    assert constraints.choose(end, logits(end, one, two), heard("12 percent"), "um 1") == two


def test_a_number_that_the_model_gets_wrong_becomes_the_one_of_the_source(constraints):
    one, two, three = tokenizer().convert_tokens_to_ids(["1", "2", "3"])
    assert constraints.choose(one, logits(one, two, three), heard("3 of 4"), "von ") == three


@pytest.mark.parametrize(
    ("word", "bonus"),
    [
        ("anna.berg@example.org", ADDRESS_BONUS),
        ("https://example.net/r42", ADDRESS_BONUS),
        ("umsatz_neu.pdf", ADDRESS_BONUS),
        ("zentrix.de", ADDRESS_BONUS),
        ("p4ssW0rd9", ADDRESS_BONUS),
        ("BRANDENBURG", VERBATIM_BONUS),
    ],
)
def test_what_is_never_translated_is_copied_even_if_the_model_would_rather_not(
    constraints, word, bonus
):
    ids = word_ids(tokenizer(), word)
    begun = tokenizer().decode(ids[:2]).strip()
    other = tokenizer().convert_tokens_to_ids("x")
    values = logits(other)
    values[ids[2]] = -bonus + 0.1
    assert constraints.choose(other, values, heard(f"Write to {word}."), f"An {begun}") == ids[2]
    values[ids[2]] = -bonus - 0.1
    assert constraints.choose(other, values, heard(f"Write to {word}."), f"An {begun}") == other


def test_an_address_that_was_not_begun_is_begun_where_the_model_writes_its_marks(constraints):
    at, dot = (tokenizer().convert_tokens_to_ids(mark) for mark in "@.")
    first = word_ids(tokenizer(), "anna.berg@example.org")[0]
    source = "Write to anna.berg@example.org today."
    assert constraints.choose(at, logits(at), heard(source), "Schreiben Sie an") == first
    assert constraints.choose(at, logits(at), heard(source), "Schreiben Sie an anna.berg") == at
    assert constraints.choose(at, logits(at), heard(source), "An anna.berg@example.org und x") == at
    assert (
        constraints.choose(dot, logits(dot), heard(source), "Schreiben Sie") == dot
    )  # ends a sentence


def test_a_name_is_copied_where_the_model_finds_it_nearly_as_likely(constraints):
    ids = word_ids(tokenizer(), "Kowalczyk")
    begun = tokenizer().decode(ids[:3]).strip()
    other = tokenizer().convert_tokens_to_ids("x")
    values = logits(other)
    values[ids[3]] = -NAME_BONUS + 0.1
    source = "Have you met Kowalczyk?"
    assert constraints.choose(other, values, heard(source), f"Frau {begun}") == ids[3]
    assert constraints.choose(other, values, heard(source), "Kowalczyk und P") == other
    assert constraints.choose(other, values, heard("Kowalczyk is here."), begun) == other


@pytest.mark.parametrize("name", ["Łukasz", "Žižek", "Mašek", "Şahin"])
def test_a_name_is_copied_with_the_marks_of_its_letters(constraints, name):
    ids, source = word_ids(tokenizer(), name), heard(f"We met Mrs. {name}.")
    bare = unicodedata.normalize("NFD", name.replace("Ł", "L"))[0]
    plain = ids[:1] if bare == name[0] else word_ids(tokenizer(), bare)
    stream, caption, target = Detokenizer(tokenizer().backend_tokenizer), "", []
    for n, id_ in enumerate(ids):
        other = tokenizer().convert_tokens_to_ids("x") if n else plain[-1]
        values = np.full(len(tokenizer()), -50.0, dtype=np.float32)
        values[id_], values[other] = -1.0, 0.0
        assert constraints.choose(other, values, source, caption, target) == id_
        caption += stream.feed(id_)
        target.append(id_)
    assert caption == name


@pytest.mark.parametrize(
    ("source", "written", "piece", "is_allowed"),
    [
        ("The train leaves at 2:19 p.m.", "Um 2", "T", False),
        ("We have 5G now.", "Wir haben 5", "G", True),
        ("It has 12 GB.", "Es hat 12", "G", False),
    ],
)
def test_letters_stand_behind_digits_in_codes_alone(
    constraints, source, written, piece, is_allowed
):
    id_ = tokenizer().encode(piece)[0]
    values = logits(id_, tokenizer().convert_tokens_to_ids("."))
    assert (constraints.choose(id_, values, heard(source), written) == id_) is is_allowed


def test_a_name_behind_an_apostrophe_is_copied_without_a_blank(constraints):
    source, caption = "John from Papadopoulos", "Jean d'"
    encoded = tokenizer().encode("Papadopoulos", add_special_tokens=False)
    apart = word_ids(tokenizer(), "Papadopoulos")
    other = tokenizer().encode("x", add_special_tokens=False)[0]
    for n, id_ in enumerate(encoded):
        begun = tokenizer().decode(encoded[:n])
        values = logits(other)
        values[id_] = -(NAME_BONUS if n else NAME_BONUS / 4) + 0.1
        chosen = constraints.choose(other, values, heard(source), caption + begun)
        assert (chosen, apart[0] != encoded[0]) == (id_, True)
    values = logits(other)
    values[encoded[1]] = 0.1 - NAME_BONUS
    assert constraints.choose(other, values, heard(source), "Jean d'ici") == other


def test_whatever_a_model_wants_numbers_are_the_sources_and_nothing_harms(constraints):
    rng = random.Random(3)
    harmful = HarmfulWords("de")
    sources = ("Revenue of 1,250 in 2019", "We meet at 10:15", "no number at all", "3 of 10 passed")
    allowed = ({"1250", "1.250", "2019"}, {"10:15", "10.15", "10", "15"}, set(), {"3", "10"})
    for source, numbers in zip(sources, allowed, strict=True):
        for _ in range(8):
            stream, caption = Detokenizer(tokenizer().backend_tokenizer), ""
            for _ in range(40):
                values = np.array(
                    [rng.gauss(0, 3) for _ in tokenizer().get_vocab()], dtype=np.float32
                )
                id_ = constraints.choose(int(values.argmax()), values, heard(source), caption)
                caption += stream.feed(id_)
            runs = RUN.findall(caption[: caption.rfind(" ")])
            assert set(runs) <= numbers, caption
            assert not harmful.holds(caption, harmful.barred(source.split()))


def test_ids_that_may_not_be_chosen_stay_so(constraints):
    one, two = tokenizer().convert_tokens_to_ids(["1", "2"])
    values = np.full(len(tokenizer()), -np.inf, dtype=np.float32)
    values[[one, two]] = [1.0, 0.5]
    assert constraints.choose(one, values, heard("no number"), "um ") == one


def test_a_number_is_not_left_unfinished_at_its_point(constraints):
    end = tokenizer().convert_tokens_to_ids(END_OF_WRITE)
    (zero,) = word_ids(tokenizer(), "x0")[-1:]
    values = logits(end, zero)
    assert constraints.choose(end, values, heard("4,200,000 euros"), "4.20") == zero
    assert constraints.choose(end, values, heard("4,200,000 euros"), "4.200.") == zero
    assert constraints.choose(end, values, heard("It costs 5."), "Es kostet 5.") == end


def test_a_source_whose_words_are_not_known_bars_no_number_and_no_word():
    free = Constraints(tokenizer(), tokenizer().backend_tokenizer, "de", reads_english=False)
    for source, caption in (
        ("Rosło o dwanaście i pół procent", "wuchs um 12,5 Prozent"),
        ("Nikt nie został zamordowany", "Ermordet wurde niemand"),
    ):
        assert write(free, source, caption) == caption
    address = "anna.berg@example.org"
    ids = word_ids(tokenizer(), address)
    other = tokenizer().convert_tokens_to_ids("x")
    values = logits(other)
    values[ids[2]] = -ADDRESS_BONUS + 0.1
    begun = tokenizer().decode(ids[:2]).strip()
    assert free.choose(other, values, heard(f"Proszę pisać na {address}."), f"An {begun}") == ids[2]


@pytest.mark.parametrize(
    ("caption", "piece", "completes"),
    [
        ("wuchs auf 22", ".", True),
        ("wuchs auf 22.", "9", True),
        ("wuchs auf 22.90", "0", True),
        ("wuchs auf 22.900", "0", False),
        ("wuchs auf 22.900", ",", False),
        ("wuchs auf 22-", ".", False),
        ("wuchs auf 22", "a", False),
        ("wuchs auf 22", "8", False),
        ("wuchs auf", "2", False),
    ],
)
def test_a_number_is_completed_only_by_its_own_next_characters(
    constraints, caption, piece, completes
):
    id_ = tokenizer().convert_tokens_to_ids(piece)
    assert tokenizer().decode([id_]) == piece
    assert constraints.completes_number(id_, heard("grew to 22,900"), caption) == completes
