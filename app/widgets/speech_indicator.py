"""A lamp for detected speech, with a shape, a colour and a word."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.palette import colours_of

_GAP = 6


class SpeechIndicator(QWidget):
    """A disc with a word while speech is detected, else a ring."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._speaks = False
        self._word = self.tr("speech")
        self.setAccessibleName(self.tr("Speech"))
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.show_speech(speaks=False)

    @property
    def speaks(self) -> bool:
        """Whether the lamp shows speech."""
        return self._speaks

    def show_speech(self, *, speaks: bool) -> None:
        """Show whether speech is detected."""
        self._speaks = speaks
        text = self.tr("Speech detected") if speaks else self.tr("No speech")
        self.setAccessibleDescription(text)
        self.setToolTip(text)
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of disc and word, which does not change with the state."""
        metrics = self.fontMetrics()
        width = self._disc() + _GAP + metrics.horizontalAdvance(self._word)
        return QSize(width, metrics.height())

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  the lamp is painted whole
        """Paint disc and word, or the ring."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        side = self._disc()
        mirrored = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        left = self.width() - side if mirrored else 0
        disc = QRectF(left + 1, (self.height() - side) / 2 + 1, side - 2, side - 2)
        if not self._speaks:
            painter.setPen(QPen(self.palette().color(QPalette.ColorRole.PlaceholderText), 1.5))
            painter.drawEllipse(disc)
            return
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colours_of(self.palette()).colour("good"))
        painter.drawEllipse(disc)
        painter.setPen(self.palette().color(QPalette.ColorRole.WindowText))
        room = self.rect().adjusted(0, 0, -side - _GAP, 0)
        if not mirrored:
            room.translate(side + _GAP, 0)
        painter.drawText(
            room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeading, self._word
        )

    def _disc(self) -> int:
        return round(self.fontMetrics().ascent() * 0.9)
