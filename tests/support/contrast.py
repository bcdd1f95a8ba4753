"""The contrast of two colours (WCAG 2.2, https://www.w3.org/TR/WCAG22)."""


def contrast(first, second):
    """Return the contrast of two colours (red, green, blue), 0 to 255 each: 1 to 21."""
    dark, light = sorted(map(_luminance, (first, second)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour):
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (value / 255 for value in colour)
    ]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
