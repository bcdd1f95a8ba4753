"""Numbers of an English source, and how a translation may write them. Pure.

A number in text is a run of digits with single points, commas or colons inside: ``12.5``, ``9:30``.
Number words (``twenty-five``, ``third``, ``half past nine``) count too, since a translation may use
digits for them. Notation: a decimal point becomes a comma and groups of thousands are parted by
points in the languages of ``_COMMA_LANGUAGES``.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

RUN = re.compile(r"[0-9](?:[.,:]?[0-9])*")
"""A number in digits."""

_GROUPED = re.compile(r"[0-9]{1,3}(,[0-9]{3})+(\.[0-9]+)?")
_CLOCK = re.compile(r"([0-9]{1,2})[:.]([0-9]{2})")
_BLANK_LANGUAGES = frozenset({"cs", "fi", "fr", "hu", "no", "pl", "ru", "sk", "sv", "uk"})
"""Languages in which a blank parts thousands, of four digits too."""

_POINT_LANGUAGES = frozenset({"en", "ja", "zh", "ko", "th", "he"})


def _counted(words: str, first: int = 0, step: int = 1) -> dict[str, int]:
    return {word: first + step * n for n, word in enumerate(words.split())}


CARDINALS = _counted(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
"""English number words of one part below twenty."""

_VALUES = (
    CARDINALS
    | _counted(
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
        " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth",
        first=1,
    )
    | _counted("twenty thirty forty fifty sixty seventy eighty ninety", 20, 10)
    | _counted("twentieth thirtieth fortieth fiftieth sixtieth seventieth", 20, 10)
    | _counted("eightieth ninetieth", 80, 10)
    | _counted("twenties thirties forties fifties sixties seventies eighties nineties", 20, 10)
    | {"fortnight": 14}
)
_ARTICLES = frozenset({"one", "first", "second", "third"})
"""They are numbers only beside others, or in dates."""

_SCALES = {
    "hundred": 100, "thousand": 1000, "k": 1000, "million": 10**6, "m": 10**6, "mn": 10**6,
    "billion": 10**9, "bn": 10**9, "trillion": 10**12, "dozen": 12,
}  # fmt: skip
_CLOCK_WORDS = _counted("am pm a.m p.m o'clock past half quarter to till noon midnight").keys()
_AFTER_HOURS = frozenset({"am", "pm", "a.m", "p.m", "p", "o'clock"})
_HALF_OF_DAY = re.compile(r"\b[ap]\.? m\b|\bin the (?:afternoon|evening)\b")
_MONTHS = _counted(
    "january february march april may june july august september october november december"
).keys()
_PART = re.compile(RUN.pattern + r"|[^\W\d_]+(?:['’.][^\W\d_]+)*")


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a source, as runs of digits (see ``RUN``) that may stand for it.

    Attributes:
        whole: each of them says the whole number.
        parts: the number may be written in parts instead, each one of its set: ``9 Uhr 30``.
    """

    whole: frozenset[str]
    parts: tuple[frozenset[str], ...] = ()


def find_numbers(words: Sequence[str], language: str) -> list[Number]:
    """List the numbers of a source, with the ways in which a translation may write them.

    Args:
        words: of the source, as far as they are read.
        language: of the translation, for example ``de``.
    """
    text = " ".join(words).casefold()
    parts = _PART.findall(text)
    by_clock = not _CLOCK_WORDS.isdisjoint(parts) or _HALF_OF_DAY.search(text) is not None
    found = [*_from_digits(parts, language), *_from_words(parts, language)]
    if by_clock:
        return [
            Number(_with_hours(one.whole), (*map(_with_hours, one.parts[:1]), *one.parts[1:]))
            for one in found
        ]
    return found


def _from_digits(parts: Sequence[str], language: str) -> Iterator[Number]:
    for here, part in enumerate(parts):
        if not RUN.fullmatch(part):
            continue
        written = set(_notations(part, language))
        scale = _SCALES.get(parts[here + 1]) if here + 1 < len(parts) else None
        if scale is not None and re.fullmatch(r"[0-9]+([.][0-9]+)?", part.replace(",", "")):
            value = round(float(part.replace(",", "")) * scale)
            written |= set(_notations(str(value), language))
        if len(part) <= 3 and re.fullmatch("[0-9]{3}", "".join(parts[here + 1 : here + 2])):
            written |= set(_notations(part + parts[here + 1], language))  # "50 000"
        grouped = f"{int(part):,}" if _is_grouped(part, language) else part
        pieces = re.split("[.,:]", grouped)  # "9 Uhr 30", "45 000", "1 250"
        yield Number(
            frozenset(written),
            tuple(frozenset({one, one.lstrip("0") or "0"}) for one in pieces[1:] and pieces),
        )


def _is_grouped(digits: str, language: str) -> bool:
    """Return whether a blank may part the thousands of a number; it parts those of no year."""
    if not digits.isdecimal() or len(digits) < 4:
        return False
    return len(digits) > 4 or (language in _BLANK_LANGUAGES and not 1900 <= int(digits) < 2100)


def _from_words(parts: Sequence[str], language: str) -> Iterator[Number]:
    """Read runs of number words as one number, as two halves of a year, and word by word.

    The scale of a number in digits belongs to that: ``4.2 million``.
    """
    run: list[str] = []
    for before, part in pairwise(("", *parts, "end")):
        is_scale = len(part) > 2 and part in _SCALES and (run or not RUN.fullmatch(before))
        if part in _VALUES or is_scale or (run and part == "and"):
            run.append(part)
        elif run:
            counts = run[0] not in _ARTICLES or part in _AFTER_HOURS
            if len(run) > 1 or counts or not _MONTHS.isdisjoint(parts):
                yield _spelt(run, language)
            run = []


def _spelt(run: Sequence[str], language: str) -> Number:
    """Read number words as one number, or word by word."""
    singles = [_value([word]) for word in run]
    values = {_value(run), *_years(run), *singles}
    whole = (text for value in values for text in _notations(str(value), language))
    parts = (frozenset(_notations(str(value), language)) for value in singles)
    return Number(frozenset(whole), tuple(parts) if len(run) > 1 else ())


def _value(run: Sequence[str]) -> int:
    """Add up number words: ``two hundred and fifty`` is 250."""
    total = current = 0
    for word in run:
        if word in _SCALES and (current or word not in _VALUES):
            scale = _SCALES[word]
            current = max(current, 1) * scale
            if scale >= 1000:
                total, current = total + current, 0
        else:
            current += _VALUES.get(word, 0)
    return total + current


def _years(run: Sequence[str]) -> Iterator[int]:
    """Read ``nineteen eighty-four`` as 1984, ``twenty twenty six`` as 2026."""
    for border in range(1, len(run)):
        first, second = _value(run[:border]), _value(run[border:])
        if 10 <= first < 100 and second < 100:
            yield 100 * first + second


def _notations(run: str, language: str) -> Iterator[str]:
    """Write digits as they stand, and in the notation of the language."""
    yield run
    yield run.lstrip("0") if run.strip("0") and not run.startswith("0.") else run
    plain = run.replace(",", "") if _GROUPED.fullmatch(run) else run
    yield plain
    if clock := _CLOCK.fullmatch(run):
        hour, minute = clock.groups()
        for mark in ":.":
            yield f"{hour}{mark}{minute}"
            yield f"{int(hour):02}{mark}{minute}"
        yield str(int(hour))
    if run.isdecimal() and len(run) == 1:
        yield f"0{run}"
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", plain):
        whole, _, decimals = plain.partition(".")
        comma, point = (".", ",") if language in _POINT_LANGUAGES else (",", ".")
        tail = comma + decimals if decimals else ""
        yield whole + tail
        grouped = f"{int(whole):,}".replace(",", point)
        yield grouped + tail


def _with_hours(written: frozenset[str]) -> frozenset[str]:
    """Add the hour of the second half of the day, and the next one: ``halb zehn`` is 9:30."""
    more = set(written)
    for one in written:
        hour, mark, minute = one.partition(":")
        if hour.isdecimal() and int(hour) <= 12:
            more |= {f"{(int(hour) + add) % 24}{mark}{minute}" for add in (1, 12, 13)}
    return frozenset(more)
