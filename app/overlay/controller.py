"""Chooses the lines on the overlay, their look, and the position of the overlay."""

from collections.abc import Sequence
from dataclasses import replace

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication

from app.captions.line_breaking import Line, Typesetter
from app.captions.model import UtteranceView
from app.captions.modes import BOTH, CAPTIONS_ONLY, TRANSLATE
from app.config.preferences import CaptionPreferences
from app.config.window_geometry import GeometryFile, geometry_of, restored_geometry, screens
from app.overlay.toolbar import OverlayToolbar
from app.overlay.window import Overlay, OverlayView
from app.system.screen_share import ShareGuard
from app.system.wayland import is_wayland

_NAME = "overlay"


class OverlayController(QObject):
    """Break views into lines, show them on the overlay, and restore its position.

    Wayland does not report window positions: there no position is saved or restored.

    Signals:
        size_wanted(int, int): the user resized the overlay to this many characters and lines.
        painted(tuple of int): keys of the utterances whose captions were painted.
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
        self._fresh: Sequence[UtteranceView] = ()  # the part that was not cleared
        self._lines: tuple[Line, ...] = ()  # of captions
        self._gone = frozenset[int]()  # keys of utterances that had ended when it was cleared
        self._cut: dict[
            int, tuple[int, int]
        ] = {}  # of open ones: characters shown before it was cleared
        self._knows_positions = not is_wayland()
        self._guard = ShareGuard(self)
        self._guard.watch(self.overlay)
        self._choices = choices
        self._make_typesetters()
        self.overlay.size_wanted.connect(self.size_wanted)
        self.overlay.moved.connect(self._save_position)
        self.overlay.painted.connect(self._emit_painted)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.screenRemoved.connect(self.restore)
        self.bar: OverlayToolbar | None = None
        self.restore()
        self.show_views(())

    def add_bar(self, actions: Sequence[QAction], way_back: QAction) -> OverlayToolbar:
        """Add a toolbar with these actions; ``way_back`` unlocks the overlay."""
        self.bar = OverlayToolbar(self.overlay, actions, way_back, inside=not self._knows_positions)
        self.bar.show_preset(self._choices.preset)
        if self._knows_positions:
            self._guard.watch(self.bar)
        return self.bar

    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Show the last lines of these utterances, or a hint if there are none."""
        self._views, self._fresh = views, self._after_clear(views)
        views = self._fresh
        mode, count = self._choices.mode, self.overlay.n_lines
        captions = self._captions.last_lines(views, count) if mode != CAPTIONS_ONLY else ()
        source = self._source.last_lines(views, count) if mode != TRANSLATE else ()
        self._lines = captions
        if not captions and not source:
            self.overlay.show_view(self._hint())
        elif mode == CAPTIONS_ONLY:
            self.overlay.show_view(OverlayView(lines=source))
        else:
            self.overlay.show_view(OverlayView(lines=captions, source=source))

    @Slot()
    def clear(self) -> None:
        """Hide all text so far; new text is shown again."""
        self._gone = frozenset(view.key for view in self._views if view.ended)
        self._cut = {
            view.key: (len(view.source), len(view.caption))
            for view in self._views
            if not view.ended
        }
        self._make_typesetters()
        self.show_views(self._views)

    def _after_clear(self, views: Sequence[UtteranceView]) -> Sequence[UtteranceView]:
        """Return the views without cleared text; only the newest views are checked."""
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
        """The last lines of the captions, below those of the source if both are shown."""
        count = self.overlay.n_lines
        if self._choices.mode == CAPTIONS_ONLY:
            self._lines = self._captions.last_lines(self._fresh, count)
        is_both = self._choices.mode == BOTH
        source = self._source.last_lines(self._fresh, count) if is_both else ()
        return [line.text for line in (*source, *self._lines)]

    def show_theme(self, choices: CaptionPreferences) -> None:
        """Change the look of the captions."""
        self._choices = choices
        self.overlay.show_theme(choices)
        if self.bar is not None:
            self.bar.show_preset(choices.preset)
        self._make_typesetters()
        self.show_views(self._views)

    def set_locked(self, *, locked: bool) -> None:
        """Lock or unlock the overlay; clicks go through a locked one."""
        self.overlay.set_locked(locked=locked)
        if self.bar is not None and not locked:
            self.bar.linger()

    def hide_from_share(self, *, hidden: bool) -> None:
        """Hide the overlay and its toolbar from screen shares, if the system supports that."""
        self._guard.use(hidden=hidden)

    @Slot()
    def restore(self) -> None:
        """Move the overlay to its saved position, or at least onto a screen."""
        areas = screens()
        if not self._knows_positions or not areas:
            return
        saved = self._geometry.find(_NAME)
        if saved is None:
            self.overlay.put(self.overlay.default_position())
        else:
            self.overlay.put(restored_geometry(saved, self.overlay.size(), areas).topLeft())

    @Slot()
    def reset_position(self) -> None:
        """Move the overlay to the bottom centre of the screen."""
        self.overlay.put(self.overlay.default_position())
        self._save_position()

    @Slot()
    def _save_position(self) -> None:
        areas = screens()
        if self._knows_positions and areas:
            self._geometry.save(_NAME, geometry_of(self.overlay.geometry(), areas))

    @Slot()
    def _emit_painted(self) -> None:
        if self._choices.mode != CAPTIONS_ONLY:
            self.painted.emit(self._captions.keys)

    def _make_typesetters(self) -> None:
        overlay = self.overlay
        self._captions = Typesetter(
            overlay.line_width,
            overlay.measure,
            doubt_mark=self._choices.doubt_mark,
        )
        alone = self._choices.mode == CAPTIONS_ONLY
        measure = overlay.measure if alone else overlay.measure_source
        self._source = Typesetter(
            overlay.line_width, measure, lambda view: view.source, lambda view: view.tail
        )

    def _hint(self) -> OverlayView:
        texts = (self.tr("Captions appear here."), self.tr("Drag them anywhere."))
        return OverlayView(lines=tuple(Line(text=text) for text in texts), is_hint=True)
