"""Words that no model is asked to translate: emoji, and words in other scripts than Latin.

They pass into the caption as they stand.
"""

import unicodedata

_FIRST_PICTOGRAPH = 0x2190
_JOINERS = frozenset("\u200d\ufe0e\ufe0f\u20e3")


def split_foreign(word: str, *, any_script: bool = False) -> tuple[str, str]:
    """Split a word of the source into what is translated and what is passed on.

    Args:
        word: without blanks.
        any_script: the model reads other scripts than the Latin one, too.

    Returns:
        the part for the model and the part for the caption; one of them may be empty. A word with
        Latin letters or digits loses its emoji alone.
    """
    if word.isascii():
        return word, ""
    pictures = "".join(filter(_is_pictograph, word))
    kept = "".join(char for char in word if not _is_pictograph(char))
    if any(map(_is_latin, kept)) or (any_script and any(map(str.isalpha, kept))):
        return kept, pictures
    if pictures or any(map(str.isalpha, word)):
        return "", word
    return word, ""


def _is_pictograph(char: str) -> bool:
    category = unicodedata.category(char)
    is_symbol = category == "So" or (category == "Sk" and ord(char) > 0xFFFF)  # skin tones
    return char in _JOINERS or (is_symbol and ord(char) >= _FIRST_PICTOGRAPH)


def _is_latin(char: str) -> bool:
    """Return whether a character is a digit or a letter of the Latin script."""
    if char.isdecimal():
        return True
    return char.isalpha() and unicodedata.name(char, "").startswith("LATIN")
