"""How captions are marked of which the model is not sure. Plain Python."""

DOTTED, SIGN, OFF = "dotted", "sign", "off"
DOUBT_MARKS = (DOTTED, SIGN, OFF)
"""A dotted underline, a sign after the caption, or nothing."""

DOUBT_SIGN = "(?)"


def with_sign(caption: str) -> str:
    """Append the sign to a caption that has text."""
    return f"{caption.rstrip()} {DOUBT_SIGN}" if caption.strip() else caption
