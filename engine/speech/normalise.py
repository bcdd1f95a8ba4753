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
    """Return one recognised word in plain characters; empty if it is no word.

    Recognisers write noises in brackets or between notes; speech has none. A lone dash or dot is
    dropped as well: it would be translated as a word.
    """
    plain = unicodedata.normalize("NFC", text).translate(_PLAIN).strip()
    if any(noise in plain for noise in _NOISES):
        return ""
    return plain if any(letter.isalnum() for letter in plain) else ""
