"""Colour presets of the overlay, legible on any background. No Qt."""

from dataclasses import dataclass

from app.config.preferences import PRESETS

Rgb = tuple[int, int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """One preset.

    Attributes:
        text: colour of captions.
        quiet: of the source beside captions, and of hints.
        background: of the box.
        opacity: of the box, 0 to 255.
        rim: colour around the letters.
    """

    text: Rgb
    quiet: Rgb
    background: Rgb
    opacity: int
    rim: Rgb


_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)
_SEVENTY_PERCENT, _NINETY_PERCENT = 178, 230

_THEMES = (
    Theme(
        text=_WHITE, quiet=(190, 190, 190), background=_BLACK, opacity=_SEVENTY_PERCENT, rim=_BLACK
    ),
    Theme(
        text=(255, 230, 0),
        quiet=(205, 195, 150),
        background=_BLACK,
        opacity=_SEVENTY_PERCENT,
        rim=_BLACK,
    ),
    Theme(text=_BLACK, quiet=(70, 70, 70), background=_WHITE, opacity=_NINETY_PERCENT, rim=_WHITE),
    Theme(text=(255, 255, 0), quiet=_WHITE, background=_BLACK, opacity=255, rim=_BLACK),
)


def theme(preset: str) -> Theme:
    """Return the colours of a preset, one of ``PRESETS``."""
    return _THEMES[PRESETS.index(preset)]
