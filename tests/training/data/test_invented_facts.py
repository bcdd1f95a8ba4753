"""Invented facts keep what their phrases rely on, over thousands of draws."""

import random
import re

import pytest

from training.data import invented_facts
from training.data.invented_facts import any_name, invent, whole_number

KINDS = tuple(invented_facts._MAKERS)


def drawn(kind, n=2000):
    rng = random.Random(kind)
    return [invent(kind, rng) for _ in range(n)]


@pytest.mark.parametrize("kind", KINDS)
def test_equal_seeds_give_equal_facts(kind):
    assert drawn(kind, 50) == drawn(kind, 50)


def test_a_kind_that_is_not_known_is_refused_with_those_that_are():
    with pytest.raises(ValueError, match=r"may ask for first, name, .*, and one asks for 'colour'"):
        invent("colour", random.Random(0))


def test_whole_numbers_have_their_digits_and_are_never_one():
    rng = random.Random(0)
    for n_digits in range(1, 7):
        found = [whole_number(rng, n_digits).digits for _ in range(1000)]
        assert {len(digits) for digits in found} == {n_digits}
        assert all(digits[0] != "0" for digits in found)
        assert "1" not in found
    numbers = drawn("int")
    assert {number.grouped for number in numbers if len(number.digits) > 3} == {True, False}
    assert not any(number.grouped for number in numbers if len(number.digits) <= 3)


@pytest.mark.parametrize(
    ("kind", "form"),
    [
        ("code", "[A-HK-NPR-Z2-9]{4,8}"),  # none that is read as another
        ("version", r"(\d|1\d|20)(\.(\d|1\d|20)){1,2}"),
        ("phone", r"[0+]\d{3,4}([ -]\d{3,4}){1,2}"),
        ("year", "19[0-9]{2}|20[0-2][0-9]|203[0-5]"),
        ("email", r"[^\W\d_]+([.][^\W\d_]+)?\d{0,2}@[a-z]+(-[a-z]+)?(\.[a-z]{2,3}){1,2}"),
        ("url", r"(https://)?(www\.)?[a-z]+(-[a-z]+)?(\.[a-z]{2,3}){1,2}(/[a-z0-9]+){0,2}"),
        ("name", r"\S+ \S+"),
        ("company", r"\S+ \S+"),
    ],
)
def test_texts_have_the_form_of_their_kind(kind, form):
    assert not [text for text in drawn(kind) if not re.fullmatch(form, text)]


def test_no_man_stands_for_a_woman_nor_the_other_way_round():
    words = invented_facts._WORDS
    for own, others in (("women", "men"), ("men", "women")):
        rng = random.Random(own)
        instead = [any_name(rng, instead_of=words[own][0]) for _ in range(3000)]
        assert not set(instead) & set(words[others])
        assert set(instead) & set(words[own])
