"""How a caption writes the numbers of its source, and what of them it has written. Pure."""

import re
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import lru_cache
from itertools import product

from engine.files import ASSETS
from engine.text.quantities import Quantity, counted

Table = dict[str, list[str]]
"""What may stand in the captions of a language, by its name."""

TABLES: dict[str, Table] = tomllib.loads((ASSETS / "numbers.toml").read_text("utf-8"))
"""Of ``assets/numbers.toml``, by language."""

DIGIT = re.compile(r"(?<![0-9])[0-9]")
"""Where a number in digits begins."""

RUN = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")
"""Such a number."""

_BLANKS = str.maketrans("\u00a0\u202f", "  ")
"""French has two other blanks in its numbers."""

_TAILS = ("ern", "ème", "ers", "ère", "nde", "er", "re", "es", "o", "a", "th", "st", "rd", "x", "k")
"""Letters that may stand right behind digits: of ordinals and decades."""

_HOUR = ("h", "Uhr", "heures", "heure")
_ANYWHERE: Table = {
    "hour": ["{h}", "{h} h", "{h}h"],
    "clock": ["{h}:{m}", "{h}.{m}", "{h} h {m}", "{h}h{m}"],
    "range": ["-", "–"],
    "minus": ["-", "\u2212"],
    "plus": ["+"],
}
_BLANK_GROUPS = frozenset({"cs", "fi", "hu", "no", "pl", "ru", "sk", "sv", "uk"})
_POINTS = frozenset({"en", "ja", "zh", "ko", "th", "he"})


@dataclass(frozen=True, slots=True)
class Form:
    """A text that says a whole number.

    Attributes:
        text: from its first digit on.
        before: one of these must stand right before it; nothing need where there is none.
    """

    text: str
    before: tuple[str, ...] = ()

    @property
    def whole(self) -> str:
        """The text with what must stand before it."""
        return (self.before[0] if self.before else "") + self.text

    def stands_in(self, text: str, at: int) -> bool:
        """Return whether it stands at a place of a text, and no other number or word does."""
        if not text.startswith(self.text, at) or not self.may_begin(text, at):
            return False
        after = text[at + len(self.text) :]
        if self.text[-1].isdecimal():
            return re.match(r"[.,:]?[0-9]", after) is None and _may_follow(after)
        if self.text.endswith(_HOUR) and re.match(" ?[0-9]", after):
            return False  # of *9 h 30*
        return not (self.text[-1].isalpha() and after[:1].isalpha())

    def rest_after(self, begun: str) -> str:
        """Return what follows its beginning; nothing for what is none, or all of it."""
        return self.text[len(begun) :] if self.text.startswith(begun) else ""

    def may_begin(self, text: str, at: int) -> bool:
        """Return whether what stands before a place of a text is what must."""
        return not self.before or text.endswith(self.before, 0, at)


def _may_follow(text: str) -> bool:
    """Return whether the letters at the beginning of a text may stand right behind digits."""
    letters = next(iter(re.findall(r"^[^\W\d_]+", text)), "")
    return letters.isupper() or any(tail.startswith(letters) for tail in _TAILS)


@lru_cache(maxsize=1024)
def forms(one: Quantity, language: str) -> tuple[Form, ...]:
    """Return the ways to write a number in a language, by its table in ``assets/numbers.toml``."""
    table = TABLES.get(language, _ANYWHERE)
    signs = tuple(table["minus" if one.sign != "+" else "plus"]) if one.sign else ()
    if one.kind == "hour":
        texts = _hours(one, table)
        return tuple(Form(text) for text in dict.fromkeys(texts))
    numbers = list(dict.fromkeys(_notations(one, table, language)))
    found = [Form(text, signs) for text in _with_unit(one, numbers, table)]
    if one.unit in "$€£¥" and not one.scale and table is not _ANYWHERE:
        found += [Form(text, (one.unit, one.unit + " ")) for text in numbers]
    return tuple(dict.fromkeys(found))


def _with_unit(one: Quantity, numbers: Sequence[str], table: Table) -> Iterator[str]:
    scales, units = table.get(one.scale, []), table.get(one.unit, [one.unit])
    if table is _ANYWHERE or not (one.unit or one.scale):
        yield from numbers
        return
    counted = [f"{n} {scale}" for n, scale in product(numbers, scales)] if one.scale else numbers
    for n, unit in product(counted, units):
        if not unit:
            yield n
        elif one.scale and len(unit) > 1:
            yield n + table["of"][unit[0] in "aeiou"] + unit
        else:
            yield f"{n} {unit}"
            if not unit[0].isalpha():
                yield n + unit


def _notations(one: Quantity, table: Table, language: str) -> Iterator[str]:
    """Write digits in the notation of a language; those that are exact stand as they are."""
    ends = re.split("[-–]", one.digits)
    if len(ends) == 2 and all(end[:1].isdecimal() for end in ends):
        sides = [list(_notation(end, one.kind, table, language)) for end in ends]
        yield from (a + mark + b for mark in table["range"] for a, b in product(*sides))
    else:
        yield from _notation(one.digits, one.kind, table, language)


def _notation(digits: str, kind: str, table: Table, language: str) -> Iterator[str]:
    plain, point = (
        digits.replace(",", ""),
        table.get("point", ["." if language in _POINTS else ","])[0],
    )
    if kind == "exact" or not re.fullmatch(r"[0-9]*(\.[0-9]+)?", plain):
        yield digits
        return
    if kind == "point":
        yield digits
    whole, _, decimals = plain.partition(".")
    tail = point + decimals if decimals else ""
    yield (whole or "0") + tail
    if len(whole) > 3:
        blank = " " if language in _BLANK_GROUPS else "," if point == "." else "."
        yield f"{Decimal(whole):,}".replace(",", table.get("group", [blank])[0]) + tail


def _hours(one: Quantity, table: Table) -> Iterator[str]:
    hour, _, minutes = one.digits.partition(":")
    part = 0 if int(hour) < 12 else 1 if int(hour) < 20 else 2
    named = {"t": (int(hour) - 1) % 12 + 1, "half": table.get("halves", ["", "", ""])[part]}
    whole = table["hour"] if minutes in ("", "00") else []
    shapes = [*whole, *(table["clock"] if minutes else ())]
    for shape, h in product(shapes, dict.fromkeys((hour, f"{int(hour):02}"))):
        if "{half}" not in shape or one.half:
            yield shape.format(h=h, m=minutes or "00", **named)


@dataclass(slots=True)
class Written:
    """The numbers of a source that its caption has written.

    Attributes:
        left: those that it may still write, by their places.
        rests: how the number at its end may go on.
        open_at: where that number begins, if it is not whole.
        n_others: numbers that are none of these, as far as they are judged.
    """

    left: list[int]
    rests: set[str] = field(default_factory=set)
    open_at: int | None = None
    n_others: int = 0


def written(text: str, numbers: Sequence[tuple[Form, ...]], judged_from: int = -1) -> Written:
    """Find the numbers of a source in a caption; each is written once.

    Args:
        text: of the caption, perhaps within a word.
        numbers: of the source, as their forms.
        judged_from: numbers that end before this place are not judged.
    """
    found, end = Written(list(range(len(numbers)))), 0
    text = text.translate(_BLANKS)
    for match in DIGIT.finditer(text):
        at = match.start()
        if at < end:
            continue
        rest = text[at:]
        ways = [(n, form) for n in found.left for form in numbers[n]]
        whole = [(len(form.text), -n) for n, form in ways if form.stands_in(text, at)]
        found.rests = {form.rest_after(rest) for _, form in ways if form.may_begin(text, at)} - {""}
        if whole:
            length, n = max(whole)
            end = at + length
            found.left.remove(-n)
        elif found.rests:
            found.open_at = at
            break
        else:
            end = at + len(RUN.findall(rest)[0])
            found.n_others += end > judged_from
    return found


def says_other(text: str, numbers: Sequence[Quantity], left: Sequence[int], language: str) -> bool:
    """Return whether the last word of a caption is another number than those of its source.

    Args:
        text: of the caption, as far as it is written.
        numbers: of the source.
        left: those that are not written yet; where each was in words, no word is judged.
        language: of the caption.
    """
    before, word = ["", "", *text.translate(_BLANKS).casefold().split(" ")][-2:]
    value = _numerals(language).get(word)
    if value is None:
        return False
    if [before] == TABLES[language].get("half"):  # *halb acht* is half past seven
        halves = (int(one.digits[:-3]) for one in numbers if one.digits.endswith(":30"))
        return value not in [hour % 12 + 1 for hour in halves]
    if all(numbers[n].kind in ("word", "exact") for n in left):
        return False
    return all(value not in _values(one) for one in numbers)


@lru_cache(maxsize=8)
def _numerals(language: str) -> dict[str, int]:
    table = TABLES.get(language)
    return (
        counted(table["words"][0].split()) | counted(table["tens"][0].split(), 10, 10)
        if table
        else {}
    )


def _values(one: Quantity) -> set[int]:
    """Return what a number may be in one word; an hour or millions are none."""
    if one.scale or one.kind == "hour":
        return set()
    ends = {int(end) for end in re.split("[-–:/]", one.digits) if end.isdecimal()}
    return ends | {end // of for end in ends for of in (100, 1000) if end % of == 0}
