"""Draw sentences with numbers, and what their captions must say.

A sentence has one or two numbers of a kind (hours, scales, money, years and numbers in words,
units, spans, grouped digits), typed in one of the ways that people type them. Its caption must have
each with its scale, unit, money or hour, in a form of the language, no other digit, no replacement
character and no sign that the source has not. What is looked for is written here, apart from what
the engine does.
"""

import random
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

SEED = 11
N_SENTENCES = 200
_ONES, _TENS = (
    words.split()
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen",
        "x x twenty thirty forty fifty sixty seventy eighty ninety",
    )
)
_SIGNS = re.compile("[\ufffd#<>{}|~^\\\\`=\u2190-\u2bff]")

SCALES = {
    "de": {
        "million": "Million(?:en)?|Mio\\.",
        "billion": "Milliarden?|Mrd\\.",
        "trillion": "Billion(?:en)?",
    },
    "fr": {
        "million": "millions?",
        "billion": "milliards?",
        "trillion": "billions?|mille milliards",
    },
    "es": {"million": "millón|millones", "billion": "mil millones", "trillion": "billón|billones"},
}
MONEY = {
    "de": {"$": r"\$|(?:US-)?Dollar", "€": "€|Euro", "£": "£|Pfund"},
    "fr": {"$": r"\$|(?:de )?dollars?", "€": "€|(?:d['’])?euros?", "£": "£|(?:de )?livres?"},
    "es": {"$": r"\$|(?:de )?dólar(?:es)?", "€": "€|(?:de )?euros?", "£": "£|(?:de )?libras?"},
}
PERCENT = {"de": "%|Prozent", "fr": "%|pour cent", "es": "%|por ciento"}
_BLANK = "[ \u00a0\u202f]?"
_MINUS = r"(?:[-\u2212]|minus |moins |menos )"
_WORDS = {
    "de": "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn zwanzig dreißig vierzig"
    " fünfzig sechzig siebzig achtzig neunzig",
    "fr": "treize quatorze quinze seize dix-sept dix-huit dix-neuf vingt trente quarante cinquante"
    " soixante soixante-dix quatre-vingts? quatre-vingt-dix",
    "es": "trece catorce quince dieciséis diecisiete dieciocho diecinueve veinte treinta cuarenta"
    " cincuenta sesenta setenta ochenta noventa",
}


def said(n: int) -> str:
    """Say a number under a thousand in words."""
    if n >= 100:
        rest = n % 100
        return f"{_ONES[n // 100]} hundred" + (f" and {said(rest)}" if rest else "")
    if n < 20:
        return _ONES[n]
    return _TENS[n // 10] + (f"-{_ONES[n % 10]}" if n % 10 else "")


def digits(text: str, to: str) -> str:
    """Return what matches English digits in the notation of a language."""
    whole, _, decimals = text.replace(",", "").partition(".")
    mark = {"de": r"\.", "es": r"[. ]", "fr": "[ \u00a0\u202f]"}[to]
    grouped = f"{int(whole):,}".replace(",", f"{mark}?") if len(whole) > 3 else whole
    return rf"(?<![\d.,]){grouped}" + (f",{decimals}" if decimals else "") + r"(?![.,]?\d)"


def spelt(n: int, to: str) -> str:
    """Return what matches a number that was said, in digits or as one word."""
    words = dict(zip((*range(13, 20), *range(20, 100, 10)), _WORDS[to].split(), strict=True))
    return f"(?:{digits(str(n), to)}|(?i:{words[n]})\\b)" if n in words else digits(str(n), to)


def hour(h: int, minutes: int, to: str) -> str:
    """Return what matches an hour of 24."""
    start, m = rf"(?<![\d:.,])0?{h}", f"{minutes:02}"
    marks = {"de": r"[:.]{m}(?: Uhr)?| Uhr {m}", "fr": "[:]{m}|B(?:h|heures?)B{m}", "es": "[:.]{m}"}
    whole = {
        "de": "(?:[:.]00)?(?: Uhr| bis| und)",
        "fr": "(?::00|B(?:h|heures?)(?:B00)?|(?= à| et))",
    }
    whole["es"] = "(?:[:.]00| horas)"
    there = marks[to].replace("{m}", m).replace("B", _BLANK)
    ways = [rf"{start}(?:{there})"]
    if not minutes:
        ways.append(start + whole[to].replace("B", _BLANK))
    if to == "es":
        half = "mañana" if h < 12 else "tarde|noche"
        shown = (h - 1) % 12 + 1
        ways.append(rf"(?<![\d:.,]){shown}(?:[:.]{m})? de la (?:{half})")
    return "(?:" + "|".join(ways) + r")(?![:.]?\d)"


@dataclass(frozen=True, slots=True)
class Sentence:
    """A source, its kind, and what its caption must have, in this language."""

    kind: str
    source: str
    wanted: tuple[str, ...]

    def is_right(self, caption: str) -> bool:
        """Return whether a caption has what it must, and no digit or sign beside it."""
        for pattern in self.wanted:
            caption, n = re.subn(pattern, " ", caption, count=1)
            if not n:
                return False
        return not re.search("[0-9]", caption) and not _SIGNS.search(caption)


def _hours(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    h, late = rng.randint(1, 11), rng.randint(1, 11)
    m = rng.choice([0, 15, 20, 45])
    am, pm = rng.choice([(" a.m.", " p.m."), ("am", "pm"), (" am", " pm"), (" AM", " PM")])
    at = f"{late}:{m:02}" if m else str(late)
    return rng.choice(
        [
            (f"The meeting starts at {at}{pm} tomorrow.", (hour(late + 12, m, to),)),
            (f"The train leaves at {h}{am} and arrives at {at}{pm} in Berlin.",
             (hour(h, 0, to), hour(late + 12, m, to))),
            (f"We open at {h}{am} and close at {late}{pm}",
             (hour(h, 0, to), hour(late + 12, 0, to))),
            (f"I will call you at {at}{am}.", (hour(late, m, to),)),
            (f"The shop is open from {h}{am} to {late}{pm} on weekdays.",
             (hour(h, 0, to), hour(late + 12, 0, to))),
            (f"Please be there at {said(h)}{' p.m.' if ' ' in pm else ' pm'} on Friday.",
             (hour(h + 12, 0, to),)),
            (f"The concert begins at {late} in the evening.", (hour(late + 12, 0, to),)),
        ]
    )  # fmt: skip


def _parts_of_hours(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    h = rng.randint(2, 11)
    way, hh, m = rng.choice(
        [("half past", h, 30), ("quarter past", h, 15), ("quarter to", h - 1, 45),
         ("ten past", h, 10), ("twenty to", h - 1, 40)]
    )  # fmt: skip
    shown = rng.choice([said(h), str(h)])
    text = rng.choice(
        [
            "The lesson starts at {} today.",
            "Let's meet at {}.",
            "The bus leaves at {} in the morning.",
        ]
    )
    return text.format(f"{way} {shown}"), (hour(hh, m, to),)


def _scales(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    def one() -> tuple[str, str]:
        value = rng.choice([f"{rng.randint(1, 9)}.{rng.randint(1, 9)}", str(rng.randint(2, 900))])
        scale = rng.choice(["million", "million", "billion", "trillion"])
        sign = rng.choice("$€£")
        letter = {"million": "M", "billion": "B", "trillion": "T"}[scale]
        name = {"$": "dollars", "€": "euros", "£": "pounds"}[sign]
        shape = rng.choice(
            [f"{sign}{value} {scale}", f"{sign}{value}{letter}", f"{value} {scale} {name}"]
        )
        unit = f"(?:{MONEY[to][sign]})"
        return shape, rf"{digits(value, to)} (?:{SCALES[to][scale]}) ?{unit}"

    (a, x), (b, y) = one(), one()
    return rng.choice(
        [
            (f"The company made {a} last year.", (x,)),
            (f"We need {a} for the new building.", (x,)),
            (f"Sales rose from {a} to {b}.", (x, y)),
            (f"The government will spend {a} on schools.", (x,)),
        ]
    )


def _money(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    sign = rng.choice("$€£")
    value = rng.choice([str(rng.randint(13, 990)), f"{rng.randint(1, 90)}.{rng.randint(11, 99)}",
                        f"{rng.randint(1, 90)},{rng.randint(100, 999)}"])  # fmt: skip
    wanted = (rf"{digits(value, to)}{_BLANK}(?:{MONEY[to][sign]})|\$ ?{digits(value, to)}",)
    typed = rng.choice([f"{sign}{value}", f"{value}{sign}", f"{value} {sign}"])
    return rng.choice(
        [
            (f"The ticket costs {typed}.", wanted),
            (f"She paid {typed} for the table.", wanted),
            (f"They earn {sign}{value}/hour.", wanted),
            (f"He still owes me {typed} from last week.", wanted),
        ]
    )


def _years(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    year = rng.choice([rng.randint(1910, 1999), rng.randint(2010, 2029), rng.randint(1810, 1899)])
    first, second = divmod(year, 100)
    typed = rng.choice(
        [str(year), f"{said(first)} {said(second)}", f"{said(first)} {said(second)}"]
    )
    text = rng.choice(
        ["She was born in {}.", "The house was built in {}.", "In {} we moved to Berlin.",
         "The war ended in {}.", "This book from {} is very good."]
    )  # fmt: skip
    return text.format(typed), (digits(str(year), to).replace(r"\.?", "").replace("[. ]?", ""),)


def _in_words(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    n = rng.choice([rng.randint(13, 99), rng.randint(101, 199), rng.randint(801, 899)])
    text = rng.choice(
        ["We have {} chairs in the room.", "There were {} people at the party.",
         "The book has {} pages.", "They planted {} trees in the park."]
    )  # fmt: skip
    percent = rng.randint(13, 99)
    if rng.random() < 0.4:
        shape = rng.choice(["{} percent of the students were there.", "Prices rose by {} percent."])
        source = shape.format(said(percent))
        return source[0].upper() + source[1:], (f"{spelt(percent, to)}{_BLANK}(?:{PERCENT[to]})",)
    if rng.random() < 0.3:
        named = rng.choice(["Room {} is free.", "Please read page {}.", "We fly from gate {}."])
        return named.format(said(percent)), (spelt(percent, to),)
    return text.format(said(n)), (spelt(n, to),)


def _units(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    n = rng.randint(13, 400)
    unit, word = rng.choice(
        [("km", "Kilometer|kilomètres|kilómetros"), ("kg", "Kilo(?:gramm)?|kilos?"),
         ("GB", "Gigabyte"), ("cm", "Zentimeter|centimètres|centímetros"),
         ("miles", "Meilen|millas|milles"), ("litres", "Litern?|litros")]
    )  # fmt: skip
    typed = rng.choice([f"{n}{unit}", f"{n} {unit}"])
    wanted = (rf"{digits(str(n), to)}{_BLANK}(?:{unit}|{word})",)
    percent = f"{rng.randint(1, 99)}.{rng.randint(1, 9)}"
    return rng.choice(
        [
            (f"It is {typed} long.", wanted),
            (f"We need {typed} more.", wanted),
            (
                f"It was -{n % 40} °C.",
                (rf"{_MINUS}{digits(str(n % 40), to)}{_BLANK}(?:°C|Grad|degrés|grados)",),
            ),
            (
                f"Prices fell by {percent}% in May.",
                (f"{digits(percent, to)}{_BLANK}(?:{PERCENT[to]})",),
            ),
        ]
    )


def _grouped(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    n, year = f"{rng.randint(1100, 990_000):,}", rng.randint(2001, 2029)
    n_years = rng.randint(13, 40)
    return rng.choice(
        [
            (f"We sold {n} books in {year}.", (digits(n, to), rf"(?<!\d){year}(?!\d)")),
            (f"The city has {n} inhabitants.", (digits(n, to),)),
            (f"About {n} people came in {n_years} days.",
             (digits(n, to), digits(str(n_years), to))),
            (f"They won {n_years}-{n_years - 3} last night.",
             (rf"{n_years}(?: ?[-–:] ?| zu | à | a | bis ){n_years - 3}",)),
        ]
    )  # fmt: skip


def _ordinals(rng: random.Random, _: str) -> tuple[str, tuple[str, ...]]:
    n, year = rng.randint(13, 31), rng.randint(1950, 2029)
    typed = f"{n}" + {1: "st", 2: "nd", 3: "rd"}.get(n % 10 if n > 20 else 0, "th")
    month = rng.choice(["March", "May", "October"])
    wanted = rf"(?<!\d){n}(?:\.?[ºª°]|\.|è?m?es?|er)?(?!\d)"
    return rng.choice(
        [
            (f"He lives on the {typed} floor.", (wanted,)),
            (f"The meeting is on {month} {n}.", (wanted,)),
            (f"She was born on the {typed} of {month} {year}.", (wanted, str(year))),
            (f"The game is on {month} {typed}, {year}.", (wanted, str(year))),
            (f"It happened on {n} {month} {year}.", (wanted, str(year))),
            (f"We meet on the {typed} of {month}.", (wanted,)),
            (
                f"He was the {_ONES[14 + n % 5]}th president.",
                (wanted.replace(str(n), str(14 + n % 5)),),
            ),
            (f"I was born in the {rng.randint(5, 9)}0s.", (r"\d0",)),
        ]
    )


def _spans(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    n, first, sign = rng.randint(13, 60), rng.randint(1950, 2015), rng.choice("$€£")
    more, last = n + rng.randint(2, 30), first + rng.randint(2, 9)
    a, b = digits(str(n), to), digits(str(more), to)
    both = rf"{a}(?: ?[-–] ?| bis | à | a ){b}"
    money = f"{_BLANK}(?:{MONEY[to][sign]})"
    return rng.choice(
        [
            (f"About {n}-{more} people were there.", (both,)),
            (f"It takes {n} to {more} minutes.", (a, b)),
            (f"The prices are between {sign}{n} and {sign}{more}.", (a + money, b + money)),
            (f"He was president from {first} to {last}.", (str(first), str(last))),
            (f"He worked there {first}-{last}.", (rf"{first}(?:[-–]| bis | à | a ){last}",)),
            (f"A ticket is {sign}{n}-{more}.", (rf"{both}{money}|{re.escape(sign)} ?{both}",)),
            (f"Sales fell by {n} to {more} percent.", (a, b)),
        ]
    )


def _exact(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    address = ".".join(str(rng.randint(1, 254)) for _ in range(4))
    n, version = rng.randint(13, 99), f"{rng.randint(2, 9)}.{rng.randint(1, 20)}"
    code = rng.choice([f"B{n}", f"{n}B"])
    return rng.choice(
        [
            (f"My address is {address} at home.", (re.escape(address),)),
            (f"We use version {version}.3 now.", (re.escape(version + ".3"),)),
            (f"Please go to gate {code}.", (code,)),
            (f"It was {rng.choice(['-', 'minus '])}{n} degrees last night.",
             (_MINUS + digits(str(n), to),)),
            (f"The price changed by -{n}%.",
             (rf"{_MINUS}{digits(str(n), to)}{_BLANK}(?:{PERCENT[to]})",)),
            (f"We meet in room no. {n}.", (rf"(?<!nein\. )(?<!non\. ){n}",)),
            (f"Only 1/{n} of them came.", (f"1/{n}",)),
            (f"We waited {n - 10}½ hours.", (rf"{n - 10},5",)),
        ]
    )  # fmt: skip


def _passed(rng: random.Random, _: str) -> tuple[str, tuple[str, ...]]:
    token = rng.choice(
        ["{count}", "{{user}}", "#MeToo", "@anna", "<b>", "`ls`", "-->", "==",
         "foo()", "/etc/hosts", r"C:\temp", "a_b^2", "👍", "🇩🇪", "❤️", "★", "→", "~", "|", "&&&"]
    )  # fmt: skip
    wanted = (re.escape(token),)
    return rng.choice(
        [
            (f"We talked about {token} yesterday.", wanted),
            (f"{token} is very good.", wanted),
            (f"Thank you very much {token}", wanted),
            (f"I have 25 of {token} here.", (*wanted, "25")),
        ]
    )


def _forms(rng: random.Random, to: str) -> tuple[str, tuple[str, ...]]:
    n = rng.randint(13, 99)
    name = rng.choice(["Müller", "José", "Łukasz", "Zoë"])
    chair = {"de": "(?i:stühle)", "fr": "(?i:chaises)", "es": "(?i:sillas)"}[to]
    house = {"de": "Haus", "fr": "maison", "es": "casa"}[to]
    return rng.choice(
        [
            (f"I met {unicodedata.normalize('NFD', name)} in the house.", (name, house)),
            (f"WE NEED {n} CHAIRS NOW.", (str(n), chair)),
            (f"We need {said(n).upper()} chairs.", (spelt(n, to), chair)),
            (f"The\u200b ho\u00aduse is \u200e{n} years old.", (house, str(n))),
            (f"“We don’t need {n} chairs.”", (str(n), chair)),
            (f"The house\u00a0has {''.join(chr(ord(d) + 0xFEE0) for d in str(n))} rooms…",
             (house, str(n))),
        ]
    )  # fmt: skip


KINDS = {
    "hours": _hours,
    "parts of hours": _parts_of_hours,
    "scales": _scales,
    "money": _money,
    "years": _years,
    "in words": _in_words,
    "units": _units,
    "grouped": _grouped,
    "ordinals": _ordinals,
    "spans": _spans,
    "exact": _exact,
    "passed": _passed,
    "forms": _forms,
}


def drawn(to: str, n: int = N_SENTENCES, seed: int = SEED) -> Iterator[Sentence]:
    """Draw sentences, each kind in turn."""
    rng = random.Random(seed)
    for index in range(n):
        kind = list(KINDS)[index % len(KINDS)]
        source, wanted = KINDS[kind](rng, to)
        yield Sentence(kind, source, wanted)
