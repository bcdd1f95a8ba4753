"""Chooses the lines on the overlay, its look and position, and when it is on the screen.

It stays below our dialogs, although it is above all other windows.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from math import ceil

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QGuiApplication, QRegion
from PySide6.QtWidgets import QApplication, QDialog

from app.captions.line_breaking import Line
from app.captions.model import SpeakerNames, UtteranceView
from app.config.preferences import CAPTIONS_ONLY, ME, THEM, CaptionPreferences
from app.config.window_system import (
    GeometryFile,
    ShareGuard,
    geometry_of,
    is_wayland,
    restored_geometry,
    screens,
)
from app.look.widgets.names import lane_name
from app.overlay.last_lines import LastLines
from app.overlay.text_layout import OverlayView
from app.overlay.themes import theme_of
from app.overlay.toolbar import OverlayToolbar
from app.overlay.window import Overlay

_NAME = "overlay"
_MS = 1000
_SETTLED_MS = 300  # after that a window manager has framed a new window
_CHANGES = {
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.Move,
    QEvent.Type.Resize,
    QEvent.Type.WindowStateChange,
}


class OverlayController(QObject):
    """Break views into lines, show them on the overlay, and restore its position.

    Wayland does not report window positions: there no position is saved or restored.

    Attributes:
        bar: its toolbar, once it was added.
        fresh_views: the captions since the overlay was last cleared.
        lines: the last lines of the captions, of the source above and the second language below.
        guard: hides overlay and toolbar from screen shares, if the system supports that.
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
        self.fresh_views: Sequence[UtteranceView] = ()
        self.lines = OverlayView()
        self._gone = frozenset[int]()  # keys of utterances that had ended when it was cleared
        self._cut = dict[int, UtteranceView]()  # open ones, as they were when it was cleared
        self._is_paused = self._catches_up = False
        self._is_old = False  # a silence has passed since the lines came
        self.speakers = SpeakerNames({lane: lane_name(lane) for lane in (ME, THEM)})
        self.speakers.give(choices.speaker_names)
        self._knows_positions = not is_wayland()
        if self._knows_positions:
            BelowDialogs(self.overlay)
        self.guard = ShareGuard(self)
        self.guard.watch(self.overlay)
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
            self.guard.watch(self.bar)
            BelowDialogs(self.bar)
        return self.bar

    def _is_hovered(self) -> bool:
        return self.bar is not None and self.bar.is_hovered

    @Slot(tuple)
    def show_views(self, views: Sequence[UtteranceView]) -> None:
        """Show the last lines of these utterances, or a hint if there are none."""
        self._views, self.fresh_views = views, self._after_clear(views)
        self._show_lines_of_now()

    @Slot()
    def _show_lines_of_now(self) -> None:
        overlay, before = self.overlay, self.lines
        now = self._typeset.of(self.fresh_views, overlay.n_lines, overlay.n_extra)
        if now.lines or not self._is_old:
            self.lines, self._is_old = now, False
        wait_s = self._typeset.wait_s
        if wait_s is None:
            self._flow.stop()
        else:
            self._flow.start(ceil(1000 * wait_s))
        self._show_lines()
        if self.lines != before:
            if self._has_lines:
                self.visibility.take_caption()
            self.lines_changed.emit()

    def _show_lines(self) -> None:
        """Show the lines, below them why no more come, or a hint if there are none."""
        if self._is_paused or self._catches_up:
            text = self.tr("Paused") if self._is_paused else self.tr("Catching up…")
            note = Line(text=text, is_quiet=True)
            is_old = self._is_old and not self._is_paused
            shown = OverlayView() if is_old else self.lines
            self.overlay.show_view(replace(shown, lines=(*shown.lines, note)))
        else:
            self.overlay.show_view(self.lines if self._has_lines else self._hint())

    @property
    def _has_lines(self) -> bool:
        return bool(self.lines.lines or self.lines.source or self.lines.second)

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
        self._typeset = LastLines(self.overlay.text, self._choices, self.speakers.name_of)

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


class BelowDialogs(QObject):
    """Cut the dialogs out of the overlay, or its toolbar, while the user works in this program.

    The order of windows cannot express that: both are above the windows of other programs, which
    may be above our dialogs. A hole lets clicks through, too, and works on a locked overlay,
    which the window manager does not know.
    """

    def __init__(self, window: Overlay | OverlayToolbar) -> None:
        super().__init__(window)
        self._window = window
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(self._cut)
        application = QGuiApplication.instance()
        assert isinstance(application, QGuiApplication)
        application.focusWindowChanged.connect(self._find_dialogs)
        application.applicationStateChanged.connect(self._find_dialogs)
        window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _CHANGES:
            self._cut()
            self._settled.start()
        return super().eventFilter(watched, event)

    @Slot()
    def _find_dialogs(self) -> None:
        """Follow the dialogs that are open; a new one takes the focus."""
        for dialog in _open_dialogs():
            dialog.installEventFilter(self)
        self._cut()
        self._settled.start()

    @Slot()
    def _cut(self) -> None:
        holes = QRegion()
        if QGuiApplication.applicationState() == Qt.ApplicationState.ApplicationActive:
            for dialog in _open_dialogs():
                holes += QRegion(dialog.frameGeometry().translated(-self._window.pos()))
        self._window.cut_out(holes)


def _open_dialogs() -> list[QDialog]:
    return [
        window
        for window in QApplication.topLevelWidgets()
        if isinstance(window, QDialog) and window.isVisible() and not window.isMinimized()
    ]


class Visibility(QObject):
    """Hide the overlay after silence, and while the setup wizard is open.

    It is never hidden while the user drags it, while the mouse is on it, during a pause, while
    sound waits for its captions and before the first caption, but for a hint that covers what must
    be seen.

    Signals:
        silent(): it was hidden after a silence.
    """

    silent = Signal()

    def __init__(self, overlay: Overlay, is_hovered: Callable[[], bool]) -> None:
        """Make it; the overlay owns it, and is shown when it is wanted."""
        super().__init__(overlay)
        self._overlay = overlay
        self._is_hovered = is_hovered
        self._is_wanted = self._is_aside = self._is_paused = self._waits = False
        self._is_silent = False
        self._has_captions = False
        self._silence = QTimer(self, singleShot=True)
        self._silence.timeout.connect(self._hide_in_silence)
        overlay.installEventFilter(self)
        overlay.moved.connect(self.wake)
        overlay.hint_changed.connect(self._settle)

    def hide_after(self, seconds: int) -> None:
        """Hide after so many seconds without a new caption; 0 for never."""
        if seconds * _MS != self._silence.interval():
            self._silence.setInterval(seconds * _MS)
            self.wake()

    def want(self, *, wanted: bool) -> None:
        """Show or hide the overlay as the user wants it."""
        self._is_wanted = wanted
        self.wake()

    def put_aside(self, *, aside: bool) -> None:
        """Hide the overlay for a while, or end that."""
        self._is_aside = aside
        self.wake()

    def pause(self, *, paused: bool) -> None:
        """Show the overlay throughout a pause: it says that nothing is captioned."""
        self._is_paused = paused
        self.wake()

    def keep(self, *, waits: bool) -> None:
        """Show the overlay as long as sound waits for its captions: silence would be untrue."""
        self._waits = waits
        self.wake()

    def take_caption(self) -> None:
        """Show the overlay for a new caption."""
        self._has_captions = True
        self.wake()

    @Slot()
    def wake(self) -> None:
        """Show the overlay if it is wanted, and wait for silence again."""
        self._is_silent = False
        is_open = self._is_wanted and not self._is_aside
        is_idle = self._has_captions and not (self._is_paused or self._waits)
        if is_open and is_idle and self._silence.interval():
            self._silence.start()
        else:
            self._silence.stop()
        self._settle()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Begin to wait again when the mouse leaves the overlay."""
        if event.type() == QEvent.Type.Leave and self._silence.isActive():
            self._silence.start()
        return super().eventFilter(watched, event)

    @Slot()
    def _hide_in_silence(self) -> None:
        if self._is_hovered() or self._overlay.is_dragged:
            self._silence.start()
        else:
            self._is_silent = True
            self._settle()
            self.silent.emit()

    @Slot()
    def _settle(self) -> None:
        is_hidden = self._is_aside or self._is_silent or self._overlay.is_hint_in_the_way
        is_shown = self._is_wanted and not is_hidden
        if is_shown != self._overlay.isVisible():
            self._overlay.setVisible(is_shown)
