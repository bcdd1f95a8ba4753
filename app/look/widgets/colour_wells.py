"""A row of small buttons that show colours; one of them is chosen."""

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QRectF, QSize, Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QHBoxLayout, QRadioButton, QWidget

from app.look.widgets.dialog_text import quiet

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
