"""Numbers of an English text, each read once as one thing: its digits, scale, unit, or hour. Pure.

Digits and words are read alike: ``$7.5M``, ``seven point five million dollars``; ``5pm``, ``five in
the afternoon``. A number may go on (``twenty`` ... ``five``, ``1.2`` ... ``billion``): where the
next word has not come yet, nothing is certain, and ``Reader.is_short`` is true.
How a caption writes them is in ``engine.text.written``.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from engine.files import ASSETS

_EN: dict[str, dict[str, str]] = tomllib.loads((ASSETS / "english_numbers.toml").read_text("utf-8"))
ENGLISH = _EN["words"]
"""Lists of English words by what they are."""


def counted(words: str, first: int = 0, step: int = 1) -> dict[str, int]:
    """Number words, all but those that are an x."""
    numbered = {word: first + step * n for n, word in enumerate(words.split())}
    return {word: n for word, n in numbered.items() if word != "x"}


_CARDINALS = counted(ENGLISH["ones"]) | counted(ENGLISH["tens"], 10, 10)
_ORDINALS = counted(ENGLISH["ordinals"]) | counted(ENGLISH["tenths"], 10, 10)
_DECADES = counted(ENGLISH["decades"], 10, 10)
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_PREPOSITIONS, _POINTED = (
    frozenset(ENGLISH[name].split()) for name in ("hours_after", "points_after")
)
_UNITS = {unit.casefold(): unit for unit in ENGLISH["units"].split()}
_AMBIGUOUS = frozenset({"in", "m", "v", "h"})
_HALVES = {"am": "am", "a.m": "am", "pm": "pm", "p.m": "pm"}
_DAY = {"morning": "am", "afternoon": "pm", "evening": "pm"}
_TO = frozenset({"to", "and", "or", "until", "till", "-", "–"})

_AMOUNT = r"\d+(?:,\d{3})*(?:\.\d+)?"
_NUMBER = re.compile(
    rf"([-\u2212+]?)(US\$|[$€£¥])?({_AMOUNT}(?:[-–]{_AMOUNT})?|\.\d+)"
    r"([^\W\d_]{1,3}[²³]?|°[CF]?|km/h)?([$€£¥%])?(?:/([^\W\d_]+))?"
)
_EXACT = re.compile(r"\d+(?:[./:-]\d+){2,}|\d+[/:]\d+|0\d+")
_TIME = re.compile(r"(\d{1,2})(?:([:.])([0-5]\d))?(am|pm|a\.m|p\.m)?")
_RUN = re.compile(r"\d+(?:[.,:]?\d+)*")
_WORD = re.compile(r"([\"'“‘«(\[¿¡]*)(.*?)([.,;:!?…)\]\"'”’»]*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a source.

    Attributes:
        digits: in English notation, ``1,250.5``; of a range both, ``10-15``; of an hour ``17:00``.
        scale: ``million`` or more; smaller ones are in the digits.
        unit: a sign of money, ``%``, or a unit such as ``km``.
        kind: ``number``; ``exact``: as it stands; ``point``: it may; ``hour``; ``word``:
            a small one in words.
        sign: before it.
        half: of the day, where an hour said it: ``am`` or ``pm``.
    """

    digits: str
    scale: str = ""
    unit: str = ""
    kind: str = "number"
    sign: str = ""
    half: str = ""


@dataclass(frozen=True, slots=True)
class Words:
    """Words that are read as one: what the model reads, the numbers in it, how many they are."""

    text: str
    numbers: tuple[Quantity, ...] = ()
    n_words: int = 1


@dataclass(frozen=True, slots=True)
class Token:
    """A word with the marks around it."""

    lead: str
    core: str
    trail: str

    @property
    def small(self) -> str:
        """The word in small letters."""
        return self.core.casefold()

    @property
    def is_closed(self) -> bool:
        """Whether a mark parts it from the next word; the point of *p.m.* does not."""
        is_short = self.small in _HALVES or self.core in _EN["long"]
        return bool(self.trail) and not (is_short and self.trail == ".")


def token(word: str) -> Token:
    """Take the marks around a word off; a bracket that opens within stays (``401(k)``)."""
    match = _WORD.fullmatch(word)
    lead, core, trail = match.groups() if match else ("", word, "")
    if trail.startswith(")") and core.count("(") > core.count(")"):
        core, trail = core + ")", trail[1:]
    return Token(lead, core, trail)


class Reader:
    """Read the numbers of a sentence.

    Attributes:
        is_short: what was read last may go on with a word that has not come yet.
    """

    def __init__(self, words: Iterable[str], *, ended: bool) -> None:
        """Take the words that have come; ``ended``: there are no others."""
        self._tokens = tuple(map(token, words))
        self._ended = ended
        self.is_short = False

    def read(self, at: int) -> Words:
        """Read what begins with a word: a number, or the word alone."""
        self.is_short = False
        one = self._tokens[at]
        if (one.small, one.trail) == ("no", ".") and at and self._next(at + 1)[:1].isdecimal():
            return Words("number")
        long = _EN["long"].get(one.core) if one.trail.startswith(".") else None
        if long:
            return self._put(at, 1, long)
        for way in (self._past, self._hour, self._hours, self._number):
            found = way(at)
            if found is not None:
                return found
        runs = [str(_DECADES[one.small])] if one.small in _DECADES else _RUN.findall(one.core)
        return self._put(at, 1, one.core, *(Quantity(run, kind="exact") for run in runs))

    def _next(self, at: int) -> str:
        """Return a word in small letters, if it has come."""
        if at < len(self._tokens):
            return self._tokens[at].small
        self.is_short = self.is_short or not self._ended
        return ""

    def _after(self, start: int, at: int) -> str:
        """Return a word after others, from ``start`` on, unless a mark parts them."""
        closed = any(one.is_closed for one in self._tokens[start:at])
        return "" if closed else self._next(at)

    def _put(self, at: int, n: int, text: str, *numbers: Quantity) -> Words:
        """Put the marks around words around what stands for them."""
        first, last = self._tokens[at], self._tokens[at + n - 1]
        trail = last.trail
        is_short = last.small in _HALVES or last.core in _EN["long"]
        if (
            is_short
            and trail.startswith(".")
            and (self._next(at + n) or at + n < len(self._tokens))
        ):
            trail = trail.removeprefix(".")
        return Words(first.lead + text + trail, numbers, n)

    # hours

    def _hour(self, at: int) -> Words | None:
        """Read an hour: ``5pm``, ``5 p.m.``, ``9:30``, ``at nine thirty``, ``9 o'clock``."""
        time = self._time(at)
        if time is None:
            return None
        hour, minutes, half, n, is_said = time
        if not (is_said or half):
            half = self._half_after(at, n, hour)
        if not (is_said or half):
            return None
        return self._put(at, n, *_clock(hour, minutes or 0, half))

    def _time(self, at: int) -> tuple[int, int | None, str, int, bool] | None:
        """Return hour, minutes, half of the day, how many words, and whether it must be an hour."""
        one = self._tokens[at]
        is_after = at > 0 and self._tokens[at - 1].small in _PREPOSITIONS
        match, minutes, n, is_said = _TIME.fullmatch(one.small), None, 1, False
        if match is not None:
            hour, half = int(match[1]), _HALVES.get(match[4] or "", "")
            minutes = int(match[3]) if match[3] else None
            is_said = match[2] == ":"
        elif one.small in _CARDINALS:
            hour, half = _CARDINALS[one.small], ""
            if is_after and 1 <= hour <= 12:
                minutes, n_more = self._minutes(at)
                n += n_more
                is_said = minutes is not None
        else:
            return None
        if hour > 24 or (minutes is None and not 1 <= hour <= 12):
            return None
        if not half:
            half, n_more, says_clock = self._half(at, n, hour)
            if not says_clock and half and not (is_after or is_said) and n_more > 1:
                half, n_more = "", 0  # "5 in the morning" may be five of anything
            if says_clock and match is None and self._after(at, at + 1) not in _HALVES:
                half, n_more = "", 0  # *nine o'clock in the morning* is translated as it stands
            n += n_more
            is_said = is_said or (says_clock and match is not None)
        return hour, minutes, half, n, is_said

    def _minutes(self, at: int) -> tuple[int | None, int]:
        """Read the minutes behind an hour in words, ``thirty``, ``oh five``."""
        word = self._after(at, at + 1)
        if word in ("oh", "o"):
            unit = _CARDINALS.get(self._after(at, at + 2), 0)
            return (unit, 2) if 0 < unit < 10 else (None, 0)
        spelt = self._spelt(at + 1) if _is_cardinal(word) else None
        return (spelt[0], spelt[2]) if spelt and 10 <= spelt[0] < 60 else (None, 0)

    def _half(self, at: int, n: int, hour: int) -> tuple[str, int, bool]:
        """Read what says the half of the day, and *o'clock*; how many words they are."""
        word, m = self._after(at, at + n), 0
        says_clock = word in ("o'clock", "oclock")
        if says_clock:
            m, word = 1, self._after(at, at + n + 1)
        if word in _HALVES:
            return _HALVES[word], m + 1, True
        if word in ("a", "p") and self._next(at + n + m + 1) in ("m", "m."):
            return word + "m", m + 2, True
        if word == "in" and self._after(at, at + n + m + 1) == "the":
            half = _DAY.get(self._after(at, at + n + m + 2), "")
            return half, m + 3 if half else m, says_clock
        if word == "at" and self._after(at, at + n + m + 1) == "night":
            return "pm" if 6 <= hour < 12 else "am", m + 2, says_clock
        return "", m, says_clock

    def _half_after(self, at: int, n: int, hour: int) -> str:
        """Return the half of the day that the end of a span says: ``9 to 5 p.m.``."""
        if self._after(at, at + n) not in _TO or not self._next(at + n + 1):
            return ""
        end = self._time(at + n + 1)
        if end is None or not end[2]:
            return ""
        return end[2] if hour % 12 <= end[0] % 12 else {"am": "pm", "pm": "am"}[end[2]]

    def _hours(self, at: int) -> Words | None:
        """Read a span in one word: ``9am-5pm``, ``9:00-17:00``, ``9-5 p.m.``."""
        times = [_TIME.fullmatch(part) for part in re.split("[-–—]", self._tokens[at].small)]
        if len(times) != 2 or None in times:
            return None
        first, second = (time for time in times if time)
        after, n = _HALVES.get(second[4] or "", ""), 1
        if not after and not second[3] and int(second[1]) <= 12:
            after, n_more, _ = self._half(at, 1, int(second[1]))
            after, n = (after, 1 + n_more) if n_more < 3 else ("", 1)
        if not (after or (first[2] == second[2] == ":")):
            return None
        before = _HALVES.get(first[4] or "", "")
        if not before and after:
            is_later = int(first[1]) % 12 > int(second[1]) % 12
            before = {"am": "pm", "pm": "am"}[after] if is_later else after
        (one, start), (other, end) = (
            _clock(int(time[1]), int(time[3] or 0), half)
            for time, half in ((first, before), (second, after))
        )
        return self._put(at, n, f"{one} to {other}", start, end)

    def _past(self, at: int) -> Words | None:
        """Read ``half past seven``, ``a quarter to six``, ``ten past nine``."""
        word, n = self._tokens[at].small, 1
        is_after = at > 0 and self._tokens[at - 1].small in _PREPOSITIONS
        if word == "a" and is_after:
            word, n = self._after(at, at + 1), 2
        spelt = self._spelt(at) if n == 1 else None
        if word in _EN["parts"]:
            minutes = int(_EN["parts"][word])
        elif spelt is not None and 0 < spelt[0] < 60:
            minutes, _, n = spelt
            n += self._after(at, at + n) == "minutes"
        else:
            return None
        way = "past" if word == "half-past" else self._after(at, at + n)
        n += word != "half-past"
        is_clock = is_after and minutes % 5 == 0  # *five to six people*
        if way != "past" and not (way == "to" and (word == "quarter" or (spelt and is_clock))):
            return None
        word = self._after(at, at + n)
        hour = _CARDINALS.get(word) or (int(word) if word.isdecimal() else 0)
        if not 1 <= hour <= 12:
            return None
        half, n_more, _ = self._half(at, n + 1, hour)
        if way == "to":
            hour, minutes = (hour - 2) % 12 + 1, 60 - minutes
        return self._put(at, n + 1 + n_more, *_clock(hour, minutes, half))

    # numbers

    def _number(self, at: int) -> Words | None:
        """Read a number with what belongs to it: scale, unit, what it is paid for."""
        core = self._tokens[at].core
        if _EXACT.fullmatch(core):
            return self._put(at, 1, core, Quantity(core, kind="exact"))
        match = _NUMBER.fullmatch(core)
        if match is None:
            return self._in_words(at)
        sign, before, digits, letters, mark, rate = (group or "" for group in match.groups())
        unit, scale = (before or mark).removeprefix("US"), ""
        if letters and letters.casefold() + "/" + rate == "km/h":
            letters, rate = "km/h", ""
        if letters:
            scale = _scale_of(letters, is_money=bool(unit))
            if not scale and (unit or letters.casefold() not in _UNITS):
                return None
            unit = unit if scale else _UNITS[letters.casefold()]
        one = Quantity(digits, scale, unit, _kind(digits), sign)
        found = self._with_following(at, 1, one)
        if not rate:
            return found
        text = found.text.removesuffix(self._tokens[at].trail)
        rate = _EN["rates"].get(rate, rate)
        return replace(found, text=f"{text} per {rate}{self._tokens[at].trail}")

    def _in_words(self, at: int) -> Words | None:
        one = self._tokens[at]
        spelt = self._spelt(at)
        if spelt is None:
            return self._ordinal(at)
        value, scale, n = spelt
        if n == 1 and 13 <= value <= 20 and one.small in _CARDINALS:
            year = self._year(at, value)
            if year is not None:
                return year
        is_small = n == 1 and (value <= 12 or one.small in ("hundred", *_SCALES))
        digits = str(value) if value < 10_000 else f"{value:,}"
        follows = self._after(at, at + n)
        ordinal = _ORDINALS.get(follows, 0)
        if n == 1 and value in range(20, 100, 10) and 0 < ordinal < 10 and ordinal != 2:
            number = str(value + ordinal)
            return self._put(at, 2, _ordinal(number), Quantity(number, kind="exact"))
        if is_small and not (follows in _SCALES or follows in ("point", "and")):
            return self._put(at, 1, one.core, Quantity(digits, scale, kind="word"))
        found = self._with_following(at, n, Quantity(digits, scale), in_words=True)
        if is_small and found.n_words == 1:
            return self._put(at, 1, one.core, Quantity(digits, scale, kind="word"))
        return found

    def _ordinal(self, at: int) -> Words | None:
        """Read ``twenty-first``; other ordinals are left as they stand."""
        one = self._tokens[at]
        tens, _, last = one.small.rpartition("-")
        value = _ORDINALS.get(last, 0) + _CARDINALS.get(tens, 0)
        if not value or (tens and tens not in _CARDINALS):
            return None
        text = _ordinal(str(value)) if value > 12 else one.core
        kind = "exact" if value > 12 else "word"
        return self._put(at, 1, text, Quantity(str(value), kind=kind))

    def _year(self, at: int, century: int) -> Words | None:
        """Read ``nineteen eighty-four``, ``nineteen oh five``, ``nineteen eighties``."""
        word, n = self._after(at, at + 1), 2
        rest = _DECADES.get(word, 0)
        if word in ("oh", "o"):
            rest, n = _CARDINALS.get(self._after(at, at + 2), 0), 3
        elif _is_cardinal(word):
            spelt = self._spelt(at + 1)
            rest, n = (spelt[0], 1 + spelt[2]) if spelt and spelt[0] > 9 else (0, 0)
        if not 0 < rest < 100:
            return None
        digits = f"{century}{rest:02}"
        text = digits + "s" * (word in _DECADES)
        return self._put(at, n, text, Quantity(digits, kind="exact"))

    def _spelt(self, at: int) -> tuple[int, str, int] | None:
        """Read a number in words; return its value, the scale that it is of, how many they are."""
        count, n = _Count(), 0
        while True:
            word = self._after(at, at + n)
            n_and = int(word == "and" and count.takes_and)
            if n_and:
                word = self._after(at, at + n + 1)
            further = count.with_word(word)
            if further is None:
                break
            count, n = further, n + n_and + 1
        return (count.value, count.scale, n) if n else None

    def _with_following(self, at: int, n: int, one: Quantity, *, in_words: bool = False) -> Words:
        """Read the scale and the unit that follow digits."""
        decimals, n_more = self._decimals(at, n) if in_words else ("", 0)
        digits, scale, n = one.digits + decimals, one.scale, n + n_more
        if not scale:
            half = ("and", "a", "half")
            if self._are(at, n, half) and self._after(at, at + n + 3) in _SCALES:
                digits, n = digits + ".5", n + 3
            if self._after(at, at + n) in _SCALES:
                scale, n = self._after(at, at + n), n + 1
        if scale == "thousand" and "-" not in digits:
            digits, scale = _multiplied(digits), ""
        unit, name, n_more = self._unit(at, n, one.unit, named=bool(scale))
        number = Quantity(digits, scale, unit, one.kind, one.sign)
        if scale or unit:
            number = replace(number, kind="number")
        elif "." in digits and at and self._is_label(self._tokens[at - 1]):
            number = replace(number, kind="point")
        return self._put(at, n + n_more, _text(number, name), number)

    def _decimals(self, at: int, n: int) -> tuple[str, int]:
        """Read ``point two five``; return the decimals with their point."""
        decimals = ""
        if self._after(at, at + n) == "point":
            while (digit := _CARDINALS.get(self._after(at, at + n + 1 + len(decimals)), 10)) < 10:
                decimals += str(digit)
        return ("." + decimals, 1 + len(decimals)) if decimals else ("", 0)

    @staticmethod
    def _is_label(before: "Token") -> bool:
        """Return whether the number behind a word is of a version or a section."""
        return before.core[:1].isupper() or before.small in _POINTED

    def _unit(self, at: int, n: int, unit: str, *, named: bool) -> tuple[str, str, int]:
        """Read the unit behind a number; return it, how it was said, and how many words it is.

        A word for money is a unit of millions alone (``named``): elsewhere it is translated well.
        """
        follows = self._after(at, at + n)
        if not follows or (unit and follows != unit):
            return unit, "", 0
        if follows == "%":
            return "%", "", 1
        if follows in _EN["currencies"] and (named or follows == unit):
            return _EN["currencies"][follows], f" {follows}", 1
        core = self._tokens[at + n].core
        if core == _UNITS.get(follows) and follows not in _AMBIGUOUS:
            return core, "", 1
        return unit, "", 0

    def _are(self, at: int, n: int, words: Sequence[str]) -> bool:
        return all(self._after(at, at + n + m) == word for m, word in enumerate(words))


@dataclass(frozen=True, slots=True)
class _Count:
    """A number in words, as far as it was added up."""

    total: int = 0
    current: int = 0
    least: int = 10**15  # scales that may follow are smaller
    n: int = 0

    @property
    def value(self) -> int:
        """Its value, in units of its scale."""
        whole = self.total + self.current
        return whole // _SCALES[self.scale] if self.scale else whole

    @property
    def scale(self) -> str:
        """The scale of a number that is so many millions and no more."""
        last = self.least if self.least in _SCALES.values() else 0
        is_whole = last > 1000 and not self.current and self.total // last < 10_000
        names = (name for name, value in _SCALES.items() if value == last)
        return next(names) if is_whole and self.total % last == 0 else ""

    @property
    def takes_and(self) -> bool:
        """Whether *and* may follow."""
        return self.n > 0 and self.current % 100 == 0 and self.total + self.current > 0

    def with_word(self, word: str) -> "_Count | None":
        """Add a word such as ``twenty-five``; None where it does not follow."""
        count: _Count | None = self
        for part in word.split("-"):
            count = count._with(part) if count is not None else None
        return count

    def _with(self, part: str) -> "_Count | None":
        current = self.current
        value = _CARDINALS.get(part)
        if value is not None:
            room = 10 if 0 < value < 10 else 100
            fits = current % room == 0 and not 10 <= current % 100 < 20 * (room == 10)
            if not fits or (self.n and not value) or (self.n and not self.total + current):
                return None
            return replace(self, current=current + value, n=self.n + 1)
        if part == "hundred" and (0 < current < 100 or not self.n):
            return replace(self, current=max(current, 1) * 100, n=self.n + 1)
        scale = _SCALES.get(part, 0)
        if 0 < scale < self.least and (current or not self.n):
            return _Count(self.total + max(current, 1) * scale, 0, scale, self.n + 1)
        return None


def _is_cardinal(word: str) -> bool:
    return bool(word) and all(part in _CARDINALS for part in word.split("-"))


def _scale_of(letters: str, *, is_money: bool) -> str:
    """Return the scale that letters behind digits mean: ``$7.5M``, ``5k``; ``10m`` are metres."""
    name = _EN["letters"].get(letters.casefold(), "")
    return name if is_money or len(letters) > 1 or letters.isupper() or name == "thousand" else ""


def _kind(digits: str) -> str:
    """Return the kind of digits: years, and what may be one, stand as they are."""
    return "exact" if re.fullmatch(r"(?:1\d|20)\d\d(?:[-–]\d{2,4})?", digits) else "number"


def _multiplied(digits: str) -> str:
    value = Decimal(digits.replace(",", "")) * 1000
    return f"{value.normalize():,f}"


def _ordinal(digits: str) -> str:
    teen = digits[-2:-1] == "1"
    return digits + ("th" if teen else {"1": "st", "2": "nd", "3": "rd"}.get(digits[-1], "th"))


def _clock(hour: int, minutes: int, half: str) -> tuple[str, Quantity]:
    """Return an hour as the model reads it."""
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "pm" else 0)
    text = f"{hour}:{minutes:02}"
    return text, Quantity(text, kind="hour", half=half)


def _text(one: Quantity, name: str) -> str:
    """Write a number for the model."""
    money = _EN["names"].get(one.unit, "")
    if one.scale and money:
        return f"{one.sign}{one.digits} {one.scale}{name or ' ' + money}"
    if money and not name:
        return f"{one.sign}{one.unit}{one.digits}"
    unit = name or (one.unit if one.unit == "%" else f" {one.unit}" if one.unit else "")
    return one.sign + one.digits + (f" {one.scale}" if one.scale else "") + unit
