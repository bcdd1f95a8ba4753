"""The overlay: a frameless window above all others that shows the last lines. It owns no text."""

from dataclasses import dataclass

from PySide6.QtCore import QPoint, QPointF, QRect, QRectF, QSize, Qt, Slot
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QGuiApplication,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QWidget

N_LINES = 2
_CHARACTERS_A_LINE = 42
_POINT_SIZE = 28
_PADDING = 18
_RADIUS = 14
_OUTLINE_WIDTH = 4.0
_DISTANCE_FROM_EDGE = 48
_BACKGROUND = QColor(0, 0, 0, 178)  # 70 %
_TEXT = QColor(255, 255, 255)
_HINT = QColor(190, 190, 190)


@dataclass(frozen=True, slots=True, kw_only=True)
class OverlayView:
    """What the overlay paints.

    Attributes:
        lines: from top to bottom, as wide as ``Overlay.line_width`` at most.
        is_hint: the lines are no caption but tell where captions will come.
    """

    lines: tuple[str, ...] = ()
    is_hint: bool = False


class Overlay(QWidget):
    """Paint the last view; be dragged anywhere; take no focus.

    The size is fixed, so that the window never jumps with its text.
    """

    def __init__(self) -> None:
        super().__init__(
            None,
            Qt.WindowType.Tool
            | Qt.WindowType.FramelessWindowHint
            | Qt.WindowType.WindowStaysOnTopHint
            | Qt.WindowType.WindowDoesNotAcceptFocus,
        )
        self.setAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)
        self.setAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
        self.setWindowTitle("Surtitle captions")
        self.setAccessibleName("Caption overlay")
        self.setCursor(Qt.CursorShape.SizeAllCursor)
        font = QFont(self.font())
        font.setPointSize(_POINT_SIZE)
        self.setFont(font)
        self._metrics = QFontMetricsF(font)
        self._view = OverlayView()
        self._drag_from: QPoint | None = None
        self.line_width = self._fitting_line_width()
        self.setFixedSize(self._fixed_size())
        self.move(self._first_place())

    def measure(self, text: str) -> float:
        """Tell how wide a text is in the overlay's font."""
        return self._metrics.horizontalAdvance(text)

    @Slot(OverlayView)
    def show_view(self, view: OverlayView) -> None:
        """Paint another view."""
        if view != self._view:
            self._view = view
            self.setAccessibleDescription(" ".join(view.lines))
            self.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the background and the lines, each with its outline below it."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(_BACKGROUND)
        painter.drawRoundedRect(QRectF(self.rect()), _RADIUS, _RADIUS)
        outline = QPen(QColor(0, 0, 0), _OUTLINE_WIDTH)
        outline.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        for number, line in enumerate(self._view.lines[-N_LINES:]):
            baseline = _PADDING + self._metrics.ascent() + number * self._metrics.lineSpacing()
            path = QPainterPath()
            path.addText(QPointF(_PADDING, baseline), self.font(), line)
            painter.strokePath(path, outline)
            painter.fillPath(path, _HINT if self._view.is_hint else _TEXT)
        painter.end()

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Begin a drag: by the window system, or by hand where it does not offer one."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        if not self.windowHandle().startSystemMove():
            self._drag_from = event.globalPosition().toPoint() - self.pos()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Go on with a drag by hand."""
        if self._drag_from is not None:
            self.move(event.globalPosition().toPoint() - self._drag_from)

    def mouseReleaseEvent(self, _event: QMouseEvent) -> None:
        """End a drag by hand."""
        self._drag_from = None

    def _screen_area(self) -> QRect:
        return QGuiApplication.primaryScreen().availableGeometry()

    def _fitting_line_width(self) -> float:
        wanted = self._metrics.averageCharWidth() * _CHARACTERS_A_LINE
        return min(wanted, self._screen_area().width() - 4.0 * _PADDING)

    def _fixed_size(self) -> QSize:
        height = self._metrics.lineSpacing() * N_LINES + 2 * _PADDING
        return QSize(round(self.line_width) + 2 * _PADDING, round(height))

    def _first_place(self) -> QPoint:
        """Find the place at the bottom of the screen, in its middle."""
        area = self._screen_area()
        left = area.left() + (area.width() - self.width()) // 2
        top = area.bottom() - self.height() - _DISTANCE_FROM_EDGE
        return QPoint(max(left, area.left()), max(top, area.top()))
