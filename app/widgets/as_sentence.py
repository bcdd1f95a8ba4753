"""Writes what the engine says as a sentence that can stand alone."""

import re

_ENDS = (".", "!", "?", "…")
_WORD = re.compile(r"[^\W\d_]+(?:[’']\w+)?[,:;]?(?=\s|$)")


def as_sentence(message: str) -> str:
    """Begin with a capital letter and end with a full stop.

    What begins with a name of a file, a model or an adapter keeps it as it is spelt.
    """
    starts_with_word = _WORD.match(message) is not None
    text = message[:1].upper() + message[1:] if starts_with_word else message
    return text if not text or text.endswith(_ENDS) else f"{text}."
