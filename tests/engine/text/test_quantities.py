"""Numbers of an English text are read once, and never anew because of a word that comes later."""

import random

import pytest

from engine.text.quantities import Quantity, may_be_counted
from engine.text.source import heard, read_source
from engine.text.written import forms

WORDS = (
    "one two five nine twenty thirty-five hundred and thousand million billion point a half quarter"
    " past to at in the morning afternoon night from - – hundreds quarters of 5 12 9:30"
    " 9am a.m.–10 p.m. a.m. $7.5M 1,250 20€ 3-2"
    " percent dollars km o'clock nineteen eighty-four oh I saw no. 7. people, until STOP NOW We"
).split()


@pytest.mark.parametrize(
    ("source", "reads"),
    [
        ("nineteen eighty-four", "1984"),
        ("Twenty-five percent of the staff.", "25 percent of the staff."),
        ("at half past seven in the evening", "at 19:30"),
        ("He was born in nineteen sixty-nine.", "He was born in 1969."),
        ("two thousand and twenty-six people", "2026 people"),
        ("one point two billion dollars", "1.2 billion dollars"),
        ("two hundred and fifty people", "250 people"),
        ("in twenty twenty-six we met", "in 2026 we met"),
        ("one of them", "one of them"),
        ("a quarter to six", "a 5:45"),
        ("at a quarter to six", "at 5:45"),
        ("quarter to six instead of half past five.", "5:45 instead of 5:30."),
        ("at nine thirty", "at 9:30"),
        ("at 5 p.m. Bring", "at 17:00 Bring"),
        ("from 9 a.m. to 5 p.m. on weekdays", "from 9:00 to 17:00 on weekdays"),
        ("from 9am to 5pm.", "from 9:00 to 17:00."),
        ("9am-5pm daily", "9:00 to 17:00 daily"),
        ("We open at 9 a.m. and close at 6 p.m.", "We open at 9:00 and close at 18:00."),
        ("$7.5M last", "7.5 million dollars last"),
        (
            "from $5M to $7.5M last year.",
            "from 5 million dollars to 7.5 million dollars last year.",
        ),
        ("$20/hour now", "$20 per hour now"),
        ("£15/hour,", "£15 per hour,"),
        ("3-2 win", "3-2 win"),
        ("10km run", "10 km run"),
        ("192.168.178.1 is", "192.168.178.1 is"),
        (
            "1,250 tickets in 2024 and 1.5 million in total.",
            "1,250 tickets in 2024 and 1.5 million in total.",
        ),
        ("From 5,406 to 84,158 in 4 years.", "From 5,406 to 84,158 in 4 years."),
        ("five hundred million people", "500 million people"),
        ("a hundred and twenty people", "120 people"),
        ("a hundred of a kind", "100 of a kind"),
        ("two and a half million euros", "2.5 million euros"),
        ("two and a half hours", "two and a half hours"),
        ("twenty-first century", "21st century"),
        ("twenty first century", "21st century"),
        ("Chapter twenty-one.", "Chapter 21."),
        ("the 21st of May", "the 21st of May"),
        ("nineteen eighties", "1980s"),
        ("nineteen oh five", "1905"),
        ("20€ or 15£", "€20 or £15"),
        ("12.5 percent", "12.5 percent"),
        ("5 in the morning", "5 in the morning"),
        ("at 5 in the morning", "at 5:00"),
        ("between 2 and 4 p.m. today", "between 14:00 and 16:00 today"),
        ("10-15% off", "10-15% off"),
        ("-5 °C today", "-5 °C today"),
        ("-5°C", "-5 °C"),
        ("five people", "five people"),
        ("one million", "one million"),
        ("COVID-19 and B2B", "COVID-19 and B2B"),
        ("9 o'clock", "9:00"),
        ("nine o'clock", "nine o'clock"),
        ("at two o'clock in the morning", "at two o'clock in the morning"),
        ("10 past nine", "10 past nine"),
        ("five to six people", "five to six people"),
        ("at five to six", "at 5:55"),
        ("room no. 5 now", "room number 5 now"),
        ("one million two hundred thousand", "1,200,000"),
        ("three hundred thousand", "300,000"),
        ("seventy-five hundred", "7500"),
        ("2.5 GB", "2.5 GB"),
        ("100 km/h", "100 km/h"),
        ("5k runners", "5,000 runners"),
        ("10 million", "10 million"),
        ("5 m long", "5 m long"),
        ("Python 3.11", "Python 3.11"),
        ("0.5 percent", "0.5 percent"),
        ("$5-10 million", "5-10 million dollars"),
        ("2-4 p.m.", "14:00 to 16:00."),
        ("$1.2 trillion", "1.2 trillion dollars"),
        ("3.5 hours", "3.5 hours"),
        ("twelve fifty", "twelve fifty"),
        ("five million", "five million"),
        ("fifteen million", "15 million"),
        ("eighty chairs", "80 chairs"),
        ("at half twelve or half five", "at 12:30 or half five"),
        ("open 6 a.m.–10 p.m. daily", "open 6:00 to 22:00 daily"),
        ("in the nineteen hundreds", "in the 1900s"),
        ("half a million euros", "500,000 euros"),
        ("Three quarters of a billion people", "750 million people"),
        ("three quarters of them", "three quarters of them"),
        ("a $15-an-hour job", "a $15 per hour job"),
        ("Room nine is on page twelve", "Room 9 is on page 12"),
        ("minus thirty-four degrees", "-34 degrees"),
        ("it is minus five", "it is -5"),
        ("minus", "minus"),
        ("five minus two", "five minus two"),
        ("gate 7B of 2.5B people", "gate 7B of 2.5 billion people"),
        ("forty miles and 3.5 litres", "40 miles and 3.5 liters"),
        ("the eighteenth of March", "the 18th of March"),
        ("March ninth, 2021", "March 9th, 2021"),
        ("the ninth time", "the ninth time"),
        ("five billion", "5 billion"),
        ("at seven a.m. or seven p.m.", "at seven a.m. or 19:00."),
        ("in the 1990s and '80s", "in the 1990s and '80s"),
        ("20 EUR or $ 5", "€20 or $5"),
        ("$5–$10", "$5–10"),
        ("5 MB/s", "5 MB/s"),
        ("5G and 12V", "5G and 12V"),
        ("12 a.m.", "0:00."),
        ("12:30 a.m.", "0:30."),
    ],
)
def test_digits_and_words_have_one_form(source, reads):
    assert heard(source).text == reads


@pytest.mark.parametrize(
    ("source", "numbers"),
    [
        ("$7.5M last year", [Quantity("7.5", "million", "$")]),
        ("one point two billion euros", [Quantity("1.2", "billion", "€")]),
        ("5 p.m. and 12 a.m.", [Quantity("17", kind="hour", half="pm"),
                                Quantity("0", kind="hour", half="am")]),
        ("-5°C", [Quantity("5", unit="°C", sign="-")]),
        ("in nineteen eighty-four", [Quantity("1984", kind="exact")]),
        ("five of 401(k)", [Quantity("5", kind="word"), Quantity("401", kind="exact")]),
        ("version 3.11", [Quantity("3.11", kind="point")]),
        ("PHP 8.2", [Quantity("8.2", kind="point")]),
        ("of 10-15%", [Quantity("10-15", unit="%")]),
    ],
)  # fmt: skip
def test_scale_unit_and_half_of_the_day_belong_to_a_number(source, numbers):
    assert list(heard(source).numbers) == numbers


@pytest.mark.parametrize(
    ("source", "may_be"),
    [("Let's meet at five.", True), ("It took 5 hours", True), ("I come at 5 p.m.", True),
     ("She ate eleven of them.", False), ("I take 5.", False),
     ("off after six stops", False), ("until 5 or 6", True), ("come by five", True),
     ("wake me thursday seven am", True), ("an alarm for seven thursday", True),
     ("it was fine to have two", False)],
)  # fmt: skip
def test_a_number_is_an_hour_only_where_one_may_stand(source, may_be):
    assert ("hours" in may_be_counted(heard(source).text)) is may_be


@pytest.mark.parametrize(
    ("words", "waits"),
    [("twenty", True), ("1", True), ("one", True), ("in 1984", True), ("1,250 people", False),
     ("twenty-five, ", False), ("two million", True), ("at 5 in the", True),
     ("at 5 in Rome", False), ("half", True), ("a", True), ("a car", False), ("room no.", True),
     ("people", False), ("5 p.m.", True), ("minus", True)],
)  # fmt: skip
def test_a_number_waits_for_the_word_that_it_may_go_on_with(words, waits):
    begun = read_source(words.split(), ended=False)
    assert (sum(one.n_words for one in begun) < len(words.split())) is waits


@pytest.mark.parametrize("digits", ["9" * 309, "9" * 5000])
@pytest.mark.parametrize("after", ["million", "k", ""])
def test_a_number_of_any_length_is_read_and_written(digits, after):
    (number,) = heard(f"{digits} {after}").numbers
    assert all(forms(number, language) for language in ("de", "fr", "en"))


def test_what_is_read_of_a_beginning_is_the_beginning_of_what_is_read_of_all():
    rng = random.Random(7)
    for _ in range(1000):
        words = rng.choices(WORDS, k=rng.randint(1, 9))
        whole = read_source(words, ended=True)
        assert sum(one.n_words for one in whole) == len(words)
        for n in range(len(words)):
            begun = read_source(words[:n], ended=False)
            assert begun == whole[: len(begun)], (words, n)
