import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from engine.untrusted.strict_json import kind_name, read_table, read_value


@dataclass(frozen=True, kw_only=True)
class Inner:
    words: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Table:
    number: int
    rate: float = 1.0
    name: str = ""
    is_on: bool = False
    folder: Path | None = None
    pair: tuple[int, str] = (1, "a")
    keys: Mapping[str, str] = field(default_factory=dict)
    inner: Inner = field(default_factory=Inner)


def test_a_table_becomes_its_dataclass_with_the_types_of_its_fields():
    given = {"number": 3, "rate": 2, "name": "a", "is_on": True, "folder": "x/y", "pair": [2, "b"],
             "keys": {"c": "Ctrl+C"}, "inner": {"words": ["a", "b"]}}  # fmt: skip
    made = read_table(Table, given)
    assert made == Table(
        number=3, rate=2.0, name="a", is_on=True, folder=Path("x/y"), pair=(2, "b"),
        keys={"c": "Ctrl+C"}, inner=Inner(words=("a", "b")),
    )  # fmt: skip
    assert type(made.rate) is float
    assert read_table(Table, {"number": 3, "folder": None}) == Table(number=3)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "the file should be a table of settings"),
        ({}, "^number is needed$"),
        (
            {"number": 1, "colour": 2},
            "^colour is no setting: the known ones there are number, rate",
        ),
        ({"number": 1.0}, "number should be a whole number, got 1.0"),
        ({"number": True}, "number should be a whole number, got True"),
        ({"number": 1, "rate": "2"}, "rate should be a number"),
        ({"number": 1, "rate": math.nan}, "rate should be a number, got nan"),
        ({"number": 1, "rate": 10**400}, "rate should be a number, got inf"),
        ({"number": 1, "is_on": 1}, "is_on should be true or false, got 1"),
        ({"number": 1, "name": None}, "name should be text"),
        ({"number": 1, "folder": ""}, "folder should be a path"),
        ({"number": 1, "folder": "a\0b"}, "folder should be a path"),
        ({"number": 1, "pair": [1]}, "pair should be a list: a whole number and text"),
        ({"number": 1, "pair": ["a", 1]}, "pair should be a whole number, got 'a'"),
        ({"number": 1, "keys": []}, "keys should be a table with text for each key"),
        ({"number": 1, "keys": {"c": 1}}, "keys.c should be text, got 1"),
        ({"number": 1, "inner": {"words": ["a", 2]}}, "inner.words should be text, got 2"),
        ({"number": 1, "inner": {"other": 1}}, "inner.other is no setting"),
        ({"number": 1, "inner": 5}, "inner should be a table of settings, got 5"),
    ],
)
def test_each_fault_is_named_with_its_place_and_what_was_expected(given, told):
    with pytest.raises(ValueError, match=told):
        read_table(Table, given)


def test_unknown_keys_may_be_left_out_but_only_where_that_is_asked_for():
    assert read_table(Table, {"number": 1, "colour": 2}, others_ignored=True) == Table(number=1)


def test_types_are_named_for_people():
    assert kind_name(tuple[str, ...]) == "a list: text"
    assert kind_name(tuple[int, int]) == "a list: a whole number"
    assert read_value(tuple[int, ...], [], "it") == ()
