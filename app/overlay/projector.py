"""The captions in large letters for a room, on a screen of their own or as a strip over slides."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QRect, QSize, Qt, Signal, Slot
from PySide6.QtGui import (
    QCloseEvent,
    QColor,
    QGuiApplication,
    QKeyEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QScreen,
)
from PySide6.QtWidgets import QWidget

from app.captions.model import UtteranceView
from app.captions.speakers import SpeakerNames
from app.config.preferences import (
    BOTTOM_STRIP,
    WHOLE_SCREEN,
    CaptionPreferences,
    ProjectorPreferences,
)
from app.overlay.last_lines import LastLines
from app.overlay.text_layout import TextLayout
from app.overlay.themes import theme_of

_POINTS_OF_INCH = 72
_STRIP_LINES = 2
_LEAST_POINTS, _MOST_POINTS, _MOST_CHARACTERS = 14, 96, 68


class ProjectorView(QWidget):
    """Show the last captions on one screen, until Escape or the action that opened it.

    Signals:
        closed(): it is not shown any more.
    """

    closed = Signal()

    def __init__(self, screen: QScreen, speakers: SpeakerNames) -> None:
        super().__init__(None, Qt.WindowType.Window | Qt.WindowType.FramelessWindowHint)
        self.setWindowTitle(self.tr("Surtitle projector view"))
        self.setAccessibleName(self.tr("Captions for the room"))
        self.setCursor(Qt.CursorShape.BlankCursor)
        self._screen, self._speakers = screen, speakers
        self._text = TextLayout(self)
        self._text.moved.connect(self.update)
        self._views: Sequence[UtteranceView] = ()
        self._captions, self._place = CaptionPreferences(), ProjectorPreferences()
        screen.geometryChanged.connect(self._fit)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenRemoved.connect(self._leave_screen)

    @property
    def shown_on(self) -> QScreen:
        """The screen."""
        return self._screen

    def dress(self, captions: CaptionPreferences, place: ProjectorPreferences) -> None:
        """Use colours and mode of the captions, and the place and letters chosen for this view."""
        self._captions, self._place = captions, place
        is_strip = place.place != WHOLE_SCREEN
        flags = Qt.WindowType.WindowStaysOnTopHint | Qt.WindowType.WindowDoesNotAcceptFocus
        if is_strip != bool(self.windowFlags() & Qt.WindowType.WindowDoesNotAcceptFocus):
            self.setWindowFlags(self.windowFlags() ^ flags)  # slides keep the keyboard
        self._fit()

    @Slot()
    def _fit(self) -> None:
        """Set the letters by the height of the screen, and take the place."""
        area = self._screen.geometry()
        pixels = area.height() * self._place.letters / 100
        points = round(pixels * _POINTS_OF_INCH / self._screen.logicalDotsPerInch())
        points = min(_MOST_POINTS, max(_LEAST_POINTS, points))
        large = replace(self._captions, point_size=points, characters=_MOST_CHARACTERS)
        self._text.dress(large, self.font(), area.width())
        self._text.n_lines = _STRIP_LINES
        place = QRect(area)
        if self._place.place != WHOLE_SCREEN:
            place.setHeight(min(area.height(), self._text.size_of_lines(_STRIP_LINES).height()))
            if self._place.place == BOTTOM_STRIP:
                place.moveBottom(area.bottom())
        else:
            self._text.n_lines = max(1, self._text.lines_in(area.height()))
        self._lines = LastLines(self._text, large, self._speakers.name_of)
        self.setScreen(self._screen)
        self.setGeometry(place)
        self.showFullScreen() if self._place.place == WHOLE_SCREEN else self.showNormal()
        self._lay_out()

    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Show the last lines of these."""
        self._views = views
        self._lay_out()

    def _lay_out(self) -> None:
        view = self._text.view = self._lines.of(self._views, self._text.n_lines)
        self.setAccessibleDescription(" ".join(line.text for line in (*view.lines, *view.second)))
        self._text.forget_box()
        self._text.lay_out(self.size(), glides=False)
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size of the screen."""
        return self._screen.geometry().size()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the lines on the colour behind captions, without a hole to see through."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(*theme_of(self._captions).background))
        self._text.paint(painter, QRect())
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Lay out again in another size."""
        super().resizeEvent(event)
        self._lay_out()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Leave by Escape."""
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        """Emit ``closed``."""
        super().closeEvent(event)
        self.closed.emit()

    @Slot(QScreen)
    def _leave_screen(self, screen: QScreen) -> None:
        if screen is self._screen:
            self.close()
