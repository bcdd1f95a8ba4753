"""A row of widgets that goes on in the next line: in a narrow window, or with large letters."""

from PySide6.QtCore import QMargins, QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import QLabel, QLayout, QLayoutItem, QWidget


class FlowLayout(QLayout):
    """Widgets beside each other, each as wide as it likes, in as many lines as that takes.

    What is added after ``add_gap`` stands at the far end where all is in one line.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap_before: int | None = None
        self.setContentsMargins(QMargins())

    def add_gap(self) -> None:
        """Let what comes now stand at the far end."""
        self._gap_before = len(self._items)

    def addItem(self, item: QLayoutItem) -> None:
        """Take a widget's item; Qt calls this."""
        self._items.append(item)

    def count(self) -> int:
        """Count the widgets."""
        return len(self._items)

    # Qt asks for items beyond the end, to see that there are no more.
    def itemAt(self, index: int) -> QLayoutItem | None:
        """Give an item; None where there is none."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:
        """Remove an item; None where there is none."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:
        """Want no more room than the widgets take."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """The narrower, the higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Tell how high the lines are."""
        lines = self._lines(width)
        heights = [max(item.sizeHint().height() for item in line) for line in lines]
        return sum(heights) + self.spacing() * max(0, len(lines) - 1)

    def sizeHint(self) -> QSize:
        """Like to be one line."""
        shown = self._shown()
        width = sum(item.sizeHint().width() for item in shown)
        height = max((item.sizeHint().height() for item in shown), default=0)
        return QSize(width + self.spacing() * max(0, len(shown) - 1), height)

    def minimumSize(self) -> QSize:
        """Need room for the widest widget alone."""
        size = QSize()
        for item in self._shown():
            size = size.expandedTo(item.minimumSize())
        return size

    def setGeometry(self, place: QRect) -> None:
        """Set the lines, one below the other; widgets of a line are centred in its height."""
        super().setGeometry(place)
        lines, top = self._lines(place.width()), place.top()
        for line in lines:
            height = max(item.sizeHint().height() for item in line)
            left = place.left()
            for item in line:
                if len(lines) == 1 and item is self._first_after_gap():
                    left += max(0, place.width() - self.sizeHint().width())
                size = item.sizeHint().boundedTo(QSize(place.width(), height))
                item.setGeometry(QRect(QPoint(left, top + (height - size.height()) // 2), size))
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
    """Tell whether there is something to see: a label without text would leave a gap, too."""
    widget = item.widget()
    return not item.isEmpty() and (not isinstance(widget, QLabel) or bool(widget.text()))
