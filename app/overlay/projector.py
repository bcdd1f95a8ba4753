"""The captions in large letters for a room, on a screen of their own or as a strip over slides."""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil

from PySide6.QtCore import QRect, QSize, Qt, QTimer, Signal, Slot
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

from app.captions.model import SpeakerNames, UtteranceView
from app.config.preferences import (
    BOTTOM_STRIP,
    OFF,
    WHOLE_SCREEN,
    CaptionPreferences,
    ProjectorPreferences,
)
from app.overlay.last_lines import LastLines
from app.overlay.text_layout import OverlayView, TextLayout
from app.overlay.themes import theme_of

_POINTS_OF_INCH = 72
_STRIP_LINES = 2
_MOST_LINES = 5  # on a whole screen
_MARGIN = 0.05  # of the screen, on each side
_BOTTOM = 0.7  # of its height, above the heads of those in front
_PARTING = 0.35  # of a line, between two utterances
_LEAST_POINTS, _MOST_POINTS, _MOST_CHARACTERS = 14, 96, 68


class ProjectorView(QWidget):
    """Show the last captions on one screen, until Escape or the action that opened it.

    Signals:
        closed(): it is not shown any more.

    Attributes:
        shown_on: its screen.
        lost_screen: that has gone.
    """

    closed = Signal()

    def __init__(self, screen: QScreen, speakers: SpeakerNames) -> None:
        super().__init__(None, Qt.WindowType.Window | Qt.WindowType.FramelessWindowHint)
        self.setWindowTitle(self.tr("Surtitle projector view"))
        self.setAccessibleName(self.tr("Captions for the room"))
        self.setCursor(Qt.CursorShape.BlankCursor)
        self.shown_on, self._speakers = screen, speakers
        self.lost_screen = False
        self._flow = QTimer(self, singleShot=True)
        self._flow.timeout.connect(self._lay_out)
        self._text = TextLayout(self)
        self._text.moved.connect(self.update)
        self._views: Sequence[UtteranceView] = ()
        self._room = QRect()  # for the text
        self._captions, self._place = CaptionPreferences(), ProjectorPreferences()
        screen.geometryChanged.connect(self._fit)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenRemoved.connect(self._leave_screen)

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
        area = self.shown_on.geometry()
        pixels = area.height() * self._place.letters / 100
        points = round(pixels * _POINTS_OF_INCH / self.shown_on.logicalDotsPerInch())
        points = min(_MOST_POINTS, max(_LEAST_POINTS, points))
        large = replace(
            self._captions, point_size=points, characters=_MOST_CHARACTERS, doubt=OFF
        )  # nobody in the room can look up what is marked
        side = round(_MARGIN * area.width())
        self._text.dress(large, self.font(), area.width() - 2 * side)
        self._text.n_lines, self._text.parting = _STRIP_LINES, 0.0
        place = QRect(area)
        self._room = QRect(side, 0, area.width() - 2 * side, area.height())
        if self._place.place != WHOLE_SCREEN:
            place.setHeight(min(area.height(), self._text.size_of_lines(_STRIP_LINES).height()))
            self._room.setHeight(place.height())
            if self._place.place == BOTTOM_STRIP:
                place.moveBottom(area.bottom())
        else:
            self._room.setHeight(round(_BOTTOM * area.height()))
            fitting = self._text.lines_in(self._room.height())
            self._text.n_lines = max(1, min(_MOST_LINES, fitting))
            self._text.parting = _PARTING
        width = min(self._room.width(), self._text.size_of_lines(1).width())
        self._room.adjust((self._room.width() - width) // 2, 0, 0, 0)
        self._room.setWidth(width)
        self._lines = LastLines(self._text, large, self._speakers.name_of)
        self.setScreen(self.shown_on)
        self.setGeometry(place)
        self.showFullScreen() if self._place.place == WHOLE_SCREEN else self.showNormal()
        self._lay_out()

    def show_views(self, views: Sequence[UtteranceView]) -> None:
        self._views = views
        self._lay_out()

    def _lay_out(self) -> None:
        view = self._lines.of(self._views, self._text.n_lines)
        wait_s = self._lines.wait_s
        self._flow.stop() if wait_s is None else self._flow.start(ceil(1000 * wait_s))
        self._text.view = view if self._place.place != WHOLE_SCREEN else _old_ones_quiet(view)
        self.setAccessibleDescription(" ".join(line.text for line in (*view.lines, *view.second)))
        self._text.forget_box()
        self._text.lay_out(self._room.size(), glides=False)
        self.update()

    def sizeHint(self) -> QSize:
        return self.shown_on.geometry().size()

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Paint the lines on the colour behind captions, without a hole to see through."""
        painter = QPainter(self)
        painter.fillRect(self.rect(), QColor(*theme_of(self._captions).background))
        painter.translate(self._room.topLeft())
        self._text.paint(painter, QRect())
        painter.end()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._lay_out()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close()
        else:
            super().keyPressEvent(event)

    def closeEvent(self, event: QCloseEvent) -> None:
        super().closeEvent(event)
        self.closed.emit()

    @Slot(QScreen)
    def _leave_screen(self, screen: QScreen) -> None:
        if screen is self.shown_on:
            self.lost_screen = True
            self.close()


def _old_ones_quiet(view: OverlayView) -> OverlayView:
    newest = view.lines[-1].place[0] if view.lines else 0
    lines = (replace(line, is_quiet=line.place[0] != newest) for line in view.lines)
    return replace(view, lines=tuple(lines))
