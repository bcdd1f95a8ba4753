"""The colours of the windows, light and dark; no other file names one.

Presets of the overlay, which must be legible on any background, are its own.
"""

from dataclasses import dataclass, fields

from PySide6.QtGui import QColor, QPalette

_MIDDLE = 128  # lightness between dark and light backgrounds

Role = QPalette.ColorRole
_INACTIVE_TOO = (QPalette.ColorGroup.Active, QPalette.ColorGroup.Inactive)


@dataclass(frozen=True, slots=True, kw_only=True)
class Colours:
    """The colours of one appearance, as ``#rrggbb``.

    Attributes:
        background: of windows.
        surface: of fields, lists and buttons.
        hover: of buttons under the mouse.
        line: between parts; decoration only.
        edge: around fields and buttons, 3:1 against background and surface.
        text: on background and surface, as all of the next ones, 4.5:1.
        quiet: text of less weight.
        disabled: text that cannot be used now; not bound by a contrast.
        accent: the one colour for what is on or chosen.
        on_accent: text on the accent.
        tint: background of what is on.
        error: text and marks of failures.
        warning: text and marks of what may go wrong.
        good: marks of what is well.
        me: name of the user's own lane.
        them: name of the other lane.
    """

    background: str
    surface: str
    hover: str
    line: str
    edge: str
    text: str
    quiet: str
    disabled: str
    accent: str
    on_accent: str
    tint: str
    error: str
    warning: str
    good: str
    me: str
    them: str

    def colour(self, name: str) -> QColor:
        if name not in (field.name for field in fields(self)):
            msg = f"expected the name of a colour, got {name!r}"
            raise ValueError(msg)
        return QColor(getattr(self, name))


LIGHT = Colours(
    background="#f7f8fa",
    surface="#ffffff",
    hover="#eef0f3",
    line="#d9dde3",
    edge="#848c97",
    text="#1b1f24",
    quiet="#5b6470",
    disabled="#8d96a1",
    accent="#0f766e",
    on_accent="#ffffff",
    tint="#e0f2ef",
    error="#b42318",
    warning="#b54708",
    good="#067647",
    me="#0b5cad",
    them="#8a3b00",
)
DARK = Colours(
    background="#16181d",
    surface="#1e2127",
    hover="#2a2e36",
    line="#343a43",
    edge="#6f7885",
    text="#e8eaed",
    quiet="#a3abb6",
    disabled="#6f7885",
    accent="#2dd4bf",
    on_accent="#16181d",
    tint="#17403c",
    error="#f97066",
    warning="#fdb022",
    good="#47cd89",
    me="#7fbcff",
    them="#ffb37a",
)


def colours_of(palette: QPalette) -> Colours:
    """Return the colours for a palette: those on light or on dark backgrounds."""
    return DARK if is_dark(palette.color(Role.Base).name()) else LIGHT


def is_dark(colour: str) -> bool:
    """Return whether a colour is nearer to black than to white."""
    return QColor(colour).lightness() < _MIDDLE


def high_contrast(system: QPalette) -> Colours:
    """Return the colours of a system that asks for high contrast: each line as strong as text."""
    background, surface = (system.color(role).name() for role in (Role.Window, Role.Base))
    text, accent = (system.color(role).name() for role in (Role.Text, Role.Highlight))
    strong = dict.fromkeys(("line", "edge", "text", "quiet", "error", "warning", "good"), text)
    disabled = system.color(QPalette.ColorGroup.Disabled, Role.Text).name()
    return Colours(
        background=background,
        surface=surface,
        hover=surface,
        tint=surface,
        disabled=disabled,
        accent=accent,
        on_accent=system.color(Role.HighlightedText).name(),
        me=text,
        them=text,
        **strong,
    )


def palette_of(colours: Colours) -> QPalette:
    """Return the palette that Qt draws controls with."""
    palette = QPalette(QColor(colours.surface), QColor(colours.background))
    for roles, colour in (
        ((Role.Window,), colours.background),
        ((Role.Base, Role.Button, Role.ToolTipBase), colours.surface),
        ((Role.AlternateBase, Role.Midlight), colours.hover),
        ((Role.Light,), colours.surface),
        ((Role.Mid,), colours.line),
        ((Role.Dark,), colours.edge),
        ((Role.Shadow,), colours.line),
        ((Role.WindowText, Role.Text, Role.ButtonText, Role.ToolTipText), colours.text),
        ((Role.BrightText,), colours.error),
        ((Role.PlaceholderText,), colours.quiet),
        ((Role.Highlight, Role.Accent, Role.Link, Role.LinkVisited), colours.accent),
        ((Role.HighlightedText,), colours.on_accent),
    ):
        for role in roles:
            for group in _INACTIVE_TOO:
                palette.setColor(group, role, QColor(colour))
            palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(colour))
    for role in (Role.WindowText, Role.Text, Role.ButtonText, Role.PlaceholderText):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(colours.disabled))
    for role, colour in ((Role.Highlight, colours.line), (Role.HighlightedText, colours.quiet)):
        palette.setColor(QPalette.ColorGroup.Disabled, role, QColor(colour))
    return palette


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
