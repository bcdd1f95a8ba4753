"""Invented facts: names, numbers, dates, prices and addresses, written in a language's notation."""

import random
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date, time, timedelta
from pathlib import Path

_WORDS_FILE = Path(__file__).with_name("phrases") / "words.toml"
_LISTS: dict[str, list[str]] = {
    name: words.split() for name, words in tomllib.loads(_WORDS_FILE.read_text("utf-8")).items()
}
_ENDINGS = ("com", "org", "net", "de", "eu", "io", "co.uk")

_MONTHS = {
    "en": "January February March April May June July August September October November December",
    "de": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
    "fr": "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
    "es": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre"
    ),
}
_CURRENCIES = {"$": "dollars", "€": "euros", "£": "pounds"}
_SPOKEN = {
    "de": {"dollars": "Dollar", "euros": "Euro", "pounds": "Pfund", "million": "Millionen"},
    "fr": {"dollars": "dollars", "euros": "euros", "pounds": "livres", "million": "millions"},
    "es": {"dollars": "dólares", "euros": "euros", "pounds": "libras", "million": "millones"},
}


@dataclass(frozen=True, slots=True)
class Number:
    """A number that languages write differently.

    Attributes:
        digits: as English writes it without grouping, ``1234.5``.
        grouped: with separators at the thousands.
        unit: behind it: ``%``, ``percent``, a currency's sign or word, or nothing.
        million: counted in millions.
    """

    digits: str
    grouped: bool = False
    unit: str = ""
    million: bool = False


Fact = str | Number | date | time


class Facts:
    """Makers of facts; the same generator of random numbers makes the same ones."""

    @staticmethod
    def name(rng: random.Random) -> str:
        """Make one word that is a name, known or invented."""
        kind = rng.random()
        if kind < 0.6:
            return rng.choice(rng.choice((_LISTS["first"], _LISTS["last"], _LISTS["cities"])))
        return Facts.invented(rng)

    @staticmethod
    def invented(rng: random.Random) -> str:
        """Make a name that nobody has."""
        return "".join(rng.choices(_LISTS["syllables"], k=rng.randint(2, 4))).capitalize()

    @staticmethod
    def whole(rng: random.Random, n_digits: int, *, grouped: bool = False) -> Number:
        """Make a whole number of so many digits, never 1: nouns would have to follow."""
        least = 10 ** (n_digits - 1) if n_digits > 1 else 2
        return Number(str(rng.randrange(least, 10**n_digits)), grouped)

    @staticmethod
    def decimal(rng: random.Random) -> Number:
        """Make a number with one or two decimals."""
        whole, decimals = (rng.randrange(1, 10 ** rng.randint(1, most)) for most in (3, 2))
        return Number(f"{whole}.{decimals}")


def invent(kind: str, rng: random.Random) -> Fact:
    """Make a fact of a kind that phrases name.

    Raises:
        ValueError: there is no such kind.
    """
    if kind not in _MAKERS:
        msg = f"phrases may ask for {', '.join(_MAKERS)}, and one asks for {kind!r}"
        raise ValueError(msg)
    return _MAKERS[kind](rng)


def _first(rng: random.Random) -> str:
    return rng.choice(_LISTS["first"]) if rng.random() < 0.8 else Facts.invented(rng)


def _full_name(rng: random.Random) -> str:
    last = rng.choice(_LISTS["last"]) if rng.random() < 0.7 else Facts.invented(rng)
    return f"{rng.choice(_LISTS['first'])} {last}"


def _company(rng: random.Random) -> str:
    name = rng.choice(_LISTS["words"]) if rng.random() < 0.6 else Facts.invented(rng)
    return f"{name} {rng.choice(_LISTS['kinds'])}"


def _whole(rng: random.Random) -> Number:
    n_digits = rng.randint(1, 6)
    return Facts.whole(rng, n_digits, grouped=n_digits > 3 and rng.random() < 0.8)


def _share(rng: random.Random) -> Number:
    number = Facts.decimal(rng) if rng.random() < 0.6 else Facts.whole(rng, rng.randint(1, 2))
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
        return Number(Facts.decimal(rng).digits, unit=_CURRENCIES[sign], million=True)
    if rng.random() < 0.3:
        return Number(f"{rng.randrange(1, 200)}.{rng.randrange(10, 99)}", unit=unit)
    n_digits = rng.randint(1, 6)
    return Number(Facts.whole(rng, n_digits).digits, grouped=n_digits > 3, unit=unit)


def _local(rng: random.Random) -> str:
    first, last = rng.choice(_LISTS["first"]).lower(), rng.choice(_LISTS["last"]).lower()
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
    word = rng.choice(_LISTS["words"]) if rng.random() < 0.5 else Facts.invented(rng)
    second = "-" + rng.choice(_LISTS["kinds"]).lower() if rng.random() < 0.3 else ""
    return f"{word.lower()}{second}.{rng.choice(_ENDINGS)}"


def _path(rng: random.Random) -> str:
    return rng.choice(
        ("", "", f"/{rng.choice(_LISTS['words']).lower()}", f"/{rng.randint(1, 999)}", "/en/docs")
    )


_MAKERS: dict[str, Callable[[random.Random], Fact]] = {
    "first": _first,
    "name": _full_name,
    "company": _company,
    "city": lambda rng: rng.choice(_LISTS["cities"]),
    "int": _whole,
    "small": lambda rng: Number(str(rng.randint(2, 120))),
    "decimal": Facts.decimal,
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
    """Write a fact as a language does; dates and times as English speech in minutes has them."""
    match fact:
        case Number():
            return _number(fact, language)
        case date():
            month = _MONTHS[language].split()[fact.month - 1]
            return {
                "en": f"{month} {fact.day}, {fact.year}",
                "de": f"{fact.day}. {month} {fact.year}",
                "fr": f"{fact.day} {month} {fact.year}",
                "es": f"{fact.day} de {month} de {fact.year}",
            }[language]
        case time():
            return _time(fact, language)
        case _:
            return fact


def _number(fact: Number, language: str) -> str:
    whole, point, decimals = fact.digits.partition(".")
    if fact.grouped:
        separator = {"en": ",", "de": ".", "fr": "\u202f", "es": "."}[language]
        whole = f"{int(whole):,}".replace(",", separator)
    text = whole + (point and ("." if language == "en" else ",")) + decimals
    if fact.million:
        text += " " + ("million" if language == "en" else _SPOKEN[language]["million"])
    unit = fact.unit
    if language == "en":
        if unit in _CURRENCIES:
            return unit + text
        return text + (unit if unit == "%" else f" {unit}" if unit else "")
    if unit == "percent":
        unit = {"de": "Prozent", "fr": "pour cent", "es": "por ciento"}[language]
    unit = _SPOKEN[language].get(unit, unit)
    return f"{text} {unit}" if unit else text


def _time(fact: time, language: str) -> str:
    minutes = f"{fact.minute:02d}"
    match language:
        case "en":
            hour = fact.hour % 12 or 12
            half = "am" if fact.hour < 12 else "pm"
            return f"{hour} {half}" if fact.minute == 0 else f"{hour}:{minutes} {half}"
        case "de":
            return f"{fact.hour} Uhr" if fact.minute == 0 else f"{fact.hour}:{minutes} Uhr"
        case "fr":
            return f"{fact.hour} h" + (f" {minutes}" if fact.minute else "")
        case _:
            return f"{fact.hour}:{minutes}"
