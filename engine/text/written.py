"""Rules of a caption that is being written. Pure.

How it writes the numbers of its source, and what of them it has written; harmful words that nobody
said; loops.
"""

import re
import tomllib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cache, lru_cache
from itertools import product

from engine.files import ASSETS
from engine.text.quantities import Quantity, counted

Table = dict[str, list[str]]
"""What may stand in the captions of a language, by its name."""

TABLES: dict[str, Table] = tomllib.loads((ASSETS / "numbers.toml").read_text("utf-8"))
"""Of ``assets/numbers.toml``, by language."""

_OTHER = TABLES.pop("other")
"""What may stand in the captions of all other languages."""

DIGIT = re.compile(r"(?<![0-9])[0-9]")
"""Where a number in digits begins."""

RUN = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")
"""Such a number."""

_MONEY = frozenset("$€£¥")
_NUMBER_OR_HOUR = re.compile(r"[0-9]+(?:(?:[.,:]| ?(?:h|Uhr|heures?) ?)[0-9]+)*[^\W\d_]*")

_BLANKS = str.maketrans("\u00a0\u202f", "  ")
"""French has two other blanks in its numbers."""

_SCALES = ("million", "billion", "trillion")
_SHORT_NUMERAL = 4
"""Letters that may begin other words than a number, too."""

_TAILS = _OTHER["behind_digits"]


@dataclass(frozen=True, slots=True)
class Form:
    """A text that says a whole number.

    Attributes:
        text: from its first digit on.
        before: one of these must stand right before it; nothing need where there is none.
        row: numbers of one row are written in their order: hours, and money of one kind.
        in_code: capital letters may follow: ``5G``.
    """

    text: str
    before: tuple[str, ...] = ()
    row: str = ""
    in_code: bool = False

    @property
    def whole(self) -> str:
        return (self.before[0] if self.before else "") + self.text

    def stands_in(self, text: str, at: int) -> bool:
        """Return whether it stands at a place of a text, and no other number or word does."""
        if not text.startswith(self.text, at) or not self.may_begin(text, at):
            return False
        after = text[at + len(self.text) :]
        if self.text[-1].isdecimal():
            return re.match(r"[.,:]?[0-9]", after) is None and self._may_go_on(after)
        if self.text.endswith(("h", "Uhr", "heure", "heures")) and re.match(" ?[0-9]", after):
            return False  # of *9 h 30*
        return not (self.text[-1].isalpha() and after[:1].isalpha())

    def _may_go_on(self, after: str) -> bool:
        """Return whether the letters at the beginning of a text may stand right behind digits."""
        letters = next(iter(re.findall(r"^[^\W\d_]+", after)), "")
        is_tail = any(tail.startswith(letters) for tail in _TAILS)
        return is_tail or (self.in_code and letters.isupper())

    def rest_after(self, begun: str) -> str:
        """Return what follows its beginning; nothing for what is none, or all of it."""
        return self.text[len(begun) :] if self.text.startswith(begun) else ""

    def may_begin(self, text: str, at: int) -> bool:
        """Return whether the text before a place is what must stand there."""
        return not self.before or text.endswith(self.before, 0, at)


@lru_cache(maxsize=1024)
def forms(one: Quantity, language: str) -> tuple[Form, ...]:
    """Return the ways to write a number in a language, by its table in ``assets/numbers.toml``."""
    table = TABLES.get(language, _OTHER)
    if one.kind == "hour":
        row = "" if one.digits.endswith(":30") else "hour"  # *halb acht* is another way to say it
        return tuple(Form(text, row=row) for text in dict.fromkeys(_hours(one, table)))
    sides = [_notation(side, one.kind, language) for side in re.split(r"(?<=\d)[-–]", one.digits)]
    numbers = sides[0]
    if len(sides) == 2:
        numbers = [a + mark + b for mark in table["range"] for a, b in product(*sides)]
    elif len(sides) > 2:
        numbers = [one.digits]
    signs = tuple(table["plus" if one.sign == "+" else "minus"]) if one.sign else ()
    row = one.unit if one.unit in _MONEY else ""
    code = one.kind == "exact"
    found = [Form(n + after, signs, row, code) for n in numbers for after in _after(one, table)]
    if row and not one.scale and table is not _OTHER:
        found += [Form(n, (one.unit, one.unit + " "), row) for n in numbers]
    return tuple(dict.fromkeys(found))


def _after(one: Quantity, table: Table) -> list[str]:
    """Return what may stand behind the digits: scale and unit."""
    if table is _OTHER or not (one.scale or one.unit):
        return [""]
    few = re.match(r"(0|1)(\.|$)", one.digits)
    found, scales = list[str](), [f" {scale}" for scale in _named(one.scale, table, few)] or [""]
    for scale, unit in product(scales, _named(one.unit, table, few) or [one.unit]):
        of = table["of"][unit[:1] in tuple("aeiou")] if scale and len(unit) > 1 else " "
        found.append(scale + of * bool(unit) + unit)
        found += [scale + unit] if unit and not unit[0].isalpha() else []
    return found


def _named(name: str, table: Table, few: object) -> list[str]:
    """Return what says a scale or unit, singular forms where there are few."""
    return [text for text in table.get(name, ()) if few or text not in table["singular"]]


def _notation(digits: str, kind: str, language: str) -> list[str]:
    """Write digits in the notation of a language; those that are exact stand as they are."""
    plain = digits.replace(",", "")
    if kind == "exact" or not re.fullmatch(r"[0-9]*(\.[0-9]+)?", plain):
        return [digits]
    point = "." if language in _OTHER["with_point"] else ","
    group = " " if language in _OTHER["with_blank"] else ".,"[point == "."]
    whole, _, decimals = plain.partition(".")
    tail = point + decimals if decimals else ""
    found = [digits, (whole or "0") + tail] if kind == "point" else [(whole or "0") + tail]
    return found + [f"{Decimal(whole):,}".replace(",", group) + tail] * (len(whole) > 3)


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
        left: those that it may write next, by their places.
        rests: how the number at its end may go on.
        open_at: where that number begins, if it is not whole.
        n_others: numbers that are none of these, as far as they are judged.
    """

    left: list[int]
    rests: set[str] = field(default_factory=set)
    open_at: int | None = None
    n_others: int = 0


def written(text: str, numbers: Sequence[tuple[Form, ...]], judged_from: int = -1) -> Written:
    """Find the numbers of a source in a caption, perhaps within a word; each is written once.

    Numbers that end before ``judged_from`` are not judged.
    """
    found, end = Written(list(range(len(numbers)))), 0
    text = text.translate(_BLANKS)
    for match in DIGIT.finditer(text):
        at = match.start()
        if at < end:
            continue
        rest = text[at:]
        ways = [(n, form) for n in _next(found.left, numbers) for form in numbers[n]]
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
            end = at + len("".join(_NUMBER_OR_HOUR.findall(rest)[:1]))
            found.n_others += end > judged_from
    found.left = _next(found.left, numbers)
    return found


def _next(left: Sequence[int], numbers: Sequence[tuple[Form, ...]]) -> list[int]:
    """Return what may come next: of each row the first."""
    rows = [numbers[n][0].row for n in left]
    return [n for at, n in enumerate(left) if not rows[at] or rows[at] not in rows[:at]]


def says_other(text: str, numbers: Sequence[Quantity], left: Sequence[int], language: str) -> bool:
    """Return whether the last word of a caption is, or becomes, a number that is not in its source.

    ``left`` are those that are not written yet; where each of them was in words, or each of all
    where none is left, no word is judged.
    """
    before, word = _last_words(text)
    numerals = _numerals(language)
    values = {numerals[word]} if word in numerals else set[int]()
    if not values and len(word) > _SHORT_NUMERAL:  # *quator* will be another number than 17
        values = {value for numeral, value in numerals.items() if numeral.startswith(word)}
    if values and [before] == TABLES[language].get("half"):  # *halb acht* is half past seven
        halves = (int(one.digits[:-3]) for one in numbers if one.digits.endswith(":30"))
        return values.isdisjoint(hour % 12 + 1 for hour in halves)
    judged = left or range(len(numbers))
    if not values or all(numbers[n].kind == "word" for n in judged):
        return False
    return all(values.isdisjoint(_values(one)) for one in numbers)


def units(kinds: Iterable[str], language: str) -> frozenset[str]:
    """Return the words of a language for ``hours`` and ``money``, or for one of them."""
    table = TABLES.get(language, _OTHER)
    return frozenset(unit for kind in kinds for unit in table.get(kind, ()))


def says_unit(text: str, barred: Collection[str], language: str) -> bool:
    """Return whether a caption ends in one of these ``units`` behind a number: ``elf Uhr``."""
    before, word = _last_words(text)
    if re.split("['’]", word)[-1] not in barred:
        return False
    table = TABLES.get(language, _OTHER)
    scales = (text for name in _SCALES for text in table.get(name, ()))
    return before[-1:].isdecimal() or before in {*_numerals(language), *map(str.casefold, scales)}


def _last_words(text: str) -> tuple[str, str]:
    before, word = ["", "", *text.translate(_BLANKS).casefold().split(" ")][-2:]
    return before, word


@lru_cache(maxsize=8)
def _numerals(language: str) -> dict[str, int]:
    table = TABLES.get(language)
    if table is None:
        return {}
    words = counted(table["words"][0].split()) | counted(table["tens"][0].split(), 10, 10)
    stems = words | counted(table.get("stems", [""])[0].split())
    ends = table.get("nth", [])
    return words | {word.rstrip("e") + end: n for word, n in stems.items() for end in ends}


def _values(one: Quantity) -> set[int]:
    """Return what a number may be in one word; none for an hour or millions."""
    if one.scale or one.kind == "hour":
        return set()
    ends = {int(end) for end in re.split("[-–:/]", one.digits) if end.isdecimal()}
    return ends | {end // of for end in ends for of in (100, 1000) if end % of == 0}


_LISTS = ASSETS / "harmful_words.toml"
_WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")


class HarmfulWords:
    """The harmful words of one target language, group by group; none where it has no lists.

    They are words of violence, self-harm, sex and slurs, in English and their counterparts.
    """

    def __init__(self, language: str) -> None:
        groups = _groups()
        self._source = {name: _pattern(lists["en"]) for name, lists in groups.items()}
        self._target = {
            name: _pattern(lists[language]) for name, lists in groups.items() if language in lists
        }

    def barred(self, words: Iterable[str]) -> frozenset[str]:
        """Return the groups of which a source holds no word."""
        said = [match.lower() for match in _WORD.findall(" ".join(words))]
        return frozenset(
            name for name in self._target if not any(map(self._source[name].fullmatch, said))
        )

    def holds(self, text: str, groups: Iterable[str]) -> bool:
        said = [word for match in _WORD.findall(text) for word in _with_bare(match.lower())]
        patterns = [self._target[name] for name in groups]
        return any(pattern.fullmatch(word) for word in said for pattern in patterns)


def _with_bare(word: str) -> tuple[str, str]:
    """Return a word, and it without an article before its apostrophe: ``l'otage``, ``otage``."""
    return word, re.split("['’]", word)[-1]


@cache
def _groups() -> dict[str, dict[str, list[str]]]:
    return tomllib.loads(_LISTS.read_text("utf-8"))


def _pattern(entries: Iterable[str]) -> re.Pattern[str]:
    return re.compile("|".join(re.escape(entry).replace(r"\*", ".*") for entry in entries))


LONGEST_PHRASE = 16
"""Tokens; longer repetitions are rarely loops."""

_TOKEN_TIMES = 5
"""Allowed repetitions of one token for any source; a longer phrase: three."""


def is_loop(target: Sequence[int], source: Sequence[int]) -> bool:
    """Return whether the newest target token completes a phrase repeated too often in a row.

    A small model repeats a phrase for ever once it has repeated it a few times. The systems end the
    write before the phrase is complete once more; wait-k then reads on until the model predicts
    another token. The rule is ours.

    Two repetitions more than any phrase of the source are allowed: a translation may repeat what
    the source repeats ("no, no, no, no, no!"). ``target`` ends in the new id, without markers.
    """
    for size in range(1, min(LONGEST_PHRASE, len(target) // 2) + 1):
        repeats = _repeats_at_end(target, size)
        enough = repeats > _TOKEN_TIMES if size == 1 else repeats > 3
        if enough and repeats > 2 + _most_repeats(source):
            return True
    return False


def _repeats_at_end(ids: Sequence[int], size: int) -> int:
    """Return how often in a row the last phrase of a size occurs at the end."""
    phrase = tuple(ids[-size:])
    repeats, end = 1, len(ids) - size
    while end >= size and tuple(ids[end - size : end]) == phrase:
        repeats += 1
        end -= size
    return repeats


def _most_repeats(ids: Sequence[int]) -> int:
    """Return how often in a row any phrase occurs; 1 if none is repeated."""
    most = 1
    for size in range(1, min(LONGEST_PHRASE, len(ids) // 2) + 1):
        same = 0  # ids in a row that equal the one a phrase earlier
        for earlier, later in zip(ids, ids[size:], strict=False):
            same = same + 1 if earlier == later else 0
            most = max(most, 1 + same // size)
    return most
