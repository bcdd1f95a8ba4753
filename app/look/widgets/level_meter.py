"""A bar that shows a sound level; the caller measures."""

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent, QPalette
from PySide6.QtWidgets import QSizePolicy, QWidget

from app.look.palette import colours_of
from engine.audio.devices import Level

_QUIET_DB, _LOUD_DB, _CLIPPED_DB = -60.0, -6.0, -1.0
_FALL_DB = 1.5  # of the peak mark with each new level
_WIDTH, _HEIGHT, _THIN = 180, 14, 4


class LevelMeter(QWidget):
    """Show the mean as a bar and the peak as a mark that falls slowly; the tool tip has words.

    Screen readers have its words from the tool tip when they are asked for: a description of its
    own would be said again with each level, ten times a second.
    """

    def __init__(self, parent: QWidget | None = None, *, thin: bool = False) -> None:
        """Make a meter; a ``thin`` one shows nothing at all while nothing is recorded."""
        super().__init__(parent)
        self._thin = thin
        self._rms_db = self._peak_db = _QUIET_DB
        self._is_live = False
        self._shown: tuple[bool, int, int, str] | None = None
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.show_nothing()

    @property
    def filled(self) -> float:
        return _share(self._rms_db) if self._is_live else 0.0

    def sizeHint(self) -> QSize:
        return QSize(_WIDTH, _THIN if self._thin else _HEIGHT)

    def show_level(self, level: Level) -> None:
        """Show the level of the newest chunk of sound; what looks the same is not painted again."""
        self._is_live = True
        self._rms_db = max(level.rms_db, _QUIET_DB)
        self._peak_db = max(level.peak_db, self._peak_db - _FALL_DB, _QUIET_DB)
        text = self.tr("{:.0f} decibels below full scale").format(-level.rms_db)
        if level.peak_db >= _CLIPPED_DB:
            text = self.tr("Too loud: turn it down")
        elif level.rms_db <= _QUIET_DB:
            text = self.tr("Silent")
        self._describe(text)

    def show_nothing(self) -> None:
        self._is_live = False
        self._rms_db = self._peak_db = _QUIET_DB
        self._describe(self.tr("Not listening"))

    def paintEvent(self, event: QPaintEvent) -> None:  # noqa: ARG002  the bar is painted whole
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        if self._thin and not self._is_live:
            return
        margin = 0.0 if self._thin else 2.5
        groove = QRectF(self.rect()).adjusted(0.5, margin, -0.5, -margin)
        radius = groove.height() / 2
        painter.setBrush(self.palette().color(QPalette.ColorRole.Mid))
        painter.drawRoundedRect(groove, radius, radius)
        if not self._is_live:
            return
        right_to_left = self.layoutDirection() is Qt.LayoutDirection.RightToLeft
        if right_to_left:
            painter.translate(self.width(), 0)
            painter.scale(-1, 1)
        painter.setBrush(colours_of(self.palette()).colour(_colour_name(self._peak_db)))
        bar = QRectF(groove)
        bar.setWidth(groove.width() * self.filled)
        if bar.width() >= groove.height():
            painter.drawRoundedRect(bar, radius, radius)
        mark = QRectF(
            groove.left() + (groove.width() - 2) * _share(self._peak_db), 0.5, 2, self.height() - 1
        )
        painter.drawRect(mark)

    def _describe(self, words: str) -> None:
        shown = (self._is_live, round(self._rms_db), round(self._peak_db), words)
        if shown != self._shown:
            self._shown = shown
            self.setToolTip(words)
            self.update()


def _share(decibels: float) -> float:
    return min(max(1 - decibels / _QUIET_DB, 0.0), 1.0)


def _colour_name(peak_db: float) -> str:
    if peak_db >= _CLIPPED_DB:
        return "error"
    return "warning" if peak_db >= _LOUD_DB else "good"
