"""How captions are marked of which the model is not sure. Plain Python."""

MARKED, SIGN, OFF = "mark", "sign", "off"
DOUBT_MARKS = (MARKED, SIGN, OFF)
"""A small mark before the caption, a sign after it, or nothing."""

DOUBT_MARK = "?"
"""Stands small beside the first letter, where no letters are."""

DOUBT_SIGN = "(?)"


def with_sign(caption: str) -> str:
    """Append the sign to a caption that has text."""
    return f"{caption.rstrip()} {DOUBT_SIGN}" if caption.strip() else caption
