"""Makes the controllers of the program and connects their signals."""

import time

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.config.event_loop import wait_until
from app.config.preferences import LANES, Preferences
from app.config.settings_in_force import LaunchSettings, SettingsInForce
from app.config.translations import worded
from app.config.window_system import GeometryFile, WindowGeometry, is_wayland
from app.controllers.adapter_controller import AdapterController
from app.controllers.audience import PageController, ProjectorController, ShareController
from app.controllers.caption_controller import CaptionController, CorrectionController
from app.controllers.further_controller import FurtherController
from app.controllers.history_controller import HistoryController
from app.controllers.listening_controller import FETCH, ListeningController
from app.controllers.media_controller import MediaController
from app.controllers.model_controller import ModelController
from app.controllers.server_controller import ServerController
from app.controllers.step_aside import StepAside
from app.controllers.tool_windows import HelpWindows, ToolWindows
from app.dialogs.help import diagnostics
from app.dialogs.settings.dialog import SettingsDialog
from app.look.apply import Look
from app.look.widgets.dialog_text import bring_up
from app.look.widgets.missing_fonts import lacks_font
from app.main_window.window import MainWindow
from app.overlay.controller import OverlayController
from app.session.caption_lag import LagWatch
from app.session.engine_bridge import EngineBridge
from app.session.listening_service import ListeningService, MakeSpeechEngine, make_speech_engine
from engine.commands import Skip

PATIENCE_S = 5.0
MAKING_UP_S = 60.0  # for what a further language left out, which the session keeps
"""How long the end waits for what was begun to be translated."""

_POINTS = 2  # a step of larger and smaller text on the overlay
_PERCENT = 10  # a step of it in the transcript


class Application(QObject):
    """The running program.

    Signals:
        finished(): the windows are closed and all threads have ended.
    """

    finished = Signal()

    def __init__(
        self,
        launch: LaunchSettings,
        bridge: EngineBridge,
        make: MakeSpeechEngine = make_speech_engine,
    ) -> None:
        super().__init__()
        self.settings = SettingsInForce(launch, self)
        now = self.settings.preferences
        self.bridge = bridge
        qt = QApplication.instance()
        assert isinstance(qt, QApplication)  # windows need one
        self.look = Look(qt, now.interface.appearance, self)
        self.window = window = MainWindow()
        places = GeometryFile(launch.places_file)
        if launch.forget_places:
            places.forget()
        self.stage = OverlayController(now.captions, places, self)
        self.overlay = self.stage.overlay
        self._window_geometry = WindowGeometry(window, places, "window")
        if not is_wayland():
            StepAside(window, self.overlay)
        folder, banner = launch.data_folder, window.banner
        self.archive = HistoryController(folder, now.privacy, bridge.utterances, window)
        self.keeper = self.archive.keeper
        self.captions = CaptionController(
            self.settings, bridge, self.keeper, window.transcript, window.typed_line, banner
        )
        self.adapters = AdapterController(self.settings, folder / "adapters", bridge, window)
        self.model = ModelController(self.settings, bridge, self.adapters, window)
        desk = ListeningService(make, folder / "models", launch.device, bridge, self)
        self.side_windows = ToolWindows(self.settings, window, desk)
        self.help_windows = HelpWindows(window)
        self.server = ServerController(
            self.settings, bridge, self.model, self.side_windows.guide, window
        )
        self.further = FurtherController(
            self.settings, bridge, window, lambda: self.side_windows.guide.report
        )
        self.listening = ListeningController(
            self.settings, bridge, desk, window.controls, banner, window.status
        )
        self.lag = LagWatch(bridge, desk.waiting_since_s, self)
        self.media = MediaController(self.settings, bridge, desk, window, self.archive.keeper)
        self.page = PageController(folder, self.stage, self)
        self.projector = ProjectorController(self.settings, self.stage, window)
        self.sharing = ShareController(self.settings, self.stage.speakers, self.further, window)
        self._settings_dialog: SettingsDialog | None = None
        window.menu_actions.use_shortcuts(now.shortcuts)
        self._report_start(launch)
        self.wants_restart = self._explained_wayland = False
        self._closing_since_s: float | None = None
        self._connect()
        self.page.use(now)

    def show(self) -> None:
        """Open the windows; the model is loaded after the first paint."""
        if not self._window_geometry.restore():
            area = QGuiApplication.primaryScreen().availableGeometry()
            self.window.leave_room_for(self.overlay.home, area)
        self.window.show()
        overlay = self.settings.preferences.overlay
        self.window.menu_actions.lock.setChecked(overlay.locked)
        self.window.menu_actions.overlay.setChecked(overlay.visible)
        self._show_transcripts(self.settings.preferences)
        self._show_mode()
        self.side_windows.show()
        self._report_missing_font(self.settings.translation.target_language)

    def _report_start(self, launch: LaunchSettings) -> None:
        banner = self.window.banner
        if self.settings.notice is not None:
            banner.show_notice(worded(self.settings.notice))
        if launch.crashed:
            text = self.tr("Surtitle crashed last time; Help, Copy diagnostics says how")
            banner.show_notice(text)
        offer = self.archive.offer()
        if offer is not None:
            sentence, offers = offer
            banner.show_offer(sentence, "", *offers)

    def _connect(self) -> None:
        window, actions = self.window, self.window.menu_actions
        window.closed.connect(self._close)
        actions.overlay.toggled.connect(self._show_overlay)
        actions.lock.toggled.connect(self._lock_overlay)
        actions.clear.triggered.connect(self.stage.clear)
        self.overlay.closed.connect(self._hide_overlay)
        actions.pause.toggled.connect(self.captions.pause)
        window.choices.changed.connect(self._show_mode)
        window.transcript.size_wanted.connect(self._resize_rows)
        window.transcript.share_wanted.connect(self._keep_share)
        window.painted.connect(self.model.load)
        self.model.restarted.connect(self.captions.restart)
        self.bridge.paused_changed.connect(window.status.show_paused)
        self.bridge.paused_changed.connect(lambda paused: self.stage.pause(paused=paused))
        window.controls.wanted_changed.connect(self._show_speakers)
        self.captions.captions_changed.connect(self.stage.show_views)
        self.captions.captions_changed.connect(self.sharing.show_views)
        self.captions.captions_changed.connect(self.side_windows.guide.show_captions)
        self.captions.cleared.connect(window.status.show_no_backlog)
        window.status.skip_wanted.connect(lambda: self.bridge.send(Skip()))
        self.settings.language_changed.connect(self._report_missing_font)
        self.stage.size_wanted.connect(self._choose_size)
        self.page.failed.connect(window.banner.show_notice)
        self.settings.preferences_changed.connect(self._use_choices)
        self.settings.preferences_changed.connect(self._show_typed_line)
        self.settings.failed.connect(window.banner.show_notice)
        self.keeper.failed.connect(window.banner.show_warning)
        self.archive.session_window.resume_wanted.connect(self.captions.resume)
        visibility = self.stage.visibility
        self.side_windows.guide.opened.connect(lambda: visibility.put_aside(aside=True))
        self.side_windows.guide.left.connect(lambda: visibility.put_aside(aside=False))
        window.banner.other_clicked.connect(self._choose_another_model)
        self.stage.painted.connect(self.captions.take_painted)
        self._connect_listening()
        self._connect_latency()
        self._connect_actions()

    @Slot()
    def _choose_another_model(self) -> None:
        """Show the models, for the language of the one that failed."""
        failed = self.model.change.failed
        self.side_windows.guide.open_models("" if failed is None else failed.language)

    def _connect_listening(self) -> None:
        listening, desk, captions = self.listening, self.listening.desk, self.captions
        transcript, glossary = self.window.transcript, self.side_windows.glossary
        # the transcript keeps it, as its parent
        CorrectionController(self.bridge, captions, glossary, transcript, self.window.banner)
        desk.reported.connect(captions.take_heard)
        self.media.dialog.speech_wanted.connect(self.side_windows.guide.open_speech)
        self.media.session_wanted.connect(self.archive.session_window.show_session)
        window = self.window
        listening.levels_came.connect(self.side_windows.guide.show_levels)
        listening.choice_wanted.connect(self.side_windows.guide.open_speech)
        listening.translators_wanted.connect(self.side_windows.guide.open_models)
        listening.missing_found.connect(window.empty_page.show_missing)
        window.banner.notice_changed.connect(
            lambda name: window.empty_page.show_offered_elsewhere(is_elsewhere=name == FETCH)
        )
        window.empty_page.download_clicked.connect(listening.fetch)
        window.empty_page.others_clicked.connect(self.side_windows.guide.open_speech)
        window.painted.connect(listening.look_for_model)
        listening.fetch_progressed.connect(window.fetch_bar.show_progress)
        listening.fetch_progressed.connect(lambda: window.empty_page.show_fetching(is_on=True))
        listening.fetch_ended.connect(window.fetch_bar.hide)
        listening.fetch_ended.connect(lambda: window.empty_page.show_fetching(is_on=False))
        window.fetch_bar.cancelled.connect(desk.cancel_fetch)

    def _connect_latency(self) -> None:
        watch = self.lag
        self.listening.desk.begins.connect(watch.begin_listening)
        watch.measured.connect(self._show_lag)
        self.listening.sound_lost.connect(watch.take_lost)
        self.bridge.event_came.connect(self.side_windows.glossary.take_event)
        self.captions.caption_painted.connect(watch.take_painted)

    @Slot()
    def _show_lag(self) -> None:
        self.listening.show_lag(self.lag.lag.seconds)
        self.stage.catch_up(catches_up=self.lag.lag.catches_up)

    def _connect_actions(self) -> None:
        window, actions = self.window, self.window.menu_actions
        actions.settings.triggered.connect(self._show_settings)
        actions.larger.triggered.connect(lambda: self._change_letters(_POINTS))
        actions.smaller.triggered.connect(lambda: self._change_letters(-_POINTS))
        actions.reset_place.triggered.connect(self._reset_place)
        actions.new_session.triggered.connect(self.captions.begin_session)
        actions.undo.triggered.connect(self.captions.undo)
        self.captions.undo_changed.connect(actions.undo.setEnabled)
        actions.adapters.triggered.connect(self.adapters.dialog.open_list)
        actions.mark.triggered.connect(window.transcript.mark)
        actions.export.triggered.connect(self.archive.export)
        actions.recover.triggered.connect(self.archive.show_sessions)
        actions.diagnostics.triggered.connect(self._copy_diagnostics)
        actions.go_to_mark.triggered.connect(lambda: window.transcript.go_to_mark(1))
        actions.go_to_mark_before.triggered.connect(lambda: window.transcript.go_to_mark(-1))
        actions.larger_rows.triggered.connect(lambda: self._resize_rows(_PERCENT))
        actions.smaller_rows.triggered.connect(lambda: self._resize_rows(-_PERCENT))
        actions.hide_overlay.triggered.connect(actions.overlay.toggle)
        self.overlay.addActions(actions.for_overlay())
        self.stage.add_bar(actions.for_bar(), actions.lock)
        overlay = self.settings.preferences.overlay
        self.stage.hide_from_share(hidden=overlay.hide_from_share)
        self.stage.visibility.hide_after(overlay.hide_after_s)
        self._use_mode(self.settings.preferences)

    @Slot()
    def _show_speakers(self) -> None:
        """Name the speakers if both sources are on."""
        self.stage.hear([LANES[source.kind] for source in self.window.controls.on])

    @Slot(str)
    def _report_missing_font(self, language: str) -> None:
        if lacks_font(language):
            text = self.tr(
                "No font here has the letters of {}, so captions would be rows of boxes; install "
                "one that has them, for example Noto"
            )
            self.window.banner.show_notice(text.format(language))

    @Slot()
    def _show_mode(self) -> None:
        choices = self.window.choices
        self.window.transcript.show_mode(choices.mode.value, *choices.languages)
        self._show_typed_line()

    @Slot()
    def _show_typed_line(self) -> None:
        self.window.typed_line.show_use(
            translates=self.window.choices.translates, hears=self.settings.direct is not None
        )

    @Slot(int)
    def _resize_rows(self, percent: int) -> None:
        size = self.settings.preferences.interface.text_size + percent
        self.settings.change("interface", text_size=min(300, max(50, size)))

    @Slot(int)
    def _keep_share(self, percent: int) -> None:
        self.settings.change("interface", source_share=percent)

    @Slot(int, int)
    def _choose_size(self, characters: int, lines: int) -> None:
        self.settings.change("captions", characters=characters, lines=lines)

    def _change_letters(self, points: int) -> None:
        size = self.settings.preferences.captions.point_size + points
        self.settings.change("captions", point_size=min(96, max(14, size)))

    def _show_transcripts(self, now: Preferences) -> None:
        self.window.transcript.show_size(now.interface.text_size)
        self.window.transcript.show_share(now.interface.source_share)
        self.window.transcript.show_second(now.captions.second_shown)
        for transcript in (self.window.transcript, self.archive.session_window.transcript):
            transcript.mark_doubt(now.captions.doubt)
            transcript.name_speakers(now.captions.speaker_names)
        self.archive.export_dialog.name_speakers(now.captions.speaker_names)

    def _use_mode(self, now: Preferences) -> None:
        """Let files and export follow which languages are shown."""
        self.archive.use_mode(now.captions.mode, now.captions.second_shown)

    @Slot(object, object)
    def _use_choices(self, before: Preferences, now: Preferences) -> None:
        if now.interface.appearance != before.interface.appearance:
            self.look.use(now.interface.appearance)
        if now.captions != before.captions:
            self.stage.show_theme(now.captions)
        modes = [(one.captions.mode, one.captions.second) for one in (before, now)]
        if modes[0] != modes[1]:
            self._use_mode(now)
        self._show_transcripts(now)
        self.stage.hide_from_share(hidden=now.overlay.hide_from_share)
        self.stage.visibility.hide_after(now.overlay.hide_after_s)
        if now.overlay.locked != before.overlay.locked:
            self.window.menu_actions.lock.setChecked(now.overlay.locked)
        if now.shortcuts != before.shortcuts:
            self.window.menu_actions.use_shortcuts(now.shortcuts)
        self.page.show_look(now)
        if now.privacy != before.privacy:
            self.keeper.use(now.privacy)
            self.page.use(now)
        if self._settings_dialog is not None and self._settings_dialog.isVisible():
            self._settings_dialog.show_preferences(now)

    @property
    def settings_dialog(self) -> SettingsDialog:
        """The settings, made when they are first wanted: they have half of all widgets."""
        if self._settings_dialog is None:
            actions, folder = self.window.menu_actions, self.settings.launch.data_folder
            dialog = SettingsDialog(self.model.timings, actions, folder, self.window)
            self._settings_dialog = dialog
            dialog.edited.connect(self.settings.choose)
            self.model.timings_changed.connect(dialog.translation.show_timings)
            dialog.translation.models_wanted.connect(actions.models.trigger)
            dialog.advanced.show_address(self.page.source.address)
            self.page.address_changed.connect(dialog.advanced.show_address)
            dialog.speech.show_offer(self.listening.offered)
            self.listening.download_offered.connect(dialog.speech.show_offer)
            dialog.speech.download_clicked.connect(self.listening.fetch)
            dialog.speech.devices_wanted.connect(self.listening.desk.list_devices)
            self.listening.desk.devices_listed.connect(dialog.speech.show_devices)
        return self._settings_dialog

    @Slot()
    def _show_settings(self) -> None:
        self.settings_dialog.show_preferences(self.settings.preferences)
        bring_up(self.settings_dialog)

    @Slot(bool)
    def _show_overlay(self, visible: bool) -> None:  # noqa: FBT001  what the signal carries
        self.stage.visibility.want(wanted=visible)
        if visible and is_wayland() and not self._explained_wayland:
            self._explain_wayland()
        self.settings.change("overlay", visible=visible)

    @Slot()
    def _hide_overlay(self) -> None:
        self.window.menu_actions.overlay.setChecked(False)

    @Slot()
    def _reset_place(self) -> None:
        self.stage.reset_position()
        self.window.menu_actions.overlay.setChecked(True)

    def _explain_wayland(self) -> None:
        """Explain once the limits of Wayland, and offer XWayland."""
        self._explained_wayland = True
        text = self.tr(
            "Wayland lets no program keep a window above the others or put it anywhere: the "
            "overlay may go behind them, and does not come back to its place"
        )
        was_tried = self.settings.preferences.overlay.through_xwayland  # and did not work
        if self.settings.launch.can_use_xwayland and not was_tried:
            text += self.tr(". Through XWayland most desktops let it")
            again = self.tr("Start again through &XWayland"), self._start_through_xwayland
            self.window.banner.show_offer(text, "", again)
        else:
            self.window.banner.show_notice(text)

    def _start_through_xwayland(self) -> None:
        self.settings.change("overlay", through_xwayland=True)
        self.wants_restart = True
        self.window.close()

    @Slot(bool)
    def _lock_overlay(self, locked: bool) -> None:  # noqa: FBT001  what the signal carries
        self.stage.set_locked(locked=locked)
        self.settings.change("overlay", locked=locked)

    @Slot()
    def _copy_diagnostics(self) -> None:
        state = {**self.lag.facts, "captions": len(self.keeper.cues)}
        text = diagnostics(self.settings.preferences, state, self.settings.launch.log_folder)
        QGuiApplication.clipboard().setText(text)
        text = self.tr("Diagnostics copied. They contain no spoken or translated text.")
        self.window.banner.show_answer(text)

    @Slot(str)
    def obey(self, command: str) -> None:
        """Run a command of another start of the program, one of ``single_instance.COMMANDS``."""
        actions = self.window.menu_actions
        if self._closing_since_s is not None:
            return
        match command:
            case "toggle":
                actions.overlay.toggle()
            case "pause":
                actions.pause.toggle()
            case "lock":
                actions.lock.toggle()
            case "clear":
                actions.clear.trigger()
            case _:
                self.raise_window()

    @Slot()
    def raise_window(self) -> None:
        window = self.window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        bring_up(window)

    @Slot()
    def _close(self) -> None:
        """Close the windows, finish the session and quit; once."""
        if self._closing_since_s is not None:
            return
        self._closing_since_s = time.monotonic()
        self.overlay.closed.disconnect(self._hide_overlay)
        self.stage.close()
        self.projector.close()
        if self._settings_dialog is not None:
            self._settings_dialog.close()
        self.side_windows.hide()
        self.media.close()
        self.sharing.hide()
        self.server.hide()
        self.help_windows.hide()
        self.window.hide()
        QGuiApplication.processEvents()  # off the screen before the wait for the engine
        self.side_windows.close()
        self.lag.close()
        self.listening.finish()
        self.captions.finish()
        wait_until(self._has_finished, PATIENCE_S)
        self.listening.close()
        making_up_s = MAKING_UP_S if self.further.left_out else 0.0
        self.bridge.finish(self._patience_left_s() + making_up_s)
        self.adapters.close()
        self.page.close()
        self.sharing.stop()
        self.archive.close()
        self.finished.emit()

    def _has_finished(self) -> bool:
        is_busy = self.model.is_busy or (
            self.bridge.is_running and self.listening.desk.is_listening
        )
        return not is_busy or self._patience_left_s() <= 0

    def _patience_left_s(self) -> float:
        since_s = time.monotonic() if self._closing_since_s is None else self._closing_since_s
        return since_s + PATIENCE_S - time.monotonic()
