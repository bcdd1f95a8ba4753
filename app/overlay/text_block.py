"""A block of lines in the overlay, painted with a rim; lines glide up."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from PySide6.QtCore import (
    QEasingCurve,
    QObject,
    QPointF,
    QRect,
    QRectF,
    Qt,
    QVariantAnimation,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen
from PySide6.QtWidgets import QStyle, QWidget

from app.captions.line_breaking import RIGHT_TO_LEFT_MARK, Line, lines_scrolled
from app.config.preferences import DOUBT_MARK
from app.look.palette import Rgb
from app.overlay.themes import Theme

GLIDE_MS = 120
_RADIUS = 6
_RIM_SHARE = 0.11  # of the letters' height
_MARK_SHARE, _MARK_POINTS = 0.5, 14.0  # size of the mark of doubt, of the letters and at most
_PALE = 185  # of 255, the opacity of tentative letters
_BESIDE = 18  # the letters, for bars and marks
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
