"""The contrast of two colours (WCAG 2.2, https://www.w3.org/TR/WCAG22)."""

LEGIBLE = 4.5
"""The least contrast of text (success criterion 1.4.3)."""

Rgb = tuple[int, int, int]


def contrast(first: Rgb, second: Rgb) -> float:
    """Return the contrast of two colours (red, green, blue), 0 to 255 each: 1 to 21."""
    dark, light = sorted(map(_luminance, (first, second)))
    return (light + 0.05) / (dark + 0.05)


def over(colour: Rgb, below: Rgb, opacity: float) -> Rgb:
    """Return what is seen of a colour above another one; opacity 0 to 1."""
    red, green, blue = (
        round(opacity * one + (1 - opacity) * other)
        for one, other in zip(colour, below, strict=True)
    )
    return red, green, blue


def _luminance(colour: Rgb) -> float:
    red, green, blue = map(_linear, colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def _linear(value: int) -> float:
    part = value / 255
    return part / 12.92 if part <= 0.04045 else float(((part + 0.055) / 1.055) ** 2.4)
