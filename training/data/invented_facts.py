"""Invented facts in the notation of a language, and the grammar of the words around them.

Names, numbers, dates, prices and addresses; equal seeds of the random generator give equal facts.
The grammar that joined sentences and their facts need is in ``phrases/grammar.toml``.
"""

import random
import re
import tomllib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path

_PHRASES = Path(__file__).with_name("phrases")
_WORDS: dict[str, list[str]] = {
    name: words.split()
    for name, words in tomllib.loads((_PHRASES / "words.toml").read_text("utf-8")).items()
}
_NOTATIONS: dict[str, dict[str, str]] = tomllib.loads(
    (_PHRASES / "notations.toml").read_text("utf-8")
)
_CITIES: dict[str, dict[str, str]] = {
    language: dict(city.split("=") for city in notation.get("cities", "").split())
    for language, notation in _NOTATIONS.items()
}
_ENDINGS = ("com", "org", "net", "de", "eu", "io", "co.uk")
_CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds"}


@dataclass(frozen=True, slots=True)
class Number:
    """A number, whose notation depends on the language.

    Attributes:
        digits: in English, without grouping: ``1234.5``.
        grouped: with separators at the thousands.
        unit: ``%``, ``percent``, the sign or English word of a currency, or empty.
        million: counted in millions.
    """

    digits: str
    grouped: bool = False
    unit: str = ""
    million: bool = False


Fact = str | Number | date | time


def any_name(rng: random.Random, instead_of: str = "") -> str:
    """Draw a name of one word, known or invented.

    Instead of a woman's name no man's is drawn, nor the other way round: words may agree with it.
    """
    if rng.random() < 0.6:
        name = rng.choice(rng.choice((_WORDS["first"], _WORDS["last"], _WORDS["cities"])))
        return rng.choice(_WORDS["last"]) if _differ(name, instead_of) else name
    return _invented_name(rng)


def _differ(name: str, other: str) -> bool:
    women, men = _WORDS["women"], _WORDS["men"]
    return (name in women and other in men) or (name in men and other in women)


def whole_number(rng: random.Random, n_digits: int, *, grouped: bool = False) -> Number:
    """Draw a whole number of so many digits, never 1: nouns would have to agree with it."""
    least = 10 ** (n_digits - 1) if n_digits > 1 else 2
    return Number(str(rng.randrange(least, 10**n_digits)), grouped)


def invent(kind: str, rng: random.Random) -> Fact:
    """Draw a fact of a kind that phrases name."""
    if kind not in _MAKERS:
        msg = f"phrases may ask for {', '.join(_MAKERS)}, and one asks for {kind!r}"
        raise ValueError(msg)
    return _MAKERS[kind](rng)


def _invented_name(rng: random.Random) -> str:
    return "".join(rng.choices(_WORDS["syllables"], k=rng.randint(2, 4))).capitalize()


def _known_or_invented(rng: random.Random, kind: str, share_known: float) -> str:
    return rng.choice(_WORDS[kind]) if rng.random() < share_known else _invented_name(rng)


def _full_name(rng: random.Random) -> str:
    last = _known_or_invented(rng, "last", 0.7)
    return f"{rng.choice(_WORDS['first'])} {last}"


def _company(rng: random.Random) -> str:
    return f"{_known_or_invented(rng, 'words', 0.6)} {rng.choice(_WORDS['kinds'])}"


def _decimal(rng: random.Random) -> Number:
    whole, decimals = (rng.randrange(1, 10 ** rng.randint(1, most)) for most in (3, 2))
    return Number(f"{whole}.{decimals}")


def _whole(rng: random.Random) -> Number:
    n_digits = rng.randint(1, 6)
    return whole_number(rng, n_digits, grouped=n_digits > 3 and rng.random() < 0.8)


def _share(rng: random.Random) -> Number:
    number = _decimal(rng) if rng.random() < 0.6 else whole_number(rng, rng.randint(1, 2))
    return Number(number.digits, unit=rng.choice(("%", "percent")))


def _clock(rng: random.Random) -> time:
    return time(rng.randint(0, 23), rng.choice((0, 0, 15, 30, 45, rng.randint(1, 59))))


def _code(rng: random.Random) -> str:
    return "".join(rng.choices("ABCDEFGHKLMNPRSTUVWXYZ23456789", k=rng.randint(4, 8)))


def _version(rng: random.Random) -> str:
    return ".".join(str(rng.randint(0, 20)) for _ in range(rng.randint(2, 3)))


def _phone(rng: random.Random) -> str:
    groups = [str(rng.randrange(100, 10000)) for _ in range(rng.randint(2, 3))]
    return rng.choice("0+") + rng.choice((" ", "-")).join(groups)


def _price(rng: random.Random) -> Number:
    sign = rng.choice(list(_CURRENCIES))
    unit = sign if rng.random() < 0.5 else _CURRENCIES[sign]
    if rng.random() < 0.3:
        return Number(_decimal(rng).digits, unit=_CURRENCIES[sign], million=True)
    if rng.random() < 0.3:
        return Number(f"{rng.randrange(1, 200)}.{rng.randrange(10, 99)}", unit=unit)
    n_digits = rng.randint(1, 6)
    return Number(whole_number(rng, n_digits).digits, grouped=n_digits > 3, unit=unit)


def _local(rng: random.Random) -> str:
    first, last = rng.choice(_WORDS["first"]).lower(), rng.choice(_WORDS["last"]).lower()
    return rng.choice(
        (
            f"{first}.{last}",
            first,
            f"{first[0]}{last}",
            "info",
            "support",
            f"{first}{rng.randint(1, 99)}",
        )
    )


def _host(rng: random.Random) -> str:
    word = _known_or_invented(rng, "words", 0.5)
    second = "-" + rng.choice(_WORDS["kinds"]).lower() if rng.random() < 0.3 else ""
    return f"{word.lower()}{second}.{rng.choice(_ENDINGS)}"


def _path(rng: random.Random) -> str:
    return rng.choice(
        ("", "", f"/{rng.choice(_WORDS['words']).lower()}", f"/{rng.randint(1, 999)}", "/en/docs")
    )


_MAKERS: dict[str, Callable[[random.Random], Fact]] = {
    "first": lambda rng: _known_or_invented(rng, "first", 0.8),
    "name": _full_name,
    "company": _company,
    "city": lambda rng: rng.choice(_WORDS["cities"]),
    "int": _whole,
    "small": lambda rng: Number(str(rng.randint(2, 120))),
    "decimal": _decimal,
    "percent": _share,
    "price": _price,
    "year": lambda rng: str(rng.randint(1900, 2035)),
    "date": lambda rng: date(2000, 1, 1) + timedelta(days=rng.randrange(13_000)),
    "time": _clock,
    "code": _code,
    "version": _version,
    "phone": _phone,
    "email": lambda rng: f"{_local(rng)}@{_host(rng)}",
    "url": lambda rng: (
        rng.choice(("www.", "https://", "", "https://www.")) + _host(rng) + _path(rng)
    ),
}


def in_notation(fact: Fact, language: str) -> str:
    """Write a fact in a language; dates and times as in the minutes of a meeting."""
    match fact:
        case Number():
            return _number(fact, language)
        case date():
            form = _NOTATIONS[language]
            month = form["months"].split()[fact.month - 1]
            return form["date"].format(month=month, day=fact.day, year=fact.year)
        case time():
            return _NOTATIONS[language]["time" if fact.minute else "full_hour"].format(
                hour=fact.hour,
                hour12=fact.hour % 12 or 12,
                half="am" if fact.hour < 12 else "pm",
                minutes=f"{fact.minute:02d}",
            )
        case _:
            return _CITIES.get(language, {}).get(fact, fact)


def _number(fact: Number, language: str) -> str:
    notation = _NOTATIONS[language]
    whole, point, decimals = fact.digits.partition(".")
    if fact.grouped:
        whole = f"{int(whole):,}".replace(",", notation["thousands"])
    text = whole + (point and notation["decimal"]) + decimals
    if language == "en" and fact.unit in _CURRENCIES:
        return fact.unit + text
    key = f"million_{fact.unit}" if fact.million else fact.unit
    unit = notation.get(key, fact.unit)
    space = " " if unit and not (language == "en" and unit == "%") else ""
    return text + space + unit


_TABLES = tomllib.loads(
    (Path(__file__).with_name("phrases") / "grammar.toml").read_text(encoding="utf-8")
)
_FIRST = re.compile(r"[^\s'’]+['’]?")

Rules = Sequence[tuple[re.Pattern[str], str]]


@dataclass(frozen=True, slots=True)
class Grammar:
    """Joining sentences of a language, and putting names and numbers into them.

    Attributes:
        conjunctions: English and its translation, which leave the order of words as it is.
        beginnings: words that begin a sentence and are written small within one.
        loosened: undo what the first letter of a name decides.
        fitted: write what the first letter of a name, or a number, demands.
    """

    conjunctions: Sequence[tuple[str, str]]
    beginnings: frozenset[str]
    loosened: Rules
    fitted: Rules

    def may_be_small(self, text: str) -> bool:
        """Return whether the first word of a sentence may be written small."""
        first = _FIRST.match(text)
        return first is not None and first[0].replace("’", "'") in self.beginnings

    def loosen(self, text: str) -> str:
        """Write shortened words before names in full: ``d'Anna`` becomes ``de Anna``."""
        return changed(text, self.loosened)

    def fit(self, text: str) -> str:
        """Let words agree with the names and numbers beside them: ``d'Anna``, ``1er mai``."""
        return changed(text, self.fitted)


def changed(text: str, rules: Rules) -> str:
    for pattern, instead in rules:
        text = pattern.sub(instead, text)
    return text


def compiled(rules: Iterable[tuple[str, str]]) -> Rules:
    return tuple((re.compile(pattern), instead) for pattern, instead in rules)


def grammar_of(language: str) -> Grammar:
    """Return the grammar of a language; of one without a table, nothing is joined or changed."""
    return _GRAMMARS.get(language, _NONE)


_NONE = Grammar((), frozenset(), (), ())
_GRAMMARS = {
    language: Grammar(
        tuple((english, other) for english, other in table.get("conjunctions", ())),
        frozenset(table["beginnings"].split()),
        compiled(table.get("loosened", ())),
        compiled(table.get("fitted", ())),
    )
    for language, table in _TABLES.items()
}
