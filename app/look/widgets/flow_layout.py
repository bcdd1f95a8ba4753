"""A row of widgets that wraps in narrow windows."""

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLabel, QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Widgets of their preferred width side by side, in as many lines as needed.

    Widgets added after ``add_gap`` are aligned to the far end if all fit in one line.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap_before: int | None = None
        self.setContentsMargins(QMargins())

    def add_gap(self) -> None:
        """Align the widgets added from now on to the far end."""
        self._gap_before = len(self._items)

    def addItem(self, item: QLayoutItem) -> None:
        self._items.append(item)

    def count(self) -> int:
        return len(self._items)

    # Qt asks for items beyond the end to find the last one.
    def itemAt(self, index: int) -> QLayoutItem | None:
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        return True

    def heightForWidth(self, width: int) -> int:
        lines = self._lines(width)
        heights = [max(item.sizeHint().height() for item in line) for line in lines]
        return sum(heights) + self.spacing() * max(0, len(lines) - 1)

    def sizeHint(self) -> QSize:
        shown = self._shown()
        width = sum(item.sizeHint().width() for item in shown)
        height = max((item.sizeHint().height() for item in shown), default=0)
        return QSize(width + self.spacing() * max(0, len(shown) - 1), height)

    def minimumSize(self) -> QSize:
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, area: QRect) -> None:
        """Place the lines one below the other.

        Widgets are centred in the height of their line, unless they are aligned to its top.
        """
        super().setGeometry(area)
        lines, top = self._lines(area.width()), area.top()
        for line in lines:
            height = max(item.sizeHint().height() for item in line)
            left = area.left()
            for item in line:
                if len(lines) == 1 and item is self._first_after_gap():
                    left += max(0, area.width() - self.sizeHint().width())
                size = item.sizeHint().boundedTo(QSize(area.width(), height))
                is_at_top = item.alignment() & Qt.AlignmentFlag.AlignTop
                gap = 0 if is_at_top else (height - size.height()) // 2
                item.setGeometry(QRect(QPoint(left, top + gap), size))
                left += size.width() + self.spacing()
            top += height + self.spacing()

    def _lines(self, width: int) -> list[list[QLayoutItem]]:
        lines: list[list[QLayoutItem]] = []
        used = width
        for item in self._shown():
            own = item.sizeHint().width()
            if not lines or used + self.spacing() + own > width:
                lines.append([])
                used = -self.spacing()
            lines[-1].append(item)
            used += self.spacing() + own
        return lines

    def _shown(self) -> list[QLayoutItem]:
        return [item for item in self._items if _takes_room(item)]

    def _first_after_gap(self) -> QLayoutItem | None:
        after = [] if self._gap_before is None else self._items[self._gap_before :]
        return next((item for item in after if _takes_room(item)), None)


def _takes_room(item: QLayoutItem) -> bool:
    """Return whether an item is visible; a label without text is not."""
    widget = item.widget()
    return not item.isEmpty() and (not isinstance(widget, QLabel) or bool(widget.text()))
