"""Write recognised words as the translator was trained to read them."""

import unicodedata

_PLAIN = str.maketrans(
    {
        "\N{NO-BREAK SPACE}": " ",
        "\N{NON-BREAKING HYPHEN}": "-",
        "\N{HORIZONTAL ELLIPSIS}": "...",
        "\N{RIGHT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT SINGLE QUOTATION MARK}": "'",
        "\N{LEFT DOUBLE QUOTATION MARK}": '"',
        "\N{RIGHT DOUBLE QUOTATION MARK}": '"',
    }
)
_NOISES = ("[", "]", "(", ")", "*", "\N{EIGHTH NOTE}", "\N{BEAMED EIGHTH NOTES}")


def plain_word(text: str) -> str:
    """Write one recognised word plainly; nothing is left of what is no word.

    A recogniser writes what it hears beside speech into brackets or between notes; speech has
    none. A dash or a dot that stands alone is dropped too: it would be a word to translate.
    """
    plain = unicodedata.normalize("NFC", text).translate(_PLAIN).strip()
    if any(noise in plain for noise in _NOISES):
        return ""
    return plain if any(letter.isalnum() for letter in plain) else ""
