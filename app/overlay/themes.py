"""Colours of the captions: presets that are legible on any background, and the user's own."""

from dataclasses import dataclass

from app.config.preferences import ME, PRESETS, THEM, CaptionPreferences
from app.look.palette import DARK, LEGIBLE, LIGHT, Rgb, contrast, over

_BLACK, _WHITE = (0, 0, 0), (255, 255, 255)
_OPAQUE = 255
_QUIET_SHARE = 0.7  # of the text's colour in that of quiet text
_STEPS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Theme:
    """The colours of captions.

    Attributes:
        text: of captions.
        quiet: of the source beside captions, and of notes.
        background: of the box.
        opacity: of the box, 0 to 255.
        rim: around the letters.
        has_rim: the letters have one: it is chosen, and without it they could be illegible.
        lanes: of the names of speakers, by lane.
    """

    text: Rgb
    quiet: Rgb
    background: Rgb
    opacity: int
    rim: Rgb
    has_rim: bool
    lanes: dict[str, Rgb]


@dataclass(frozen=True, slots=True)
class _Preset:
    text: Rgb
    quiet: Rgb
    background: Rgb
    opacity: float


_PRESETS = (
    _Preset(_WHITE, (190, 190, 190), _BLACK, 0.7),
    _Preset((255, 230, 0), (205, 195, 150), _BLACK, 0.7),
    _Preset(_BLACK, (70, 70, 70), _WHITE, 0.9),
    _Preset((255, 255, 0), _WHITE, _BLACK, 1.0),
)


def theme_of(choices: CaptionPreferences) -> Theme:
    """Return the colours that the user chose; quiet ones and those of speakers are legible."""
    preset = _PRESETS[PRESETS.index(choices.preset)]
    text = _rgb(choices.text_colour) or preset.text
    background = _rgb(choices.background_colour) or preset.background
    opacity = preset.opacity if choices.opacity is None else choices.opacity
    boxes = [over(background, below, opacity) for below in (_BLACK, _WHITE)]
    is_own = (text, background, opacity) != (preset.text, preset.background, preset.opacity)
    quiet = over(text, background, _QUIET_SHARE) if is_own else preset.quiet
    has_rim = choices.outline and _least_contrast(text, boxes) < LEGIBLE
    speakers = max((DARK, LIGHT), key=lambda colours: contrast(_named(colours.me), background))

    def legible(colour: Rgb) -> Rgb:
        found = _legible(colour, text, boxes)
        # The rim around the letters has the colour of the box, without its transparency.
        return _legible(colour, text, [background]) if found == text and has_rim else found

    lanes = {ME: speakers.me, THEM: speakers.them}
    return Theme(
        text=text,
        quiet=legible(quiet),
        background=background,
        opacity=round(opacity * _OPAQUE),
        rim=background,
        has_rim=has_rim,
        lanes={lane: legible(_named(name)) for lane, name in lanes.items()},
    )


def _legible(colour: Rgb, text: Rgb, boxes: list[Rgb]) -> Rgb:
    """Return a colour, nearer to that of the text the less legible it is."""
    mixed = (over(text, colour, step / _STEPS) for step in range(_STEPS))
    return next((one for one in mixed if _least_contrast(one, boxes) >= LEGIBLE), text)


def _least_contrast(colour: Rgb, boxes: list[Rgb]) -> float:
    return min(contrast(colour, box) for box in boxes)


def _rgb(colour: str) -> Rgb | None:
    return _named(colour) if colour else None


def _named(colour: str) -> Rgb:
    """Return the parts of a colour such as ``#0b5cad``."""
    red, green, blue = bytes.fromhex(colour.removeprefix("#"))
    return red, green, blue
