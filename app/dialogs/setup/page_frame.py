"""The frame of a dialog with pages: a heading, the scrolled page, and buttons below it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QLabel, QLayout, QScrollArea, QVBoxLayout, QWidget

from app.look.style_sheet import GAP

_HEADING = 1.5  # letters, of those of the window


def heading_of(text: str) -> QLabel:
    """Make a heading in large letters that wraps."""
    heading = QLabel(text, wordWrap=True)
    font = heading.font()
    font.setPointSizeF(font.pointSizeF() * _HEADING)
    font.setBold(True)
    heading.setFont(font)
    return heading


def scrolled(content: QWidget) -> QScrollArea:
    """Put a widget into a frameless area that scrolls where it is too small."""
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(content)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    return area


def lay_out_page(
    dialog: QDialog,
    top: QLayout,
    content: QWidget,
    buttons: QLayout,
    *,
    below: QWidget | None = None,
) -> QScrollArea:
    """Lay out a dialog whose content scrolls while its buttons stay, on screens of any size.

    Args:
        dialog: without a layout.
        top: holds the heading.
        content: scrolls.
        buttons: the row below.
        below: stays, too, between the two.

    Returns:
        what scrolls the content.
    """
    column = QVBoxLayout(dialog)
    column.setContentsMargins(*[6 * GAP] * 4)
    column.setSpacing(4 * GAP)
    column.addLayout(top)
    area = scrolled(content)
    column.addWidget(area, 1)
    if below is not None:
        column.addWidget(below)
    column.addLayout(buttons)
    return area
