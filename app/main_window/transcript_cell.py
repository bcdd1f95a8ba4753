"""Paints a cell of the transcript: tentative words, doubt, what a search found, the selection."""

from PySide6.QtCore import QPointF, QRect, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QFont,
    QFontMetricsF,
    QPainter,
    QPalette,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem, QWidget

from app.captions.line_breaking import runs_right_to_left
from app.config.preferences import DOUBT_MARK
from app.look.palette import colours_of
from app.main_window.transcript_model import (
    BELOW_ROLE,
    DOUBT_ROLE,
    FOUND_ROLE,
    LANGUAGE_ROLE,
    SECOND_ROLE,
    TAIL_ROLE,
    TIME,
    Index,
)

PADDING = 8
_INDENT = 4  # beside the text, which then begins below its header
_SMALL = 0.8  # of the font, for times
_BAR = 3  # pixels, at the edge of a selected row


class TranscriptCell(QStyledItemDelegate):
    """Text aligned to the top of its cell, and to the side where its script begins."""

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        """Set the direction by the text instead of the window."""
        super().initStyleOption(option, index)
        leading = Qt.AlignmentFlag.AlignLeft
        if runs_right_to_left(option.text):
            option.direction = Qt.LayoutDirection.RightToLeft
            leading = Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute
        option.displayAlignment = leading | Qt.AlignmentFlag.AlignTop
        option.decorationPosition = QStyleOptionViewItem.Position.Right
        option.decorationAlignment = Qt.AlignmentFlag.AlignCenter
        if index.column() == TIME:
            option.font = small(option.font)

    def createEditor(self, parent: QWidget, option: QStyleOptionViewItem, index: Index) -> QWidget:
        """Name the field for screen readers."""
        editor = super().createEditor(parent, option, index)
        editor.setAccessibleName(self.tr("Correct what was said"))
        return editor

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Leave room above the text for taller scripts; a selected row keeps its letters."""
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        is_chosen = bool(cell.state & QStyle.StateFlag.State_Selected)
        if is_chosen:
            cell.state &= ~(QStyle.StateFlag.State_Selected | QStyle.StateFlag.State_HasFocus)
            cell.backgroundBrush = QBrush(colours_of(cell.palette).colour("tint"))
        tail, found = QTextCharFormat(), QTextCharFormat()
        tail.setFontItalic(True)
        found.setBackground(cell.palette.color(QPalette.ColorRole.Highlight))
        found.setForeground(cell.palette.color(QPalette.ColorRole.HighlightedText))
        n_tail = index.data(TAIL_ROLE) or 0
        n_second = index.data(SECOND_ROLE) or 0
        quiet = QTextCharFormat()
        quiet.setForeground(cell.palette.color(QPalette.ColorRole.PlaceholderText))
        formats = [_range(len(cell.text) - n_tail, n_tail, tail)]
        formats.append(_range(len(cell.text) - n_second, n_second, quiet))
        formats += [_range(start, length, found) for start, length in index.data(FOUND_ROLE) or ()]
        lower = QFontMetricsF(option.font).ascent() - QFontMetricsF(cell.font).ascent()
        beside = _width(index, cell)
        layout = _paint_text(painter, cell, formats, room=PADDING // 2 + lower, beside=beside)
        if index.data(DOUBT_ROLE):
            area = cell.rect.adjusted(1, PADDING // 2, -1, 0)
            _paint_small(painter, cell, DOUBT_MARK, area, at_end=False)
        area = cell.rect.adjusted(PADDING, PADDING, -PADDING, 0)
        if mark := index.data(LANGUAGE_ROLE):
            _paint_small(painter, cell, mark, area, at_end=True)
        if n_second and (mark := index.data(BELOW_ROLE)):
            line = layout.lineForTextPosition(len(cell.text) - n_second)
            _paint_small(painter, cell, mark, area.adjusted(0, round(line.y()), 0, 0), at_end=True)
        if is_chosen and index.column() == TIME:  # the first one on screen
            painter.fillRect(_bar(option), cell.palette.color(QPalette.ColorRole.Accent))

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        cell = QStyleOptionViewItem(option)
        beside = _width(index, option)
        cell.rect.adjust(_INDENT, 0, -_INDENT - beside, 0)
        return super().sizeHint(cell, index) + QSize(2 * _INDENT, PADDING)


def small(font: QFont) -> QFont:
    smaller = QFont(font)
    smaller.setPointSizeF(_SMALL * font.pointSizeF())
    return smaller


def _width(index: Index, option: QStyleOptionViewItem) -> int:
    letters = QFontMetricsF(small(option.font))
    marks = (index.data(role) or "" for role in (LANGUAGE_ROLE, BELOW_ROLE))
    width = round(max(map(letters.horizontalAdvance, marks)))
    return width + PADDING if width else 0


def _paint_small(
    painter: QPainter, option: QStyleOptionViewItem, text: str, area: QRect, *, at_end: bool
) -> None:
    """Paint a small and quiet text at the start of an area, or at the end of its first line."""
    is_from_right = option.direction == Qt.LayoutDirection.RightToLeft
    is_right = at_end != is_from_right
    side = Qt.AlignmentFlag.AlignRight if is_right else Qt.AlignmentFlag.AlignLeft
    painter.save()
    painter.setFont(small(option.font))
    painter.setPen(option.palette.color(QPalette.ColorRole.PlaceholderText))
    painter.drawText(area, side | Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignAbsolute, text)
    painter.restore()


def _bar(option: QStyleOptionViewItem) -> QRect:
    edge = QRect(option.rect)
    if option.widget.layoutDirection() == Qt.LayoutDirection.RightToLeft:
        edge.setLeft(edge.right() - _BAR + 1)
    else:
        edge.setWidth(_BAR)
    return edge


def _range(start: int, length: int, look: QTextCharFormat) -> QTextLayout.FormatRange:
    part = QTextLayout.FormatRange()
    part.start, part.length, part.format = start, length, look
    return part


def _paint_text(
    painter: QPainter,
    option: QStyleOptionViewItem,
    formats: list[QTextLayout.FormatRange],
    *,
    room: float = 0,
    beside: int = 0,
) -> QTextLayout:
    """Paint a cell as its style does, with parts of its text in other formats; return its lines.

    Lines begin ``room`` pixels below the top; letters taller than their line, as in Arabic, use it.
    Where lines end, ``beside`` pixels are left free.
    """
    text, option.text = option.text, ""
    style = option.widget.style()
    style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
    option.text = text
    area = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, option.widget) + 1
    area.adjust(margin + _INDENT, 0, -margin - _INDENT, 0)
    is_from_right = option.direction == Qt.LayoutDirection.RightToLeft
    area.adjust(*((beside, 0, 0, 0) if is_from_right else (0, 0, -beside, 0)))
    layout = _make_layout(option, area.width(), formats)
    painter.save()
    painter.setClipRect(option.rect)
    painter.setPen(option.palette.color(QPalette.ColorRole.Text))
    layout.draw(painter, QPointF(area.left(), area.top() + room))
    painter.restore()
    return layout


def _make_layout(
    option: QStyleOptionViewItem, width: int, formats: list[QTextLayout.FormatRange]
) -> QTextLayout:
    layout = QTextLayout(option.text, option.font)
    wrapping = QTextOption(option.displayAlignment)
    wrapping.setWrapMode(QTextOption.WrapMode.WordWrap)
    wrapping.setTextDirection(option.direction)
    layout.setTextOption(wrapping)
    layout.setFormats(formats)
    layout.beginLayout()
    height = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        line.setPosition(QPointF(0, height))
        height += line.height()
    layout.endLayout()
    return layout
