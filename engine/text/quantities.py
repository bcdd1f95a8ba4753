"""Numbers of an English text, each read once as one thing: its digits, scale, unit, or hour. Pure.

Digits and words are read alike: ``$7.5M``, ``seven point five million dollars``; ``5pm``, ``five in
the afternoon``. The grammar is one pattern a kind, made of the words in
``assets/english_numbers.toml``. How a caption writes them is in ``engine.text.written``.
"""

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

from engine.files import ASSETS
from engine.text.spelling import core

_EN = tomllib.loads((ASSETS / "english_numbers.toml").read_text("utf-8"))
_GRAMMAR: dict[str, str] = _EN.pop("grammar")
ENGLISH: dict[str, tuple[str, ...]] = {name: tuple(words.split()) for name, words in _EN.items()}
"""Lists of English words by what they are."""


def counted(words: Sequence[str], first: int = 0, step: int = 1) -> dict[str, int]:
    """Number the words, except those that are an x."""
    return {word: first + step * n for n, word in enumerate(words) if word != "x"}


def _pairs(name: str) -> dict[str, str]:
    return dict(pair.split(":") for pair in ENGLISH[name])


_ONES, _TENS = ENGLISH["ones"], ENGLISH["tens"]
_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_CARDINALS = counted(_ONES) | counted(_TENS, 10, 10)
_ORDINALS = counted(ENGLISH["ordinals"]) | counted(ENGLISH["tenths"], 10, 10)
_DECADES = counted(ENGLISH["decades"], 10, 10)
_LETTERS, _LONG = _pairs("letters"), _pairs("abbreviations")
_MONEY, _RATES = _pairs("money"), _pairs("rates")
_UNITS = {unit.casefold(): unit for unit in (*ENGLISH["units"], *ENGLISH["attached"])}
_UNITS |= _pairs("spellings")
_SMALL = 12
"""Numbers and ordinals in words up to here are translated well; *eighty* is not always."""

_FAMILIAR = {*_ONES[: _SMALL + 1], *_SCALES, "hundred"}
_FAMILIAR |= {f"{n} {of}" for n in _ONES[1:13] for of in ("thousand", "million")}
_FAMILIAR |= {f"{n} hundred" for n in _ONES[1:10]}
"""Numbers in words that stay so."""

_NAMES = {sign: name for name, sign in reversed(_MONEY.items())}
_WORDS: dict[str, Iterable[str]] = {
    "one": _ONES[1:10], "dozen": _ONES[1:13], "teen": _ONES[10:], "age": (*_ONES[13:], _TENS[1]),
    "ten": _TENS[1:], "scale": _SCALES, "ordinal": _ORDINALS, "decade": _DECADES,
    "small": (*_CARDINALS, *_DECADES, *_SCALES, "hundred"), "unit": ENGLISH["units"],
    "attached": ENGLISH["attached"], "letters": _LETTERS, "money": _MONEY, "short": _LONG,
    "after": ENGLISH["hours_after"], "starter": ENGLISH["starters"],
}  # fmt: skip
"""What the patterns of the grammar are made of."""


def _pattern(name: str) -> str:
    """Return a pattern of the grammar; ``@`` numbers the groups of those that it has twice."""
    if name in _WORDS:
        words = sorted(_WORDS[name], key=len, reverse=True)
        return "(?:" + "|".join(map(re.escape, words)) + ")"
    return re.sub(
        r"\{([a-z]+)(\d?)\}",
        lambda part: _pattern(part[1]).replace("@", part[2] or "@"),
        f"(?:{_GRAMMAR[name]})",
    )


def _compiled(name: str) -> re.Pattern[str]:
    return re.compile(_pattern(name).replace("@", "1"), re.IGNORECASE)


_MAY_BEGIN = _compiled("begins")
_COUNTED = {"hours": _compiled("hours"), "money": _compiled("sums")}
_GOES_ON = tuple(tuple(words.split()) for words in _EN["goes_on"].split(","))
_ENDS_OF_THESE = tuple(words[n:] for words in _GOES_ON for n in range(len(words)))
_BETWEEN = frozenset((*sum(_GOES_ON, ()), *_CARDINALS, "or", "until", "till", "-", "–", "minutes"))
_LONGEST = 14
"""Words that a number has at most, with what may follow."""

_RUN = re.compile(r"\d+(?:[.,:]?\d+)*")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number of a source.

    Attributes:
        digits: in English notation, ``1,250.5``; of a range both, ``10-15``; of an hour ``17`` or
            ``17:30``, as it was said.
        scale: ``million`` or more; smaller ones are in the digits.
        unit: a sign of money, ``%``, or a unit such as ``km``.
        kind: ``number``; ``exact``: as it stands; ``point``: it may; ``hour``; ``word``:
            a small one in words.
        half: of the day, where an hour said it: ``am`` or ``pm``.
    """

    digits: str
    scale: str = ""
    unit: str = ""
    kind: str = "number"
    sign: str = ""
    half: str = ""


@dataclass(frozen=True, slots=True)
class SourceWord:
    """Words of a source that are read as one.

    Attributes:
        text: what the model reads; empty for nothing.
        before, after: what stands in the caption as it is, before and after its translation.
        n_words: of the source.
    """

    text: str
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    numbers: tuple[Quantity, ...] = ()
    n_words: int = 1


def read(words: Sequence[str], at: int, *, ended: bool) -> SourceWord | None:
    """Read what begins with a word: a number, or the word alone.

    None where it may go on with words that have not come: ``twenty`` ... ``five``; with ``ended``
    there are no others.
    """
    if not _MAY_BEGIN.match(words[at]):
        return _alone(words[at])
    found = _read(words, at)
    rest = words[at + found.n_words :]
    if ended or (rest and rest[0].casefold() not in _BETWEEN):
        return found
    begun = words[max(at - 2, 0) :]
    further = _ENDS_OF_THESE if rest else _GOES_ON
    may_go_on = any(_read([*begun, *more], min(at, 2)) != found for more in further)
    return None if may_go_on else found


def may_be_counted(text: str) -> frozenset[str]:
    """Return of ``hours`` and ``money`` what numbers of a text may be, as a model reads it."""
    return frozenset(kind for kind, pattern in _COUNTED.items() if pattern.search(text))


@lru_cache(maxsize=4096)
def _alone(word: str) -> SourceWord:
    runs = _RUN.findall(core(word)[1])
    return SourceWord(word, numbers=tuple(Quantity(run, kind="exact") for run in runs))


def _read(words: Sequence[str], at: int) -> SourceWord:
    lead, before = core(words[at])[0], core(words[at - 1])[1] if at else ""
    if at < 2 and before == before.capitalize():  # as the first word of a sentence is
        before = before.casefold()
    text = " ".join(words[at : at + _LONGEST])
    for pattern, made in _RULES:
        if (match := pattern.match(text, len(lead))) is None:
            continue
        found = made(defaultdict(str, match.groupdict(""), all=match.group()), before)
        if found is None:
            continue
        n = match.group().count(" ") + 1
        trail = text[match.end() :].partition(" ")[0]
        is_short = made is _long or re.search(r"(?i)\b[ap]\.? ?m$", match.group())
        if is_short and trail.startswith(".") and at + n < len(words):
            trail = trail[1:]
        return SourceWord(lead + found[0] + trail, numbers=tuple(found[1]), n_words=n)
    return _alone(words[at])


_Groups = defaultdict[str, str]
_Found = tuple[str, list[Quantity]] | None
"""The text that the model reads, and the numbers in it."""


def _no(_: _Groups, before: str) -> _Found:
    return ("number", []) if before else None


def _long(g: _Groups, _: str) -> _Found:
    return _LONG[g["all"]], []


def _past(g: _Groups, before: str) -> _Found:
    """Read ``half past seven``, ``a quarter to six``, ``ten past nine``."""
    is_after = before.casefold() in ENGLISH["hours_after"]
    part, way = g["part"].casefold(), g["way"].casefold()
    minutes = {"half": 30, "quarter": 15}.get(part) or _value(g["words"])
    is_clock = is_after and minutes % 5 == 0 and part != "half"  # *five to six people*
    is_clock = is_clock and before.casefold() not in ("between", "from")
    if (g["a"] and not is_after) or (way == "to" and not (is_clock or part == "quarter")):
        return None
    hour = _value(g["h1"])
    half = _half(g, "1", hour)
    if way == "to":
        hour, minutes = (hour - 2) % 12 + 1, 60 - minutes
    return _clock(hour, minutes, half)


def _late(g: _Groups, before: str) -> _Found:
    """Read ``half twelve``, as the British say it."""
    is_after = before.casefold() in ENGLISH["hours_after"]
    return _clock(_value(g["h1"]), 30, "") if is_after else None


def _span(g: _Groups, _: str) -> _Found:
    """Read a span in one word: ``9am-5pm``, ``9:00-17:00``, ``9-5 p.m.``."""
    (hour, minutes), (end, end_minutes) = _time(g, "1"), _time(g, "2")
    after, first = _half(g, "2", end), g["ap1"].casefold()
    if not (g["ap2"] or first or (g["point1"] == g["point2"] == ":")):
        return None
    half = first + "m" if first else _half_before(hour, end, after)
    one, other = _clock(hour, minutes, half), _clock(end, end_minutes, after)
    return f"{one[0]} to {other[0]}", one[1] + other[1]


def _hour(g: _Groups, before: str) -> _Found:
    """Read ``5pm``, ``5 p.m.``, ``9:30``, ``at nine thirty``, ``9 o'clock``, ``9 to 5 p.m.``."""
    hour, minutes = _time(g, "1")
    is_after, is_word = before.casefold() in ENGLISH["hours_after"], bool(g["word1"])
    is_said = g["point1"] == ":" or (is_word and is_after and minutes is not None)
    if is_word and (g["clock1"] or (minutes and not is_said)) and not g["ap1"]:
        return None  # *nine o'clock in the morning* is translated as it stands
    half = _half(g, "1", hour)
    if half and not (g["ap1"] or is_after or is_said or g["clock1"]):
        return None  # *5 in the morning* may be five of anything
    if not half and g["ap2"]:
        end, _ = _time(g, "2")
        half = _half_before(hour, end, _half(g, "2", end))
    is_hour = hour <= 24 and (minutes is not None or 1 <= hour <= 12)
    if not (is_hour and (half or is_said or g["clock1"])) or (is_word and half == "am"):
        return None  # *five a.m.* is translated well
    return _clock(hour, minutes, half)


def _time(g: _Groups, n: str) -> tuple[int, int | None]:
    """Return an hour and its minutes, if they were said."""
    if g["h" + n]:
        return int(g["h" + n]), int(g["m" + n]) if g["m" + n] else None
    minutes = re.sub("^oh? ", "", g["minutes" + n])
    return _value(g["word" + n]), _value(minutes) if minutes else None


def _half(g: _Groups, n: str, hour: int) -> str:
    if g["night" + n]:
        return "pm" if 6 <= hour < 12 else "am"
    if g["day" + n]:
        return "am" if g["day" + n].casefold() == "morning" else "pm"
    return g["ap" + n].casefold() + "m" if g["ap" + n] else ""


def _half_before(hour: int, end: int, half: str) -> str:
    """Return the half of the day of an hour from which something lasts to another: 9 to 5 p.m."""
    return half if hour % 12 <= end % 12 or not half else {"am": "pm", "pm": "am"}[half]


def _clock(hour: int, minutes: int | None, half: str) -> tuple[str, list[Quantity]]:
    """Return an hour as the model reads it; its digits have no minutes where none were said."""
    if half and hour <= 12:
        hour = hour % 12 + (12 if half == "pm" else 0)
    text = f"{hour}:{minutes or 0:02}"
    digits = text if minutes is not None else str(hour)
    return text, [Quantity(digits, kind="hour", half=half)]


def _exact(g: _Groups, _: str) -> _Found:
    return g["all"], [Quantity(g["all"], kind="exact")]


def _year(g: _Groups, _: str) -> _Found:
    """Read ``nineteen eighty-four``, ``nineteen oh five``, ``nineteen eighties``."""
    rest = _DECADES.get(g["decade"].casefold(), 0) or _value(re.sub("^oh? ", "", g["rest"]))
    digits = f"{_value(g['century'])}{rest:02}"
    return digits + "s" * bool(g["decade"]), [Quantity(digits, kind="exact")]


def _number(g: _Groups, before: str) -> _Found:
    """Read a number with what belongs to it: scale, unit, what it is paid for."""
    sign, name, letters = g["money"] or g["mark"], g["name"].casefold(), g["letters"]
    of_billions = letters in "BT" and "." not in g["digits"]  # *7B* may be a seat
    is_big = letters in ("k", letters.upper()) and not (g["gap"] or of_billions)
    is_scale = sign or len(letters) > 1 or is_big
    if letters and not is_scale:
        return None
    is_second = before.casefold() in _CARDINALS or (g["sign"] and before[-1:].isdecimal())
    if is_second and (g["sign"][1:] or g["words"]):
        return None  # *five minus two*, *twelve fifty*
    unit = g["unit"] or g["apart"]
    if len(g["unit"]) == 1 and unit.isupper() and unit not in ENGLISH["units"]:
        return _exact(g, "")  # *5G*
    unit = _MONEY.get((sign or name).casefold(), sign) or _UNITS.get(unit.casefold(), unit)
    counted = _digits(g, is_named=before.casefold() in ENGLISH["labels"])
    if counted is None or (g["rate"] and unit not in _NAMES):  # *five*; *5 MB/s*
        return None
    digits, scale = counted
    is_label = before != before.casefold() or before in ENGLISH["points_after"]
    kind = "point" if "." in digits and is_label else _kind(digits) if g["digits"] else "number"
    minus = "-" if g["sign"][1:] else g["sign"]
    one = Quantity(digits, scale, unit, "number" if scale or unit else kind, minus)
    rate = _RATES.get(g["rate"], g["rate"])
    return _text(one, name) + (f" per {rate}" if rate else ""), [one]


def _part(g: _Groups, _: str) -> _Found:
    """Read ``half a million``, ``three quarters of a billion``."""
    part = {"h": 500, "q": 250, "t": 750}[g["part"][0].casefold()]
    value, name = part * _SCALES[g["scale"].casefold()] // 1000, g["name"].casefold()
    scale = next((it for it in ("billion", "million") if value >= _SCALES[it]), "")
    one = Quantity(f"{value // _SCALES.get(scale, 1):,}", scale, _MONEY.get(name, ""))
    return _text(one, name), [one]


def _digits(g: _Groups, *, is_named: bool) -> tuple[str, str] | None:
    """Return the digits and the scale of a number; None for one that stays in words.

    ``is_named``: it tells what is before it from others, as in *room nineteen*.
    """
    digits, words = re.sub("[$€£]", "", g["digits"]), g["words"]
    scale = _LETTERS.get(g["letters"].casefold(), g["scale"].casefold())
    decimals = "".join(str(_CARDINALS[word]) for word in g["decimals"].casefold().split())
    decimals = "5" if g["half"] else decimals
    if words and not decimals:
        spelt = f"{words} {scale}".strip()
        value, times = _value(spelt), _SCALES.get(scale, 1)
        if (spelt if value > 12 else spelt.casefold()) in _FAMILIAR and not (
            g["mark"] or g["unit"] or g["apart"] or g["sign"] or is_named
        ):
            return None
        if times == 1000 or value % times:
            times, scale = 1, ""
        value //= times
        return str(value) if value < 10_000 else f"{value:,}", scale
    digits = (digits or str(_value(words))) + "." * bool(decimals) + decimals
    if scale == "thousand" and not re.search("[-–]", digits):
        digits, scale = f"{(Decimal(digits.replace(',', '')) * 1000).normalize():,f}", ""
    return digits, scale


def _ordinal(g: _Groups, before: str) -> _Found:
    """Read ``twenty-first``, ``March ninth``; small ones are translated well elsewhere."""
    value = _ORDINALS[g["ordinal"].casefold()] + _value(g["tens"])
    if value <= _SMALL and before.casefold() not in ENGLISH["months"]:
        return g["all"], [Quantity(str(value), kind="word")]
    ending = {1: "st", 2: "nd", 3: "rd"}.get(value % 10 if value > 20 else 0, "th")
    return f"{value}{ending}", [Quantity(str(value), kind="exact")]


def _small(g: _Groups, _: str) -> _Found:
    """Read what stays in words: ``five``, ``nineties``, ``three hundred``."""
    decade = _DECADES.get(g["all"].casefold(), 0)
    kind, scale = "exact" if decade else "word", g["scale"].casefold()
    value = decade or _value(g["all"]) // _SCALES.get(scale, 1)
    return g["all"], [Quantity(str(value), scale, kind=kind)]


def _value(words: str) -> int:
    """Add up a number in words, or in digits."""
    total = current = 0
    for word in re.split("[- ]", words.casefold()):
        if word in _SCALES and total and not current:
            total *= _SCALES[word]
        elif word in _SCALES:
            total, current = total + (current or 1) * _SCALES[word], 0
        elif word == "hundred":
            current = max(current, 1) * 100
        elif word != "and":
            current += int(word) if word.isdecimal() else _CARDINALS.get(word, 0)
    return total + current


def _kind(digits: str) -> str:
    """Return the kind of digits: years, and what may be one, stand as they are."""
    return "exact" if re.fullmatch(r"(?:1\d|20)\d\d(?:[-–]\d{2,4})?", digits) else "number"


def _text(one: Quantity, name: str) -> str:
    money = _NAMES.get(one.unit, "")
    if money and not (name or one.scale):
        return f"{one.sign}{one.unit}{one.digits}"
    unit = (name or money) if money else one.unit
    parts = (one.sign + one.digits, one.scale, unit)
    return " ".join(filter(None, parts)).replace(" %", "%")


_RULES = [
    (_compiled(name), made)
    for name, made in {
        "no": _no, "abbreviation": _long, "past": _past, "late": _late, "span": _span,
        "hour": _hour, "exact": _exact, "nth": _ordinal, "year": _year, "part": _part,
        "scaled": _number, "plain": _number, "word": _small,
    }.items()
]  # fmt: skip
