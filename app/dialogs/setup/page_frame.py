"""The frame of a dialog with pages: a heading, the scrolled page, and buttons below it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QFrame, QLabel, QLayout, QScrollArea, QVBoxLayout, QWidget

from app.look.style_sheet import GAP

_HEADING = 1.5  # letters, of those of the window


def lay_out_page(
    dialog: QDialog, heading: QLabel, top: QLayout, content: QWidget, buttons: QLayout
) -> None:
    """Lay out a dialog whose content scrolls while its buttons stay, on screens of any size.

    Args:
        dialog: without a layout.
        heading: gets large letters.
        top: holds the heading.
        content: scrolls.
        buttons: the row below.
    """
    font = heading.font()
    font.setPointSizeF(font.pointSizeF() * _HEADING)
    font.setBold(True)
    heading.setFont(font)
    heading.setWordWrap(True)
    area = QScrollArea(widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    area.setWidget(content)
    area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
    column = QVBoxLayout(dialog)
    column.setContentsMargins(*[6 * GAP] * 4)
    column.setSpacing(4 * GAP)
    column.addLayout(top)
    column.addWidget(area, 1)
    column.addLayout(buttons)
