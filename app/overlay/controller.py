"""Captions on the overlay: which lines stand there, how they look, and where on the screens."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication

from app.captions.line_breaking import Line, Typesetter
from app.captions.model import UtteranceView
from app.config.preferences import CaptionPreferences
from app.config.window_geometry import GeometryFile, geometry_of, restored_geometry, screens
from app.overlay.toolbar import OverlayToolbar
from app.overlay.window import Overlay, OverlayView
from app.system.screen_share import ShareGuard
from app.system.wayland import is_wayland

_NAME = "overlay"


class OverlayController(QObject):
    """Set views in lines, show them on the overlay, and keep the overlay where it was put.

    On Wayland no program knows where its windows are: there no place is kept or gone back to.

    Signals:
        size_wanted(int, int): the person dragged the overlay to so many characters, so many lines.
        painted(tuple of int): the captions of these utterances stand on the overlay as they are.
    """

    size_wanted = Signal(int, int)
    painted = Signal(tuple)

    def __init__(
        self, choices: CaptionPreferences, geometry: GeometryFile, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.overlay = Overlay(choices)
        self._geometry = geometry
        self._views: Sequence[UtteranceView] = ()
        self._fresh: Sequence[UtteranceView] = ()  # of these what was not cleared
        self._lines: tuple[Line, ...] = ()  # of the captions
        self._gone = frozenset[int]()  # keys of utterances that were complete when it was cleared
        self._cut: dict[int, tuple[int, int]] = {}  # of the others: characters that were shown
        self._knows_positions = not is_wayland()
        self._guard = ShareGuard(self)
        self._guard.watch(self.overlay)
        self._choices = choices
        self._make_typesetters()
        self.overlay.size_wanted.connect(self.size_wanted)
        self.overlay.moved.connect(self._remember_place)
        self.overlay.painted.connect(self._tell_painted)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenRemoved.connect(self.restore)
        self.bar: OverlayToolbar | None = None
        self.restore()
        self.show_views(())

    def add_bar(self, actions: Sequence[QAction], way_back: QAction) -> OverlayToolbar:
        """Put a bar with these beside the overlay; ``way_back`` unlocks it."""
        self.bar = OverlayToolbar(self.overlay, actions, way_back, inside=not self._knows_positions)
        self.bar.show_preset(self._choices.preset)
        if self._knows_positions:
            self._guard.watch(self.bar)
        return self.bar

    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Show the last lines of these utterances, or a hint where there is nothing to show."""
        self._views, self._fresh = views, self._after_clear(views)
        views = self._fresh
        shows, count = self._choices.shows, self.overlay.n_lines
        captions = self._captions.last_lines(views, count) if shows != "source" else ()
        source = self._source.last_lines(views, count) if shows != "captions" else ()
        self._lines = captions
        if not captions and not source:
            self.overlay.show_view(self._hint())
        elif shows == "source":
            self.overlay.show_view(OverlayView(lines=source))
        else:
            self.overlay.show_view(OverlayView(lines=captions, source=source))

    @Slot()
    def clear(self) -> None:
        """Show nothing of what was said so far; what comes now is shown again."""
        self._gone = frozenset(view.key for view in self._views if view.ended)
        self._cut = {
            view.key: (len(view.source), len(view.caption))
            for view in self._views
            if not view.ended
        }
        self._make_typesetters()
        self.show_views(self._views)

    def _after_clear(self, views: Sequence[UtteranceView]) -> Sequence[UtteranceView]:
        """Leave out what was cleared; only the newest views are looked at."""
        if not self._gone and not self._cut:
            return views
        fresh, cut = list[UtteranceView](), set(self._cut)
        for view in reversed(views):
            if view.key in self._gone:
                if not cut:
                    break
                continue
            if view.key in self._cut:
                cut.discard(view.key)
                n_source, n_caption = self._cut[view.key]
                source, caption = view.source[n_source:], view.caption[n_caption:]
                view = replace(view, source=source.lstrip(), caption=caption.lstrip())  # noqa: PLW2901
            fresh.append(view)
        return [view for view in reversed(fresh) if view.source or view.caption or view.tail]

    @property
    def caption_lines(self) -> list[str]:
        """The last lines of the captions, whatever the overlay shows."""
        if self._choices.shows == "source":
            self._lines = self._captions.last_lines(self._fresh, self.overlay.n_lines)
        return [line.text for line in self._lines]

    def show_theme(self, choices: CaptionPreferences) -> None:
        """Make captions look otherwise from now on."""
        self._choices = choices
        self.overlay.show_theme(choices)
        if self.bar is not None:
            self.bar.show_preset(choices.preset)
        self._make_typesetters()
        self.show_views(self._views)

    def set_locked(self, *, locked: bool) -> None:
        """Let clicks through the overlay, or take them."""
        self.overlay.set_locked(locked=locked)
        if self.bar is not None and not locked:
            self.bar.linger()

    def hide_from_share(self, *, hidden: bool) -> None:
        """Keep the overlay and its bar out of screen shares, where the system can do that."""
        self._guard.use(hidden=hidden)

    @Slot()
    def restore(self) -> None:
        """Go where the overlay stood last time, or where it is seen at least."""
        areas = screens()
        if not self._knows_positions or not areas:
            return
        place = self._geometry.find(_NAME)
        if place is None:
            self.overlay.put(self.overlay.first_place())
        else:
            self.overlay.put(restored_geometry(place, self.overlay.size(), areas).topLeft())

    @Slot()
    def reset_place(self) -> None:
        """Go to the bottom of the screen, in its middle."""
        self.overlay.put(self.overlay.first_place())
        self._remember_place()

    @Slot()
    def _remember_place(self) -> None:
        areas = screens()
        if self._knows_positions and areas:
            self._geometry.save(_NAME, geometry_of(self.overlay.geometry(), areas))

    @Slot()
    def _tell_painted(self) -> None:
        if self._choices.shows != "source":
            self.painted.emit(self._captions.keys)

    def _make_typesetters(self) -> None:
        overlay = self.overlay
        self._captions = Typesetter(overlay.line_width, overlay.measure)
        alone = self._choices.shows == "source"
        measure = overlay.measure if alone else overlay.measure_source
        self._source = Typesetter(
            overlay.line_width, measure, lambda view: view.source, lambda view: view.tail
        )

    def _hint(self) -> OverlayView:
        texts = (self.tr("Captions appear here."), self.tr("Drag them where you like."))
        return OverlayView(lines=tuple(Line(text=text) for text in texts), is_hint=True)
