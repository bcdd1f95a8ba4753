import json
import math
import random
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

import pytest

from engine.untrusted.strict_json import (
    NEEDED,
    SHA256,
    Between,
    JsonObject,
    read_object,
    shown,
)


def parsed(**values):
    return JsonObject.parse(json.dumps(values).encode())


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "is no JSON"),
        (b"{", "is no JSON"),
        (b'{"a": 1} {', "is no JSON"),
        (b"\xef\xbb\xbf{}", "is no JSON"),
        (b'{"a": "\xff"}', "is no UTF-8"),
        (json.dumps({"a": 1}).encode("utf-16"), "is no UTF-8"),
        (b'{"a": ["\\uD800"]}', "is no UTF-8"),
        (b'{"\\udc00": 1}', "is no UTF-8"),
        (b"[]", "should hold an object, got []"),
        (b'"' + b"x" * 500 + b'"', "x..."),
        (b'{"a": NaN}', "holds NaN"),
        (b'{"a": -Infinity}', "holds -Infinity"),
        (b'{"a": -1e999}', "holds '-1e999', which is too large"),
        (b'{"a": 1, "b": 2, "a": 1}', "names 'a' twice"),
        (b'{"a": {"b": [{"c": 1, "c": 2}]}}', "names 'c' twice"),
        (b"[" * 200_000, "is nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "a number of 5000 digits"),
    ],
)
def test_what_is_no_single_object_is_refused(content, sentence):
    with pytest.raises(ValueError, match=sentence.replace("[", r"\[")) as caught:
        JsonObject.parse(content)
    assert len(str(caught.value)) < 200


def test_a_character_in_two_halves_is_one():
    assert JsonObject.parse(b'{"a": "\\ud83d\\ude42"}').text("a") == "🙂"


def test_a_file_is_read_up_to_its_limit_and_no_further(tmp_path):
    path = tmp_path / "x.json"
    path.write_bytes(b'{"a": 1}')
    assert JsonObject.read(path, 8).values == {"a": 1}
    with pytest.raises(ValueError, match="is longer than 7 bytes"):
        JsonObject.read(path, 7)


READS = {
    "text": "x",
    "sha256": "0f" * 32,
    "flag": True,
    "integer": 3,
    "number": 2.5,
    "texts": ["x", "y"],
    "integers": [1, 2],
    "inner": {"k": 1},
    "inners": [{"k": 1}],
}
ALSO_READ = {
    ("number", "integer"),
    ("texts", "empty"),
    ("integers", "empty"),
    ("inners", "empty"),
    ("text", "sha256"),
}


@pytest.mark.parametrize("read", READS)
def test_a_value_of_another_type_is_refused(read):
    for kind, value in [*READS.items(), ("null", None), ("empty", [])]:
        if kind == read or (read, kind) in ALSO_READ:
            getattr(parsed(a=value), read)("a")
        else:
            with pytest.raises(ValueError, match=r"'a(\[0\])?' should be .*, got "):
                getattr(parsed(a=value), read)("a")


@pytest.mark.parametrize("read", sorted(set(READS) - {"inners"}))
def test_a_value_that_is_missing_is_refused(read):
    with pytest.raises(ValueError, match="lacks 'a'"):
        getattr(parsed(b=1), read)("a")


def test_numbers_have_limits():
    for value in (-1, 11, True, 5.0, "5"):
        with pytest.raises(ValueError, match="a whole number from 0 to 10"):
            parsed(a=value).integer("a", most=10)
        with pytest.raises(ValueError, match=r"'a\[0\]' should be a whole number from 0 to 10"):
            parsed(a=[value]).integers("a", most=10)
    with pytest.raises(ValueError, match="should be a number"):
        JsonObject({"a": math.inf}).number("a")
    assert parsed(a=1).size("a") == parsed(a=None).size("a", 1) == 1
    with pytest.raises(ValueError, match="a whole number from 1 to"):
        parsed(a=0).size("a")


def test_what_a_message_repeats_is_short_and_cannot_steer_a_terminal():
    rng = random.Random(0)
    for _ in range(300):
        text = "".join(chr(rng.randrange(0x11000)) for _ in range(rng.randrange(120)))
        assert shown(text).isprintable()
        assert shown(text).isascii()
        assert len(shown(text)) < 110


@dataclass(frozen=True)
class Inner:
    n: Annotated[int, Between(1, 9)]


@dataclass(frozen=True)
class Outer:
    name: Annotated[str, Between(1, 3), str.upper]
    share: Annotated[float, Between(0, 1)]
    by_name: Mapping[str, Inner]
    maybe: Annotated[int, Between(most=5)] | None
    sha256: Annotated[str, SHA256] = ""
    inners: tuple[Inner, ...] = ()
    counts: Annotated[tuple[int, ...], Between(most=5)] = ()
    agreed: Annotated[bool, NEEDED] = False
    others: Mapping[str, int] = field(default_factory=dict)
    mode: Annotated[str, ("on", "off")] = "on"


GIVEN = {"name": "ab", "share": 1, "by_name": {"x": {"n": 1}}, "agreed": True, "unknown": 1}


def read(**values):
    return read_object(Outer, parsed(**values).values)


def test_an_object_becomes_the_dataclass_that_declares_it():
    whole = {"sha256": "0f" * 32, "inners": [{"n": 9}], "counts": [0, 5], "maybe": 5}
    assert read(**GIVEN, **whole, others={"y": 2}) == Outer(
        "AB", 1.0, {"x": Inner(1)}, 5, "0f" * 32, (Inner(9),), (0, 5), True, {"y": 2}
    )
    for absent in ({}, {"maybe": None}, {"sha256": ""}):
        bare = read(**GIVEN, **absent)
        assert bare == Outer("AB", 1.0, {"x": Inner(1)}, None, agreed=True)
    assert read_object(Outer, GIVEN, given={"maybe": 77, "others": {"z": 1}}).maybe == 77


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"share": "1"}, "'share' should be a number from 0 to 1, got '1'"),
        ({"name": ""}, "'name' should be text of at most 3 characters, and not empty, got ''"),
        ({"share": 1.5}, "'share' should be a number from 0 to 1, got 1.5"),
        ({"by_name": {"x": 3}}, "'by_name.x' should be an object, got 3"),
        ({"by_name": {"x": {}}}, "lacks 'by_name.x.n'"),
        (
            {"by_name": {"x": {"n": 10}}},
            "'by_name.x.n' should be a whole number from 1 to 9, got 10",
        ),
        ({"maybe": 6}, "'maybe' should be a whole number from 0 to 5, got 6"),
        ({"sha256": "x"}, "'sha256' should be 64 lower-case hexadecimal digits, got 'x'"),
        ({"inners": [3]}, "'inners[0]' should be an object, got 3"),
        ({"counts": [6]}, "'counts[0]' should be a whole number from 0 to 5, got 6"),
        ({"agreed": 0}, "'agreed' should be true or false, got 0"),
        ({"others": None}, "'others' should be an object, got None"),
        ({"mode": "of"}, "'mode' should be one of on, off, got 'of'"),
    ],
)
def test_a_field_that_is_not_as_declared_is_refused(changed, sentence):
    with pytest.raises(ValueError, match=r"\w") as caught:
        read(**GIVEN | changed)
    assert str(caught.value) == sentence


@pytest.mark.parametrize("missing", ["name", "share", "by_name", "agreed"])
def test_a_field_that_is_needed_must_be_there(missing):
    with pytest.raises(ValueError, match=f"lacks '{missing}'"):
        read(**{key: GIVEN[key] for key in GIVEN if key != missing})


@dataclass(frozen=True, kw_only=True)
class Words:
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
    inner: Words = field(default_factory=Words)


def test_a_table_becomes_its_dataclass_with_the_types_of_its_fields():
    given = {"number": 3, "rate": 2, "name": "a", "is_on": True, "folder": "x/y", "pair": [2, "b"],
             "keys": {"c": "Ctrl+C"}, "inner": {"words": ["a", "b"]}}  # fmt: skip
    made = read_object(Table, given, exact=True)
    assert made == Table(
        number=3, rate=2.0, name="a", is_on=True, folder=Path("x/y"), pair=(2, "b"),
        keys={"c": "Ctrl+C"}, inner=Words(words=("a", "b")),
    )  # fmt: skip
    assert type(made.rate) is float
    assert read_object(Table, {"number": 3, "folder": None}, exact=True) == Table(number=3)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ([], "'it' should be a table"),
        ({}, "^number is needed$"),
        (
            {"number": 1, "colour": 2},
            "^colour is no setting: the known ones there are number, rate",
        ),
        ({"number": 1.0}, "'number' should be a whole number, got 1.0"),
        ({"number": True}, "'number' should be a whole number, got True"),
        ({"number": 1, "rate": "2"}, "'rate' should be a number"),
        ({"number": 1, "rate": math.nan}, "'rate' should be a number, got nan"),
        ({"number": 1, "rate": 10**400}, "'rate' should be a number, got 1000"),
        ({"number": 1, "is_on": 1}, "'is_on' should be true or false, got 1"),
        ({"number": 1, "name": None}, "'name' should be text"),
        ({"number": 1, "folder": ""}, "'folder' should be a path"),
        ({"number": 1, "folder": "a\0b"}, "'folder' should be a path"),
        ({"number": 1, "pair": [1]}, "'pair' should be a list: a whole number and text"),
        ({"number": 1, "pair": ["a", 1]}, r"'pair\[0\]' should be a whole number, got 'a'"),
        ({"number": 1, "keys": []}, "'keys' should be a table"),
        ({"number": 1, "keys": {"c": 1}}, "'keys.c' should be text, got 1"),
        ({"number": 1, "inner": {"words": ["a", 2]}}, r"'inner.words\[1\]' should be text, got 2"),
        ({"number": 1, "inner": {"other": 1}}, "inner.other is no setting"),
        ({"number": 1, "inner": 5}, "'inner' should be a table, got 5"),
    ],
)
def test_each_fault_is_named_with_its_place_and_what_was_expected(given, told):
    with pytest.raises(ValueError, match=told):
        read_object(Table, given, exact=True)


def test_unknown_keys_are_left_out_unless_a_person_wrote_them():
    assert read_object(Table, {"number": 1, "colour": 2}) == Table(number=1)
