"""Captions on the overlay: which lines stand there, how they look, and where on the screens."""

from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication

from app.captions import UtteranceView
from app.choices import CaptionChoices
from app.overlay import Overlay, OverlayView
from app.places import PlacesFile, place_of, screens, stood_at
from app.typeset import Line, Typesetter

_NAME = "overlay"


class CaptionStage(QObject):
    """Set views in lines, show them on the overlay, and keep the overlay where it was put.

    On Wayland no program knows where its windows are: there no place is kept or gone back to.

    Signals:
        size_wanted(int, int): the person dragged the overlay to so many characters, so many lines.
    """

    size_wanted = Signal(int, int)

    def __init__(
        self, choices: CaptionChoices, places: PlacesFile, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.overlay = Overlay(choices)
        self._places = places
        self._views: Sequence[UtteranceView] = ()
        self._knows_places = not QGuiApplication.platformName().startswith("wayland")
        self._choices = choices
        self._make_typesetters()
        self.overlay.size_wanted.connect(self.size_wanted)
        self.overlay.moved.connect(self._remember_place)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenRemoved.connect(self.come_back)
        self.come_back()
        self.show_views(())

    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Show the last lines of these utterances, or a hint where there is nothing to show."""
        self._views = views
        shows, count = self._choices.shows, self.overlay.n_lines
        captions = self._captions.last_lines(views, count) if shows != "source" else ()
        source = self._source.last_lines(views, count) if shows != "captions" else ()
        if not captions and not source:
            self.overlay.show_view(self._hint())
        elif shows == "source":
            self.overlay.show_view(OverlayView(lines=source))
        else:
            self.overlay.show_view(OverlayView(lines=captions, source=source))

    @property
    def caption_lines(self) -> list[str]:
        """The last lines of the captions, whatever the overlay shows."""
        lines = self._captions.last_lines(self._views, self.overlay.n_lines)
        return [line.text for line in lines]

    def show_look(self, choices: CaptionChoices) -> None:
        """Make captions look otherwise from now on."""
        self._choices = choices
        self.overlay.show_look(choices)
        self._make_typesetters()
        self.show_views(self._views)

    def set_locked(self, *, locked: bool) -> None:
        """Let clicks through the overlay, or take them."""
        self.overlay.set_locked(locked=locked)

    @Slot()
    def come_back(self) -> None:
        """Go where the overlay stood last time, or where it is seen at least."""
        areas = screens()
        if not self._knows_places or not areas:
            return
        place = self._places.find(_NAME)
        if place is None:
            self.overlay.move(self.overlay.first_place())
        else:
            self.overlay.move(stood_at(place, self.overlay.size(), areas).topLeft())

    @Slot()
    def reset_place(self) -> None:
        """Go to the bottom of the screen, in its middle."""
        self.overlay.move(self.overlay.first_place())
        self._remember_place()

    @Slot()
    def _remember_place(self) -> None:
        areas = screens()
        if self._knows_places and areas:
            self._places.remember(_NAME, place_of(self.overlay.geometry(), areas))

    def _make_typesetters(self) -> None:
        overlay = self.overlay
        self._captions = Typesetter(overlay.line_width, overlay.measure)
        alone = self._choices.shows == "source"
        measure = overlay.measure if alone else overlay.measure_source
        self._source = Typesetter(overlay.line_width, measure, lambda view: view.source)

    def _hint(self) -> OverlayView:
        texts = (self.tr("Captions appear here."), self.tr("Drag them where you like."))
        return OverlayView(lines=tuple(Line(text=text) for text in texts), is_hint=True)
