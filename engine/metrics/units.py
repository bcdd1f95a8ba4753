"""Units of a target text: words between blanks, or characters in languages without blanks.

Lagging, erasure and resegmentation count these units; they are defined only here.
"""

import re

_UNSPACED = frozenset({"ja", "th", "zh"})


def is_spaced(language: str) -> bool:
    """Return whether a language puts blanks between words; True for an unknown one."""
    return language not in _UNSPACED


def unit_ends(text: str, *, spaced: bool) -> list[int]:
    """Return the index of the last character of each unit."""
    return [match.end() - 1 for match in re.finditer(r"\S+" if spaced else r"\S", text)]


def n_reference_units(reference: str, language: str) -> int:
    """Count the units of a reference as SimulEval does: split at single blanks.

    So two blanks in a row count a word between them, and an empty reference is one word long.
    """
    return len(reference.split(" ")) if is_spaced(language) else max(1, len(reference.strip()))
