"""Paints a cell of the transcript: certain words, paler tentative ones, what a search found."""

from PySide6.QtCore import QPointF, QSize, Qt
from PySide6.QtGui import QPainter, QPalette, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyledItemDelegate, QStyleOptionViewItem

from app.captions.line_breaking import runs_right_to_left
from app.main_window.transcript_model import FOUND_ROLE, TAIL_ROLE, Index

PADDING = 8
_INDENT = 4  # beside the text, which then begins below its header


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

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Leave room above the text for taller scripts."""
        cell = QStyleOptionViewItem(option)
        self.initStyleOption(cell, index)
        pale, found = QTextCharFormat(), QTextCharFormat()
        pale.setForeground(cell.palette.color(QPalette.ColorRole.PlaceholderText))
        back, letters = QPalette.ColorRole.Highlight, QPalette.ColorRole.HighlightedText
        if cell.state & QStyle.StateFlag.State_Selected:  # where both are in use already
            back, letters = QPalette.ColorRole.Base, QPalette.ColorRole.Text
        found.setBackground(cell.palette.color(back))
        found.setForeground(cell.palette.color(letters))
        n_tail = index.data(TAIL_ROLE) or 0
        formats = [_range(len(cell.text) - n_tail, n_tail, pale)]
        formats += [_range(start, length, found) for start, length in index.data(FOUND_ROLE) or ()]
        _paint_text(painter, cell, formats, room=PADDING // 2)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        """Add room around the text."""
        cell = QStyleOptionViewItem(option)
        cell.rect.adjust(_INDENT, 0, -_INDENT, 0)
        return super().sizeHint(cell, index) + QSize(2 * _INDENT, PADDING)


def _range(start: int, length: int, look: QTextCharFormat) -> QTextLayout.FormatRange:
    part = QTextLayout.FormatRange()
    part.start, part.length, part.format = start, length, look
    return part


def _paint_text(
    painter: QPainter,
    option: QStyleOptionViewItem,
    formats: list[QTextLayout.FormatRange],
    *,
    room: int = 0,
) -> None:
    """Paint a cell as its style does, with parts of its text in other formats.

    Lines begin ``room`` pixels below the top; letters taller than their line, as in Arabic, use it.
    """
    text, option.text = option.text, ""
    style = option.widget.style()
    style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
    option.text = text
    area = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, option.widget) + 1
    area.adjust(margin + _INDENT, 0, -margin - _INDENT, 0)
    chosen = bool(option.state & QStyle.StateFlag.State_Selected)
    role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
    layout = _make_layout(option, area.width(), formats)
    painter.save()
    painter.setClipRect(option.rect)
    painter.setPen(option.palette.color(role))
    layout.draw(painter, QPointF(area.left(), area.top() + room))
    painter.restore()


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
