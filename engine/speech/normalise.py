"""Leave out what recognisers write though nobody said it."""

import re

_NOTE = re.compile(r"[\[(*♪♫]+[^\W\d]*\W*|[^\W\d_]+[\])♪♫]+[.,!?]*|[^\W\d_]{2,}\*\W*|[\W_]*")
_SIGNS = frozenset("+=&%@$€£#<>")


def said_word(text: str) -> str:
    """Return a recognised word; empty if it is no word.

    Recognisers write noises in brackets, between stars or notes: such a word is letters with one of
    these marks around it. ``401(k)``, ``(202)``, ``A*`` are words. A lone dash or dot is none: it
    would be translated as one; a sign that is read aloud, ``+``, is.
    """
    word = text.strip()
    is_sign = len(word) == 1 and word in _SIGNS
    return word if is_sign or not _NOTE.fullmatch(word) else ""
