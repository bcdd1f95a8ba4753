"""The page of the settings about the look of captions and the overlay."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QFontDatabase, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QCheckBox, QComboBox, QHBoxLayout, QLineEdit, QRadioButton, QWidget

from app.config.preferences import (
    DOUBT_MARKS,
    LEAST_OPACITY,
    ME,
    MODES,
    MOST_LETTERS,
    PRESETS,
    THEM,
    OverlayPreferences,
    Preferences,
)
from app.config.window_system import can_hide, is_wayland
from app.dialogs.settings.page import SettingsPage
from app.look.palette import LEGIBLE, Rgb, contrast, over
from app.look.style_sheet import make_spin
from app.look.widgets.dialog_text import paragraph, quiet
from app.look.widgets.names import lane_name
from app.overlay.preview import BEHIND, CaptionPreview
from app.overlay.themes import theme_of

_OPAQUE, _PERCENT = 255, 100
_TEXT_COLOURS = ("#ffffff", "#ffe600", "#7cf29c", "#7fdfff", "#ffb86b", "#ffa8d8", "#000000")
_BOX_COLOURS = ("#000000", "#2b2b2b", "#0b1f4b", "#08301c", "#4a0f0f", "#ffffff")
_SIZE, _RING, _DISTANCE = 24, 2, 4  # pixels
_RADIUS = 4
_GAP = 4


class ColourWells(QWidget):
    """Choose a colour. The first one is square: that of a scheme, with an empty value.

    Signals:
        chosen(): another colour was chosen.
    """

    chosen = Signal()

    def __init__(self, scheme: str, colours: Sequence[tuple[str, str]]) -> None:
        """Make a button for each colour.

        Args:
            scheme: name of the first one.
            colours: names and values of the others.
        """
        super().__init__()
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 0, 0)
        self._row.setSpacing(_GAP)
        self._row.addStretch()
        self._wells = dict[str, _Well]()
        self._add(scheme, "")
        label = quiet(scheme)
        label.setWordWrap(False)
        self._row.insertWidget(self._row.count() - 1, label)
        for name, value in colours:
            self._add(name, value)
        self.show_value("")

    @property
    def value(self) -> str:
        """The chosen colour as ``#rrggbb``; empty for that of the scheme."""
        return next((value for value, well in self._wells.items() if well.isChecked()), "")

    def show_value(self, value: str) -> None:
        """Choose a colour, which may be one that has no button yet."""
        if value not in self._wells:
            self._add(value, value)
        self._wells[value].setChecked(True)

    def show_scheme(self, colour: str) -> None:
        self._wells[""].show_colour(colour)

    def well(self, value: str) -> QRadioButton:
        return self._wells[value]

    def _add(self, name: str, value: str) -> None:
        well = self._wells[value] = _Well(name, value, is_round=bool(value))
        self._row.insertWidget(self._row.count() - 1, well)
        well.toggled.connect(self._take)

    @Slot(bool)
    def _take(self, is_chosen: bool) -> None:  # noqa: FBT001  what the signal carries
        if is_chosen:
            self.setFocusProxy(self._wells[self.value])
            self.chosen.emit()


class _Well(QRadioButton):
    """A disc or a square of one colour; a ring is around the chosen one."""

    def __init__(self, name: str, colour: str, *, is_round: bool) -> None:
        super().__init__()
        self._colour = QColor(colour)
        self._is_round = is_round
        self.setAccessibleName(name)
        self.setToolTip(name)
        self.setFixedSize(self.sizeHint())

    def show_colour(self, colour: str) -> None:
        self._colour = QColor(colour)
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(_SIZE, _SIZE)

    def minimumSizeHint(self) -> QSize:
        return self.sizeHint()

    def hitButton(self, pos: QPoint) -> bool:
        return self.rect().contains(pos)

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  all of it is painted
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        palette, role = self.palette(), QPalette.ColorRole
        ring = role.WindowText if self.hasFocus() else role.Highlight
        painter.setPen(QPen(palette.color(ring), _RING))
        if self.isChecked():
            self._draw(painter, _RING / 2)
        painter.setPen(QPen(palette.color(role.PlaceholderText), 1))
        painter.setBrush(self._colour if self._colour.isValid() else Qt.BrushStyle.NoBrush)
        self._draw(painter, _DISTANCE)

    def _draw(self, painter: QPainter, inside: float) -> None:
        area = QRectF(self.rect()).adjusted(inside, inside, -inside, -inside)
        radius = area.width() / 2 if self._is_round else _RADIUS
        painter.drawRoundedRect(area, radius, radius)


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
            "captions.mode", self.tr("&Show"), list(zip(modes, MODES, strict=True))
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
            list(zip(marks, DOUBT_MARKS, strict=True)),
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
            "captions.preset", self.tr("Co&lour scheme"), list(zip(presets, PRESETS, strict=True))
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
            "captions.text_colour", self.tr("&Text"), list(zip(of_text, _TEXT_COLOURS, strict=True))
        )
        self.background_colour = self._add_colour(
            "captions.background_colour",
            self.tr("&Box"),
            list(zip(of_box, _BOX_COLOURS, strict=True)),
        )
        self.opacity = self._add_opacity()
        self.legibility = paragraph()
        self.form.addRow("", self.legibility)
        self.preset.activated.connect(self._forget_own_colours)

    def _add_colour(
        self, field: str, label: str, colours: Sequence[tuple[str, str]]
    ) -> ColourWells:
        wells = ColourWells(self.tr("From colour scheme"), colours)
        self.add_field(label, wells)
        self.bind(
            field, lambda value: wells.show_value(str(value)), lambda: wells.value, wells.chosen
        )
        return wells

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
        for wells in (self.text_colour, self.background_colour):
            wells.show_value("")
        self.opacity.setCurrentIndex(0)

    def _show_scheme(self) -> None:
        of_preset = replace(
            self._shown.captions, text_colour="", background_colour="", opacity=None
        )
        colours = theme_of(of_preset)
        self.text_colour.show_scheme(_hex(colours.text))
        self.background_colour.show_scheme(_hex(colours.background))
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
        self.hides = QCheckBox()
        self.add_field(
            self.tr("Hi&de after silence"),
            self.hides,
            self.tr("The overlay comes back with the next caption."),
        )
        with self.below(self.hides):
            self.hide_after = make_spin((1, 600), self.tr(" s"))
            self.hide_after.setValue(OverlayPreferences().hide_after_s)
            self.add_field(self.tr("Hide &after"), self.hide_after)
        self.bind(
            "overlay.hide_after_s",
            self._show_wait,
            lambda: self.hide_after.value() if self.hides.isChecked() else 0,
            self.hides.toggled,
            self.hide_after.valueChanged,
        )
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

    def _show_wait(self, seconds: object) -> None:
        waits = isinstance(seconds, int) and seconds > 0
        self.hides.setChecked(waits)
        if waits:
            self.hide_after.setProperty("value", seconds)

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
