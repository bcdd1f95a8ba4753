"""Lets a window come back where it was, in the size it had, and never where nobody can see it."""

from PySide6.QtCore import QEvent, QObject, QRect, QSize, QTimer, Slot
from PySide6.QtWidgets import QStyle, QWidget

from app.config.window_geometry import PlacesFile, place_of, screens, stood_at
from app.system.wayland import is_wayland

_SETTLED_MS = 500


class WindowPlace(QObject):
    """Keep the place of one window in the file of places, from when it is first shown.

    On Wayland nobody knows where a window is: there its size alone comes back.
    """

    def __init__(self, window: QWidget, places: PlacesFile, name: str) -> None:
        super().__init__(window)
        self._window, self._places, self._name = window, places, name
        self._settled = QTimer(self)
        self._settled.setSingleShot(True)
        self._settled.setInterval(_SETTLED_MS)
        self._settled.timeout.connect(self.remember)
        window.installEventFilter(self)

    def come_back(self) -> bool:
        """Go where the window stood last time; tell whether that is known."""
        place, areas = self._places.find(self._name), screens()
        if place is None or not areas or not place.width or not place.height:
            return False
        came = stood_at(place, QSize(place.width, place.height), areas)
        size = came.size() - self._title_bar()
        self._window.resize(size.expandedTo(self._window.minimumSizeHint()))
        if not is_wayland():
            self._window.move(came.topLeft())
        return True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Write place and size down when the person has let go of the window, or closes it."""
        if event.type() in {QEvent.Type.Move, QEvent.Type.Resize}:
            self._settled.start()
        elif event.type() == QEvent.Type.Close:
            self.remember()
        elif event.type() == QEvent.Type.Hide:
            self._settled.stop()
        return super().eventFilter(watched, event)

    @Slot()
    def remember(self) -> None:
        """Write place and size down; those from before, where the window fills the screen."""
        self._settled.stop()
        window, areas = self._window, screens()
        if areas and window.isVisible() and not window.isMaximized() and not window.isMinimized():
            # The corner of the frame, since moving a window moves that.
            stands = QRect(window.pos(), window.size() + self._title_bar())
            self._places.remember(self._name, place_of(stands, areas, with_size=True))

    def _title_bar(self) -> QSize:
        """Reckon with a frame before there is one: the same at the end and at the next start."""
        return QSize(0, self._window.style().pixelMetric(QStyle.PixelMetric.PM_TitleBarHeight))
