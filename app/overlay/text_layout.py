"""The text of the overlay: lines in blocks with a rim that glide up, and the box around them.

The lines stand at the lower edge of an area and grow upward.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil

from PySide6.QtCore import (
    QEasingCurve,
    QObject,
    QPointF,
    QRect,
    QRectF,
    QSize,
    Qt,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen, QRegion
from PySide6.QtWidgets import QStyle, QWidget

from app.captions.line_breaking import RIGHT_TO_LEFT_MARK, Line, lines_scrolled
from app.config.preferences import BOTH, DOUBT_MARK, CaptionPreferences
from app.look.palette import Rgb
from app.overlay.themes import Theme, theme_of

GLIDE_MS = 120
_RADIUS = 6
_RIM_SHARE = 0.11  # of the letters' height
_MARK_SHARE, _MARK_POINTS = 0.5, 14.0  # size of the mark of doubt, of the letters and at most
_PALE = 185  # of 255, the opacity of tentative letters
_BAR_WIDTH, _BAR_DISTANCE = 4, 10  # of the bar that marks the lines of a speaker


class Block(QObject):
    """Lines of one size; text only ever moves up, by whole lines.

    Signals:
        moved(): the lines moved and need a repaint.
    """

    moved = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self._widget = widget
        self._lines: tuple[Line, ...] = ()
        self._leaving: tuple[Line, ...] = ()
        self._top = 0.0
        self._glide = QVariantAnimation(widget)
        self._glide.setDuration(GLIDE_MS)
        self._glide.setEasingCurve(QEasingCurve.Type.OutCubic)
        self._glide.valueChanged.connect(self.moved)
        self._glide.finished.connect(self.moved)

    def show_lines(
        self, lines: Sequence[Line], top: float, metrics: QFontMetricsF, *, glides: bool
    ) -> None:
        """Show other lines from ``top`` on; those that moved up glide, if the system allows it."""
        before, self._lines = self._lines, tuple(lines)
        old_top, self._top = self._top, top
        glides = glides and self._wants_motion()
        scrolled = lines_scrolled(before, self._lines) if glides else None
        moved = 0.0 if scrolled is None else old_top + scrolled * metrics.lineSpacing() - top
        if scrolled is not None and abs(moved) < 1:
            return
        self._glide.stop()
        if scrolled is None:
            return
        self._leaving = before[:scrolled]
        self._glide.setStartValue(moved)
        self._glide.setEndValue(0.0)
        self._glide.start()

    def _wants_motion(self) -> bool:
        """Return whether the system allows animations: it sets their duration to 0 if not."""
        hint = QStyle.StyleHint.SH_Widget_Animation_Duration
        return self._widget.style().styleHint(hint, None, self._widget) > 0

    def paint(
        self,
        painter: QPainter,
        area: QRect,
        font: QFont,
        colour: Rgb,
        theme: Theme,
        parting: float = 0.0,
    ) -> None:
        """Paint the lines into an area, each with its rim and the bar of its speaker, if any.

        Between two utterances the area has so much more room, in heights of a line.
        """
        metrics = QFontMetricsF(font)
        lines, top = self._lines, self._top
        if self._glide.state() == QVariantAnimation.State.Running:
            lines = self._leaving + lines
            top += self._glide.currentValue() - len(self._leaving) * metrics.lineSpacing()
        painter.save()
        beside = _BESIDE
        painter.setClipRect(area.adjusted(-beside, -2, beside, 8))
        for number, line in enumerate(lines):
            line_top = top + metrics.lineSpacing() * (
                number + parting * n_parted(lines[: number + 1])
            )
            of_lane = theme.lanes.get(line.lane, colour)
            if line.lane:
                painter.fillRect(_bar(line, area, line_top, metrics), QColor(*of_lane))
            of_text = theme.quiet if line.is_quiet else colour
            inks = [QColor(*of_lane), QColor(*of_text), QColor(*of_text, _PALE)]
            paths = list(_paths(line, font, metrics, area, line_top + metrics.ascent()))
            if line.doubtful:
                paths.append(_doubt(line, font, area, line_top + metrics.ascent()))
                inks.append(QColor(*of_text))
            for path, ink in zip(paths, inks, strict=True):
                if theme.has_rim:
                    painter.strokePath(path, _pen(theme.rim, metrics.ascent() * _RIM_SHARE))
                painter.fillPath(path, ink)
        painter.restore()


def n_parted(lines: Sequence[Line]) -> int:
    """Count the places between lines of two utterances."""
    return sum(line.place[0] != after.place[0] for line, after in pairwise(lines))


def paint_box(painter: QPainter, area: QRect, colours: Theme, *, opaque: bool = False) -> None:
    """Paint the round box behind the lines."""
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(*colours.background, 255 if opaque else colours.opacity))
    painter.drawRoundedRect(QRectF(area), _RADIUS, _RADIUS)


def _bar(line: Line, area: QRect, top: float, metrics: QFontMetricsF) -> QRectF:
    right = area.right() + 1 + _BAR_DISTANCE - _BAR_WIDTH
    left = right if line.right_to_left else area.left() - _BAR_DISTANCE
    return QRectF(left, top + 2, _BAR_WIDTH, metrics.lineSpacing() - 4)


def _paths(
    line: Line, font: QFont, metrics: QFontMetricsF, area: QRect, baseline: float
) -> Iterator[QPainterPath]:
    """Yield the outlines of the speaker's name, the certain and the tentative letters.

    Right-to-left lines end at the right edge. Letters do not move when they are committed.
    """
    n_certain = len(line.text) - line.n_tail
    parts = (
        (0, line.n_label),
        (line.n_label, n_certain),
        (max(line.n_label, n_certain), len(line.text)),
    )
    for start, end in parts:
        part = line.text[start:end]
        if line.right_to_left:
            left = area.right() + 1 - metrics.horizontalAdvance(line.text[:end])
            part = RIGHT_TO_LEFT_MARK + part if part else ""
        else:
            left = area.left() + metrics.horizontalAdvance(line.text[:start])
        yield _path(part, font, left, baseline)


def _doubt(line: Line, font: QFont, area: QRect, baseline: float) -> QPainterPath:
    """Return a small mark before the letters of a line, where no other line has any."""
    small = QFont(font)
    small.setPointSizeF(min(_MARK_POINTS, font.pointSizeF() * _MARK_SHARE))
    metrics = QFontMetricsF(small)
    width = metrics.horizontalAdvance(DOUBT_MARK)
    beside = area.right() + 2 if line.right_to_left else area.left() - 1 - width
    raised = QFontMetricsF(font).capHeight() - metrics.capHeight()
    return _path(DOUBT_MARK, small, beside, baseline - raised)


def _path(text: str, font: QFont, left: float, baseline: float) -> QPainterPath:
    path = QPainterPath()
    if text:
        path.addText(QPointF(left, baseline), font, text)
    return path


def _pen(rim: Rgb, width: float) -> QPen:
    pen = QPen(QColor(*rim), width)
    pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
    return pen


_BESIDE = 18  # the text; the bars of speakers stand there
_ABOVE = 9  # and below it
_SMALLER = 0.72  # size of the source's letters relative to the captions'
_GAP = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayView:
    """The text that the overlay paints.

    Attributes:
        lines: from top to bottom, not wider than ``TextLayout.line_width``.
        source: lines above them, in the smaller letters of ``TextLayout.measure_source``.
        second: lines of a second language below them, in the same smaller letters.
        is_hint: the lines are a hint about captions to come.
    """

    lines: tuple[Line, ...] = ()
    source: tuple[Line, ...] = ()
    second: tuple[Line, ...] = ()
    is_hint: bool = False


class TextLayout(QObject):
    """Lay out and paint the lines of a view in a widget.

    Signals:
        moved(): the lines moved and need a repaint.

    Attributes:
        line_width: of a line at most, in pixels.
        n_lines: in each language at most.
        n_extra: so many more captions above them.
        parting: between captions of two utterances, in heights of a line.
    """

    moved = Signal()

    def __init__(self, widget: QWidget) -> None:
        super().__init__(widget)
        self.view = OverlayView()
        self.n_lines, self.n_extra, self.parting = 1, 0, 0.0
        self._captions, self._source, self._second = Block(widget), Block(widget), Block(widget)
        for block in (self._captions, self._source, self._second):
            block.moved.connect(self.moved)
        self._size = QSize()
        self._extent: tuple[int, int] | None = None  # left and right edge of the text
        self.dress(CaptionPreferences(), widget.font(), widget.width())

    def dress(self, choices: CaptionPreferences, font: QFont, room: int) -> None:
        """Change letters and colours.

        Args:
            font: of the program, for where the user chose none.
            room: for a line and what is beside it, in pixels.
        """
        self._choices = choices
        self._theme = theme_of(choices)
        font = QFont(font)
        if choices.font:
            font.setFamilies([choices.font, *font.families()])
        small = QFont(font)
        font.setPointSizeF(choices.point_size)
        small.setPointSizeF(choices.point_size * _SMALLER)
        self._metrics, self._small = QFontMetricsF(font), QFontMetricsF(small)
        self._fonts = font, small
        width = self._metrics.averageCharWidth() * choices.characters
        self.line_width = min(width, room - 2.0 * _BESIDE)

    def measure(self, text: str) -> float:
        return self._metrics.horizontalAdvance(text)

    def measure_source(self, text: str) -> float:
        return self._small.horizontalAdvance(text)

    def size_for(self, characters: int, lines: int) -> QSize:
        return self._with_margins(self._metrics.averageCharWidth() * characters, lines)

    def size_of_lines(self, lines: int) -> QSize:
        """Return the size of an area with room for lines of ``line_width``."""
        return self._with_margins(self.line_width, lines)

    def text_in(self, size: QSize) -> tuple[int, int]:
        """Return how many characters and lines come nearest to filling an area."""
        width, height = size.width() - 2 * _BESIDE, size.height() - 2 * _ABOVE
        characters = round(width / self._metrics.averageCharWidth())
        return characters, round(height / self._pair_height())

    def lines_in(self, height: int) -> int:
        """Return how many whole lines an area of a height has room for."""
        return int((height - 2 * _ABOVE) // self._pair_height())

    def lay_out(self, size: QSize, *, glides: bool) -> None:
        """Place the lines of the view in an area; its upper left corner is that of the widget."""
        self._size = size
        source, captions, second = self._areas()
        metrics = self.caption_letters()[1]
        self._captions.show_lines(self._caption_lines, captions.top(), metrics, glides=glides)
        self._source.show_lines(self._source_lines, source.top(), self._small, glides=glides)
        self._second.show_lines(self._second_lines, second.top(), self._small, glides=glides)
        self._measure_box()

    def forget_box(self) -> None:
        """Let the box begin with the next lines."""
        self._extent = None

    @property
    def box(self) -> QRect | None:
        """The box around the lines; None without any."""
        if self._extent is None:
            return None
        source, captions, _ = self._areas()
        top = source.top() if source.height() else captions.top()
        left, right = self._extent
        inside = QRect(left, top, right - left, self._size.height() - _ABOVE - top)
        return inside.adjusted(-_BESIDE, -_ABOVE, _BESIDE, _ABOVE)

    def paint(self, painter: QPainter, box: QRect) -> None:
        """Paint a box, the source if it is shown, the captions, and their second language."""
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        colours = self._theme
        paint_box(painter, box, colours)
        source, captions, second = self._areas()
        self._source.paint(painter, source, self._fonts[1], colours.quiet, colours)
        self._second.paint(painter, second, self._fonts[1], colours.text, colours)
        colour = colours.quiet if self.view.is_hint else colours.text
        letters = self.caption_letters()[0]
        self._captions.paint(painter, captions, letters, colour, colours, self.parting)

    def caption_letters(self) -> tuple[QFont, QFontMetricsF]:
        """Return the font of the captions; a hint has a smaller one if it is wider than a line."""
        widest = max((self.measure(line.text) for line in self.view.lines), default=0.0)
        if not self.view.is_hint or widest <= self.line_width:
            return self._fonts[0], self._metrics
        font = QFont(self._fonts[0])
        font.setPointSizeF(0.98 * self._choices.point_size * self.line_width / widest)
        return font, QFontMetricsF(font)

    @property
    def _caption_lines(self) -> tuple[Line, ...]:
        return self.view.lines[-self.n_lines - self.n_extra :]

    @property
    def _source_lines(self) -> tuple[Line, ...]:
        return self.view.source[-self.n_lines :] if self._choices.mode == BOTH else ()

    @property
    def _second_lines(self) -> tuple[Line, ...]:
        return self.view.second[-self.n_lines :] if self._choices.second_shown else ()

    def _areas(self) -> tuple[QRect, QRect, QRect]:
        """Return where source, captions and second language are painted, at the lower edge."""
        left, width = _BESIDE, self._size.width() - 2 * _BESIDE
        small = self._small.lineSpacing()
        letters = self.caption_letters()[1].lineSpacing()
        bottom, areas = self._size.height() - _ABOVE, list[QRect]()
        for lines, spacing, parting in (
            (self._second_lines, small, 0.0),
            (self._caption_lines, letters, self.parting),
            (self._source_lines, small, 0.0),
        ):
            height = round(spacing * (len(lines) + parting * n_parted(lines)))
            is_apart = bool(height) and any(area.height() for area in areas)
            bottom -= height + (_GAP if is_apart else 0)
            areas.append(QRect(left, bottom, width, height))
        second, captions, source = areas
        return source, captions, second

    def _measure_box(self) -> None:
        """Make the box as wide as a line may be, so that text grows in it; a hint is hugged."""
        metrics = self.caption_letters()[1]
        start, end = _BESIDE, self._size.width() - _BESIDE
        if self.view.is_hint:
            widths = [metrics.horizontalAdvance(line.text) for line in self._caption_lines]
            self._extent = start, start + min(ceil(max(widths, default=0)), end - start)
        elif self._caption_lines or self._source_lines or self._second_lines:
            self._extent = start, end

    @property
    def line_height(self) -> int:
        """Of one more line of captions, in pixels."""
        return ceil(self._metrics.lineSpacing())

    def _with_margins(self, width: float, lines: int) -> QSize:
        height = round(self._pair_height() * lines) + 2 * _ABOVE + self._n_small * _GAP
        return QSize(round(width + 2 * _BESIDE), height)

    def _pair_height(self) -> float:
        """Return the height of a caption line with those above and below it, in pixels."""
        return self._metrics.lineSpacing() + self._n_small * self._small.lineSpacing()

    @property
    def _n_small(self) -> int:
        return (self._choices.mode == BOTH) + bool(self._choices.second_shown)


def set_shape(window: QWidget, shape: QRegion) -> None:
    """Set the shape of a window, in its own coordinates; one that it has already costs nothing."""
    if shape.isEmpty():
        shape = QRegion(0, 0, 1, 1)  # a corner without colour: an empty mask would hide nothing
    if shape == QRegion(window.rect()):
        if not window.mask().isEmpty():
            window.clearMask()
    elif shape != window.mask():
        window.setMask(shape)
