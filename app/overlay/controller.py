"""Chooses the lines on the overlay, their look, and the position of the overlay."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import ceil

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction

from app.captions.line_breaking import Line
from app.captions.model import UtteranceView
from app.captions.speakers import SpeakerNames
from app.config.preferences import CAPTIONS_ONLY, ME, THEM, CaptionPreferences
from app.config.window_system import (
    GeometryFile,
    ShareGuard,
    geometry_of,
    is_wayland,
    restored_geometry,
    screens,
)
from app.look.widgets.lane_style import lane_name
from app.overlay.below_dialogs import BelowDialogs
from app.overlay.last_lines import LastLines
from app.overlay.text_layout import OverlayView
from app.overlay.themes import theme_of
from app.overlay.toolbar import OverlayToolbar
from app.overlay.visibility import Visibility
from app.overlay.window import Overlay

_NAME = "overlay"


class OverlayController(QObject):
    """Break views into lines, show them on the overlay, and restore its position.

    Wayland does not report window positions: there no position is saved or restored.

    Attributes:
        bar: its toolbar, once it was added.
        speakers: decides which captions begin with a name.

    Signals:
        size_wanted(int, int): the user resized the overlay to this many characters and lines.
        painted(tuple of int): keys of the utterances whose captions were painted.
        lines_changed(): ``lines`` are other ones.
    """

    size_wanted = Signal(int, int)
    painted = Signal(tuple)
    lines_changed = Signal()

    def __init__(
        self, choices: CaptionPreferences, geometry: GeometryFile, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self.overlay = Overlay(choices)
        self.visibility = Visibility(self.overlay, self._is_hovered)
        self.bar: OverlayToolbar | None = None
        self._geometry = geometry
        self._views: Sequence[UtteranceView] = ()
        self._fresh: Sequence[UtteranceView] = ()  # the part that was not cleared
        self._shown = OverlayView()  # the last lines
        self._gone = frozenset[int]()  # keys of utterances that had ended when it was cleared
        self._cut = dict[int, UtteranceView]()  # open ones, as they were when it was cleared
        self._is_paused = self._catches_up = False
        self._is_old = False  # a silence has passed since the lines came
        self.speakers = SpeakerNames({lane: lane_name(lane) for lane in (ME, THEM)})
        self.speakers.give(choices.speaker_names)
        self._knows_positions = not is_wayland()
        if self._knows_positions:
            BelowDialogs(self.overlay)
        self._guard = ShareGuard(self)
        self._guard.watch(self.overlay)
        self._choices = choices
        self.overlay.size_wanted.connect(self.size_wanted)
        self.overlay.moved.connect(self._save_position)
        self.overlay.painted.connect(self._emit_painted)
        self.overlay.screens_changed.connect(self.restore)
        self._flow = QTimer(self.overlay, singleShot=True)
        self._flow.timeout.connect(self._show_lines_of_now)
        self.visibility.silent.connect(self._forget_lines)
        self.restore()
        self._make_typesetter()  # lines are as wide as the screen lets them be
        self.show_views(())
        self.overlay.layout_changed.connect(self._break_anew)

    def add_bar(
        self, actions: Mapping[QAction, tuple[str, str]], way_back: QAction
    ) -> OverlayToolbar:
        """Add a toolbar with these actions and their icons; ``way_back`` unlocks the overlay."""
        colours, inside = theme_of(self._choices), not self._knows_positions
        self.bar = OverlayToolbar(self.overlay, actions, way_back, colours, inside=inside)
        if self._knows_positions:
            self._guard.watch(self.bar)
            BelowDialogs(self.bar)
        return self.bar

    def _is_hovered(self) -> bool:
        return self.bar is not None and self.bar.is_hovered

    @Slot(tuple)
    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Show the last lines of these utterances, or a hint if there are none."""
        self._views, self._fresh = views, self._after_clear(views)
        self._show_lines_of_now()

    @Slot()
    def _show_lines_of_now(self) -> None:
        overlay, before = self.overlay, self._shown
        now = self._typeset.of(self._fresh, overlay.n_lines, overlay.n_extra)
        if now.lines or not self._is_old:
            self._shown, self._is_old = now, False
        wait_s = self._typeset.wait_s
        if wait_s is None:
            self._flow.stop()
        else:
            self._flow.start(ceil(1000 * wait_s))
        self._show_lines()
        if self._shown != before:
            if self._has_lines:
                self.visibility.take_caption()
            self.lines_changed.emit()

    def _show_lines(self) -> None:
        """Show the lines, below them why no more come, or a hint if there are none."""
        if self._is_paused or self._catches_up:
            text = self.tr("Paused") if self._is_paused else self.tr("Catching up…")
            note = Line(text=text, is_quiet=True)
            is_old = self._is_old and not self._is_paused
            shown = OverlayView() if is_old else self._shown
            self.overlay.show_view(replace(shown, lines=(*shown.lines, note)))
        else:
            self.overlay.show_view(self._shown if self._has_lines else self._hint())

    @property
    def _has_lines(self) -> bool:
        return bool(self._shown.lines or self._shown.source or self._shown.second)

    @Slot()
    def _forget_lines(self) -> None:
        """Let the next captions begin an empty overlay: what is on it was said long ago."""
        self._typeset.forget()
        self._is_old = True

    def pause(self, *, paused: bool) -> None:
        """Show that it is paused, or that it goes on."""
        self._is_paused = paused
        self._show_lines()
        self.visibility.pause(paused=paused)

    def catch_up(self, *, catches_up: bool) -> None:
        """Show that captions of what was said are still to come, or that there are none."""
        if catches_up != self._catches_up:
            self._catches_up = catches_up
            self._show_lines()
            self.visibility.keep(waits=catches_up)

    def hear(self, lanes: Collection[str]) -> None:
        """Follow which sources are on: the names of speakers are shown if both are."""
        self.speakers.hear(lanes)

    @Slot()
    def clear(self) -> None:
        """Hide all text so far; new text is shown again."""
        self._gone = frozenset(view.key for view in self._views if view.ended)
        self._cut = {view.key: view for view in self._views if not view.ended}
        self._make_typesetter()
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
                view = _after(view, self._cut[view.key])  # noqa: PLW2901
            fresh.append(view)
        return [
            view
            for view in reversed(fresh)
            if view.source or view.caption or view.tail or view.further
        ]

    @property
    def fresh_views(self) -> Sequence[UtteranceView]:
        """The captions since the overlay was last cleared."""
        return self._fresh

    @property
    def lines(self) -> OverlayView:
        """The last lines of the captions, of the source above and the second language below."""
        return self._shown

    def show_theme(self, choices: CaptionPreferences) -> None:
        self._choices = choices
        self.speakers.give(choices.speaker_names)
        self.overlay.show_theme(choices)
        if self.bar is not None:
            self.bar.show_colours(theme_of(choices))
        self.visibility.wake()

    @Slot()
    def _break_anew(self) -> None:
        self._make_typesetter()
        self.show_views(self._views)

    def close(self) -> None:
        """Close the overlay for good."""
        self.visibility.want(wanted=False)
        self.overlay.close()

    def set_locked(self, *, locked: bool) -> None:
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
            return
        for _ in range(2):  # the other screen may have given it another size
            place = restored_geometry(saved, self.overlay.home.size(), areas)
            self.overlay.put(place.topLeft(), place.size())

    @Slot()
    def reset_position(self) -> None:
        """Move the overlay to the bottom centre of the screen, and show it after a silence."""
        self.overlay.put(self.overlay.default_position())
        self._save_position()
        self.visibility.wake()

    @Slot()
    def _save_position(self) -> None:
        areas = screens()
        if self._knows_positions and areas:
            self._geometry.save(_NAME, geometry_of(self.overlay.home, areas))

    @Slot()
    def _emit_painted(self) -> None:
        if self._choices.mode != CAPTIONS_ONLY:
            self.painted.emit(self._typeset.keys)

    def _make_typesetter(self) -> None:
        self._typeset = LastLines(self.overlay, self._choices, self.speakers.name_of)

    def _hint(self) -> OverlayView:
        texts = (self.tr("Captions appear here."), self.tr("Drag them anywhere."))
        lines = tuple(Line(text=text) for text in texts[: self.overlay.n_lines])
        return OverlayView(lines=lines, is_hint=True)


def _after(view: UtteranceView, cut: UtteranceView) -> UtteranceView:
    """Return the part of a view that came after its state in ``cut``."""
    further = {code: text[len(cut.translation(code)) :].lstrip() for code, text in view.further}
    return replace(
        view,
        source=view.source[len(cut.source) :].lstrip(),
        caption=view.caption[len(cut.caption) :].lstrip(),
        further=tuple((code, text) for code, text in further.items() if text),
    )
