"""The page of the settings about the look of captions and the overlay."""

from collections.abc import Iterable
from dataclasses import replace

from PySide6.QtCore import Slot
from PySide6.QtGui import QFontDatabase, QIcon, QPixmap
from PySide6.QtWidgets import QComboBox, QLineEdit

from app.config.preferences import (
    DOUBT_MARKS,
    LEAST_OPACITY,
    ME,
    MODES,
    MOST_LETTERS,
    PRESETS,
    THEM,
    Preferences,
)
from app.config.window_system import can_hide, is_wayland
from app.dialogs.settings.page import SettingsPage
from app.look.palette import LEGIBLE, Rgb, contrast, over
from app.look.widgets.dialog_text import paragraph
from app.look.widgets.names import lane_name
from app.overlay.last_lines import BEHIND, CaptionPreview
from app.overlay.themes import theme_of

_OPAQUE, _PERCENT = 255, 100
_TEXT_COLOURS = ("#ffffff", "#ffe600", "#7cf29c", "#7fdfff", "#ffb86b", "#ffa8d8", "#000000")
_BOX_COLOURS = ("#000000", "#2b2b2b", "#0b1f4b", "#08301c", "#4a0f0f", "#ffffff")
_SWATCH = 16  # pixels


class CaptionsPage(SettingsPage):
    """How captions look, and how the overlay behaves."""

    def __init__(self) -> None:
        super().__init__("")
        self.title = self.tr("Captions and overlay")
        self.above = self.preview = CaptionPreview()
        self._add_text()
        self._add_colours()
        self._add_size()
        self._add_behaviour()
        self._add_speakers()

    def fill(self, preferences: Preferences) -> None:
        super().fill(preferences)
        wayland = is_wayland() or preferences.overlay.through_xwayland
        self.form.setRowVisible(self.through_xwayland, wayland)
        self.preview.show_choices(preferences.captions)
        self._show_scheme()
        self._judge_colours()

    def _add_text(self) -> None:
        modes = (self.tr("Translate"), self.tr("No translation"), self.tr("Both languages"))
        self.add_heading(self.tr("Text"))
        self.mode = self.add_combo(
            "captions.mode", self.tr("&Show"), zip(modes, MODES, strict=True)
        )
        self.letters = self.add_spin(
            "captions.point_size", self.tr("Text si&ze"), (14, 96), self.tr(" pt")
        )
        families = [name for name in QFontDatabase.families() if len(name) <= MOST_LETTERS]
        fonts = [(self.tr("Same as the window"), ""), *((name, name) for name in families)]
        self.font_family = self.add_combo("captions.font", self.tr("&Font"), fonts)
        self.outline = self.add_check("captions.outline", self.tr("&Outline around letters"))
        marks = (self.tr("A small ? before them"), self.tr("(?) after them"), self.tr("Nothing"))
        self.doubt = self.add_combo(
            "captions.doubt",
            self.tr("Do&ubtful captions"),
            zip(marks, DOUBT_MARKS, strict=True),
            self.tr("Captions that the model is not sure of, if it can tell."),
        )
        self.announced = self.add_check(
            "captions.announced",
            self.tr("S&creen readers say each finished caption"),
            self.tr("They, or a Braille line, say it wherever the focus is."),
        )
        self.smooth = self.add_check(
            "captions.smooth",
            self.tr("Smooth sc&rolling"),
            self.tr("If your system is set to reduce motion, lines jump instead."),
        )

    def _add_colours(self) -> None:
        presets = (
            self.tr("White on black"),
            self.tr("Yellow on black"),
            self.tr("Black on white"),
            self.tr("High contrast"),
        )
        self.add_heading(self.tr("Colours"))
        self.preset = self.add_combo(
            "captions.preset", self.tr("Co&lour scheme"), zip(presets, PRESETS, strict=True)
        )
        of_text = (
            self.tr("White"),
            self.tr("Yellow"),
            self.tr("Green"),
            self.tr("Light blue"),
            self.tr("Orange"),
            self.tr("Pink"),
            self.tr("Black"),
        )
        of_box = (
            self.tr("Black"),
            self.tr("Dark grey"),
            self.tr("Dark blue"),
            self.tr("Dark green"),
            self.tr("Dark red"),
            self.tr("White"),
        )
        self.text_colour = self._add_colour(
            "captions.text_colour", self.tr("&Text"), zip(of_text, _TEXT_COLOURS, strict=True)
        )
        self.background_colour = self._add_colour(
            "captions.background_colour",
            self.tr("&Box"),
            zip(of_box, _BOX_COLOURS, strict=True),
        )
        self.opacity = self._add_opacity()
        self.legibility = paragraph()
        self.form.addRow("", self.legibility)
        self.preset.activated.connect(self._forget_own_colours)

    def _add_colour(self, field: str, label: str, colours: Iterable[tuple[str, str]]) -> QComboBox:
        """Append a list of colours, of which the first is that of the scheme, an empty value."""
        combo = self.add_combo(field, label, [(self.tr("From colour scheme"), ""), *colours])
        for row in range(1, combo.count()):
            combo.setItemIcon(row, _swatch(str(combo.itemData(row))))
        return combo

    def _add_opacity(self) -> QComboBox:
        combo = QComboBox()
        combo.addItem("", None)
        for percent in range(round(LEAST_OPACITY * _PERCENT), _PERCENT + 1, 10):
            combo.addItem(f"{percent} %", percent / _PERCENT)

        def show(value: object) -> None:
            if isinstance(value, float) and combo.findData(value) < 0:
                combo.addItem(f"{value * _PERCENT:.0f} %", value)
            combo.setCurrentIndex(combo.findData(value) if isinstance(value, float) else 0)

        self.add_field(self.tr("O&pacity of the box"), combo)
        self.bind("captions.opacity", show, combo.currentData, combo.currentIndexChanged)
        return combo

    @Slot()
    def _forget_own_colours(self) -> None:
        """Let a preset that the user chooses begin with its own colours."""
        for combo in (self.text_colour, self.background_colour, self.opacity):
            combo.setCurrentIndex(0)

    def _show_scheme(self) -> None:
        of_preset = replace(
            self._shown.captions, text_colour="", background_colour="", opacity=None
        )
        colours = theme_of(of_preset)
        self.text_colour.setItemIcon(0, _swatch(_hex(colours.text)))
        self.background_colour.setItemIcon(0, _swatch(_hex(colours.background)))
        percent = round(colours.opacity / _OPAQUE * _PERCENT)
        self.opacity.setItemText(0, self.tr("{} % (colour scheme)").format(percent))

    def _judge_colours(self) -> None:
        ratio = _contrast_of(self._shown)
        told = self.tr("Hard to read: choose colours that differ more, or a less transparent box.")
        self.legibility.setText(told if ratio < LEGIBLE else "")
        self.form.setRowVisible(self.legibility, ratio < LEGIBLE)

    def _add_size(self) -> None:
        self.add_heading(self.tr("Size"))
        self.lines = self.add_spin("captions.lines", self.tr("L&ines"), (1, 4))
        self.characters = self.add_spin(
            "captions.characters",
            self.tr("C&haracters in a line"),
            (20, 68),
            explanation=self.tr("Subtitles have 42; the window fits the screen in any case."),
        )

    def _add_behaviour(self) -> None:
        self.add_heading(self.tr("Overlay"))
        self.hide_after = self.add_spin(
            "overlay.hide_after_s",
            self.tr("Hi&de after silence"),
            (0, 600),
            self.tr(" s"),
            self.tr("The overlay comes back with the next caption."),
        )
        self.hide_after.setSpecialValueText(self.tr("Never"))
        self.locked = self.add_check(
            "overlay.locked",
            self.tr("Loc&ked: clicks go through to the window below"),
            self.tr("Ctrl+K in the main window, or the tray, unlocks it again."),
        )
        self.hide_from_share = self.add_check(
            "overlay.hide_from_share",
            self.tr("Hide from screen sharin&g"),
            self.tr("Others do not see the overlay when you share or record your screen."),
        )
        self.hide_from_share.setEnabled(can_hide())
        self.cannot_hide = paragraph(
            self.tr("Windows and macOS can do that; on Linux no window can ask for it.")
        )
        self.form.addRow(self.cannot_hide)
        self.form.setRowVisible(self.cannot_hide, not can_hide())
        self.through_xwayland = self.add_check(
            "overlay.through_xwayland",
            self.tr("On &Wayland, go through XWayland"),
            self.tr(
                "Then the overlay stays above other windows, where you put it; on some scaled "
                "screens letters are less sharp. Takes effect when Surtitle is started again."
            ),
        )

    def _add_speakers(self) -> None:
        self.add_heading(self.tr("Speakers"))
        self.name_me = self._add_name("captions.name_me", self.tr("&You (microphone)"), ME)
        self.name_them = self._add_name(
            "captions.name_them", self.tr("The oth&ers (computer sound)"), THEM
        )

    def _add_name(self, field: str, label: str, lane: str) -> QLineEdit:
        line = QLineEdit(maxLength=MOST_LETTERS, placeholderText=lane_name(lane))
        self.add_field(label, line)
        self.bind(field, lambda name: _show_text(line, str(name)), line.text, line.textEdited)
        return line


def _show_text(line: QLineEdit, text: str) -> None:
    """Put a text into a field and leave the cursor alone if it is there already."""
    if line.text() != text:
        line.setText(text)


def _contrast_of(preferences: Preferences) -> float:
    """Return the least contrast of captions, whatever is behind the overlay.

    An outline has the colour of the box, and no transparency.
    """
    captions = preferences.captions
    colours = theme_of(captions)
    opacity = 1.0 if captions.outline else colours.opacity / _OPAQUE
    boxes = (over(colours.background, below, opacity) for below in BEHIND)
    return min(contrast(colours.text, box) for box in boxes)


def _hex(colour: Rgb) -> str:
    return "#{:02x}{:02x}{:02x}".format(*colour)


def _swatch(colour: str) -> QIcon:
    picture = QPixmap(_SWATCH, _SWATCH)
    picture.fill(colour)
    return QIcon(picture)
