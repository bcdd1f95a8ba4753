"""Half past an hour, in languages that name the hour to come: *half past seven* is *halb acht*."""

import re
from collections.abc import Sequence
from itertools import pairwise

from engine.text.numbers import CARDINALS

_HALF = {"da": "halv", "de": "halb", "nl": "half", "no": "halv", "sv": "halv"}
_HOURS = {
    "da": "et to tre fire fem seks syv otte ni ti elleve tolv",
    "de": "eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "nl": "een twee drie vier vijf zes zeven acht negen tien elf twaalf",
    "no": "ett to tre fire fem seks sju åtte ni ti elleve tolv",
    "sv": "ett två tre fyra fem sex sju åtta nio tio elva tolv",
}
_SAID = {
    text: hour for name, hour in CARDINALS.items() if 1 <= hour <= 12 for text in (name, str(hour))
}
_HALF_PAST = re.compile(r"\bhalf[ -]past (\w+)")


def half_hours(source: str, language: str) -> tuple[frozenset[str], ...]:
    """Return how each half past an hour of an English source may go on after *halb*.

    Args:
        source: as far as it was read.
        language: of the translation; in those that name the hour before, there is nothing to keep.
    """
    if language not in _HALF:
        return ()
    hours = _HOURS[language].split()
    said = (_SAID.get(name) for name in _HALF_PAST.findall(source.casefold()))
    return tuple(
        frozenset({hours[hour % 12], str(hour % 12 + 1)}) for hour in said if hour is not None
    )


def half_hours_fit(text: str, hours: Sequence[frozenset[str]], language: str) -> bool:
    """Return whether each *halb* of a text goes on with its hour, as far as it is written.

    A source may have fewer halves than its translation: those after the last are not judged.

    Args:
        text: a caption, its last word perhaps unfinished.
        hours: as ``half_hours`` returns them.
        language: of the translation.
    """
    words = text.casefold().split()
    after = (word for half, word in pairwise(words) if half == _HALF[language])
    for word, allowed in zip(after, hours, strict=False):
        begun = re.match(r"\w*", word)
        if begun and not any(hour.startswith(begun.group()) for hour in allowed):
            return False
    return True
