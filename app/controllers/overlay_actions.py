"""Menus, keys and tray act on the overlay here, and it steps aside for the main window."""

from PySide6.QtCore import QEvent, QObject, Qt, QTimer, Slot
from PySide6.QtWidgets import QWidget

from app.config.preferences import LANES, Preferences
from app.config.settings_in_force import SettingsInForce
from app.config.window_system import is_wayland
from app.main_window.window import MainWindow
from app.overlay.controller import OverlayController
from app.overlay.window import Overlay

_POINTS = 2  # a step of larger and smaller text
_SETTLED_MS = 100
_CHANGES = {
    QEvent.Type.WindowActivate,
    QEvent.Type.WindowDeactivate,
    QEvent.Type.Enter,
    QEvent.Type.Leave,
    QEvent.Type.Move,
    QEvent.Type.Resize,
    QEvent.Type.Show,
    QEvent.Type.Hide,
    QEvent.Type.LayoutRequest,
    QEvent.Type.WindowStateChange,
}


class OverlayActions(QObject):
    """Show, hide, lock and move the overlay, and make its text larger or smaller.

    Attributes:
        wants_restart: the program shall start again, through XWayland.
    """

    def __init__(
        self, settings: SettingsInForce, controller: OverlayController, window: MainWindow
    ) -> None:
        super().__init__(window)
        self._settings, self._controller, self._window = settings, controller, window
        self._actions = actions = window.menu_actions
        self.wants_restart = self._explained_wayland = False
        actions.overlay.toggled.connect(self._show)
        actions.lock.toggled.connect(self._lock)
        actions.clear.triggered.connect(controller.clear)
        actions.larger.triggered.connect(lambda: self._change_letters(_POINTS))
        actions.smaller.triggered.connect(lambda: self._change_letters(-_POINTS))
        actions.reset_place.triggered.connect(self._reset_place)
        actions.hide_overlay.triggered.connect(actions.overlay.toggle)
        controller.size_wanted.connect(
            lambda characters, lines: settings.change(
                "captions", characters=characters, lines=lines
            )
        )
        controller.overlay.closed.connect(self._take_closed)
        window.controls.wanted_changed.connect(self._name_speakers)
        settings.preferences_changed.connect(self._use)
        controller.overlay.addActions(actions.for_overlay())
        controller.add_bar(actions.for_bar(), actions.lock)
        self._dress(settings.preferences)
        if not is_wayland():
            StepAside(window, controller.overlay)

    def close(self) -> None:
        """Close the overlay with the program: that does not switch it off."""
        self._controller.overlay.closed.disconnect(self._take_closed)
        self._controller.close()

    @Slot(object, object)
    def _use(self, before: Preferences, now: Preferences) -> None:
        if now.captions != before.captions:
            self._controller.show_theme(now.captions)
        if now.overlay.locked != before.overlay.locked:
            self._actions.lock.setChecked(now.overlay.locked)
        self._dress(now)

    def _dress(self, now: Preferences) -> None:
        self._controller.guard.use(hidden=now.overlay.hide_from_share)
        self._controller.visibility.hide_after(now.overlay.hide_after_s)

    @Slot()
    def _name_speakers(self) -> None:
        self._controller.speakers.hear([LANES[source.kind] for source in self._window.controls.on])

    def _change_letters(self, points: int) -> None:
        size = self._settings.preferences.captions.point_size + points
        self._settings.change("captions", point_size=min(96, max(14, size)))

    @Slot(bool)
    def _show(self, visible: bool) -> None:  # noqa: FBT001  what the signal carries
        self._controller.visibility.want(wanted=visible)
        if visible and is_wayland() and not self._explained_wayland:
            self._explain_wayland()
        self._settings.change("overlay", visible=visible)

    @Slot()
    def _take_closed(self) -> None:
        self._actions.overlay.setChecked(False)

    @Slot()
    def _reset_place(self) -> None:
        self._controller.reset_position()
        self._actions.overlay.setChecked(True)

    def _explain_wayland(self) -> None:
        self._explained_wayland = True
        text = self.tr(
            "Wayland lets no program keep a window above the others or put it anywhere: the "
            "overlay may go behind them, and does not come back to its place"
        )
        was_tried = self._settings.preferences.overlay.through_xwayland  # and did not work
        if self._settings.launch.can_use_xwayland and not was_tried:
            text += self.tr(". Through XWayland most desktops let it")
            again = self.tr("Start again through &XWayland"), self._start_through_xwayland
            self._window.banner.show_offer(text, "", again)
        else:
            self._window.banner.show_notice(text)

    def _start_through_xwayland(self) -> None:
        self._settings.change("overlay", through_xwayland=True)
        self.wants_restart = True
        self._window.close()

    @Slot(bool)
    def _lock(self, locked: bool) -> None:  # noqa: FBT001  what the signal carries
        self._controller.set_locked(locked=locked)
        self._settings.change("overlay", locked=locked)


class StepAside(QObject):
    """Keep the overlay off the controls and lines of the main window while they are used."""

    def __init__(self, window: MainWindow, overlay: Overlay) -> None:
        super().__init__(window)
        self._window, self._overlay = window, overlay
        self._settled = QTimer(self, singleShot=True, interval=_SETTLED_MS)
        self._settled.timeout.connect(self._follow)
        window.installEventFilter(self)
        view = window.transcript
        for change in (
            view.rows.rowsInserted,
            view.rows.rowsRemoved,
            view.verticalHeader().sectionResized,
            view.verticalScrollBar().valueChanged,
        ):
            change.connect(self._settled.start)
        for part in window.findChildren(QWidget, options=Qt.FindChildOption.FindDirectChildrenOnly):
            part.installEventFilter(self)  # for the layout of the content

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _CHANGES:
            self._settled.start()
        return super().eventFilter(watched, event)

    @Slot()
    def _follow(self) -> None:
        window = self._window
        is_used = window.isActiveWindow() or window.underMouse()
        is_seen = window.isVisible() and not window.isMinimized()
        if is_used and is_seen:
            self._overlay.keep_off(window.needed_areas())
        else:
            self._overlay.keep_off([])
