"""Text of a table whose last words may still change: they are paler than the others."""

from PySide6.QtCore import QPointF
from PySide6.QtGui import QPainter, QPalette, QTextCharFormat, QTextLayout, QTextOption
from PySide6.QtWidgets import QStyle, QStyleOptionViewItem


def paint_tail_text(
    painter: QPainter, option: QStyleOptionViewItem, n_tail: int, *, room: int = 0
) -> None:
    """Paint a cell of a widget as its style does, its last ``n_tail`` characters paler.

    Lines break where the style breaks them, since the letters are the same. They begin ``room``
    pixels below the top; what is higher than its line, as in Arabic, is painted into that room.
    """
    text, option.text = option.text, ""
    style = option.widget.style()
    style.drawControl(QStyle.ControlElement.CE_ItemViewItem, option, painter, option.widget)
    option.text = text
    place = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, option, option.widget)
    margin = style.pixelMetric(QStyle.PixelMetric.PM_FocusFrameHMargin, None, option.widget) + 1
    place.adjust(margin, 0, -margin, 0)
    chosen = bool(option.state & QStyle.StateFlag.State_Selected)
    role = QPalette.ColorRole.HighlightedText if chosen else QPalette.ColorRole.Text
    layout = _laid_out(option, place.width(), n_tail)
    painter.save()
    painter.setClipRect(option.rect)
    painter.setPen(option.palette.color(role))
    layout.draw(painter, QPointF(place.left(), place.top() + room))
    painter.restore()


def _laid_out(option: QStyleOptionViewItem, width: int, n_tail: int) -> QTextLayout:
    pale = QTextCharFormat()
    pale.setForeground(option.palette.color(QPalette.ColorRole.PlaceholderText))
    tail = QTextLayout.FormatRange()
    tail.start, tail.length, tail.format = len(option.text) - n_tail, n_tail, pale
    layout = QTextLayout(option.text, option.font)
    wrapping = QTextOption(option.displayAlignment)
    wrapping.setWrapMode(QTextOption.WrapMode.WordWrap)
    wrapping.setTextDirection(option.direction)
    layout.setTextOption(wrapping)
    layout.setFormats([tail])
    layout.beginLayout()
    height = 0.0
    while (line := layout.createLine()).isValid():
        line.setLineWidth(width)
        line.setPosition(QPointF(0, height))
        height += line.height()
    layout.endLayout()
    return layout
