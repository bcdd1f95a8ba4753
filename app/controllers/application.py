"""Makes the controllers of the program and connects their signals."""

import time

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QDialog

from app.config.background import wait_until
from app.config.preferences import LaunchSettings, Preferences
from app.config.settings_in_force import SettingsInForce
from app.config.translations import worded
from app.config.window_system import GeometryFile, WindowGeometry
from app.controllers.audience import PageController, ProjectorController, ShareController
from app.controllers.caption_controller import CaptionController, CorrectionController
from app.controllers.history_controller import HistoryController, MediaController
from app.controllers.listening_controller import ListeningController
from app.controllers.model_controller import ModelController
from app.controllers.overlay_actions import OverlayActions
from app.controllers.setup_controller import ServerController, SetupController
from app.controllers.tools import AdapterController, FurtherController, GlossaryController
from app.dialogs.help import HelpWindows, diagnostics
from app.dialogs.settings.dialog import SettingsDialog
from app.look.style_sheet import Look
from app.look.widgets.desktop import lacks_font
from app.look.widgets.dialog_text import bring_up
from app.main_window.window import MainWindow
from app.overlay.controller import OverlayController
from app.session.caption_lag import LagWatch
from app.session.engine_bridge import EngineBridge
from app.session.listening_service import ListeningService, MakeSpeechEngine, make_speech_engine

PATIENCE_S = 5.0
MAKING_UP_S = 60.0  # for what a further language left out, which the session keeps
"""How long the end waits for what was begun to be translated."""

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
        self.settings = settings = SettingsInForce(launch, self)
        now, self.bridge = settings.preferences, bridge
        qt = QApplication.instance()
        assert isinstance(qt, QApplication)  # windows need one
        self.look = Look(qt, now.interface.appearance, self)
        self.window = window = MainWindow()
        places = GeometryFile(launch.places_file)
        if launch.forget_places:
            places.forget()
        self.overlay_controller = OverlayController(now.captions, places, self)
        self.overlay = self.overlay_controller.overlay
        self._window_geometry = WindowGeometry(window, places, "window")
        self.overlay_actions = OverlayActions(settings, self.overlay_controller, window)
        self.history = HistoryController(settings, bridge.utterances, window)
        self.captions = CaptionController(settings, bridge, self.history.writer, window)
        self.adapters = AdapterController(settings, bridge, window)
        self.model = ModelController(settings, bridge, self.adapters, window)
        service = ListeningService(make, launch.data_folder / "models", launch.device, bridge, self)
        self.setup = SetupController(settings, service, window)
        self.glossary = GlossaryController(settings, bridge, window)
        self.help_windows = HelpWindows(window)
        self.server = ServerController(settings, bridge, self.model, self.setup, window)
        self.further = FurtherController(settings, bridge, window, lambda: self.setup.report)
        self.listening = ListeningController(settings, bridge, service, self.setup, window)
        self.lag = LagWatch(bridge, service.waiting_since_s, self)
        self.media = MediaController(settings, bridge, service, window, self.history.writer)
        self.page = PageController(settings, self.overlay_controller, window.banner)
        self.projector = ProjectorController(settings, self.overlay_controller, window)
        self.sharing = ShareController(
            settings, self.overlay_controller.speakers, self.further, window
        )
        # the window keeps it, as its parent
        CorrectionController(bridge, self.captions, self.glossary, window)
        self._settings_dialog: SettingsDialog | None = None
        window.menu_actions.use_shortcuts(now.shortcuts)
        self._report_start(launch)
        self._closing_since_s: float | None = None
        self._connect()

    def show(self) -> None:
        """Open the windows; the model is loaded after the first paint."""
        if not self._window_geometry.restore():
            area = QGuiApplication.primaryScreen().availableGeometry()
            self.window.leave_room_for(self.overlay.home, area)
        self.window.show()
        overlay = self.settings.preferences.overlay
        self.window.menu_actions.lock.setChecked(overlay.locked)
        self.window.menu_actions.overlay.setChecked(overlay.visible)
        self._show_transcript(self.settings.preferences)
        self._show_mode()
        if self.settings.launch.first_run:
            self.setup.open_guide()
        self._report_missing_font(self.settings.translation.target_language)

    def _report_start(self, launch: LaunchSettings) -> None:
        banner = self.window.banner
        if self.settings.notice is not None:
            banner.show_notice(worded(self.settings.notice))
        if launch.crashed:
            text = self.tr("Surtitle crashed last time; Help, Copy diagnostics says how")
            banner.show_notice(text)
        self.history.offer_lost_session()

    def _connect(self) -> None:
        window, bridge, captions = self.window, self.bridge, self.captions
        actions, overlay, setup = window.menu_actions, self.overlay_controller, self.setup
        window.closed.connect(self._close)
        window.choices.changed.connect(self._show_mode)
        window.transcript.size_wanted.connect(self._resize_rows)
        window.transcript.share_wanted.connect(
            lambda percent: self.settings.change("interface", source_share=percent)
        )
        window.banner.other_clicked.connect(self._choose_another_model)
        self.model.restarted.connect(captions.restart)
        bridge.paused_changed.connect(lambda paused: overlay.pause(paused=paused))
        captions.captions_changed.connect(overlay.show_views)
        captions.captions_changed.connect(self.sharing.show_views)
        captions.captions_changed.connect(setup.show_captions)
        overlay.painted.connect(captions.take_painted)
        self.settings.language_changed.connect(self._report_missing_font)
        self.settings.preferences_changed.connect(self._use_choices)
        self.settings.failed.connect(window.banner.show_notice)
        self.history.session_window.resume_wanted.connect(captions.resume)
        setup.opened.connect(lambda: overlay.visibility.put_aside(aside=True))
        setup.left.connect(lambda: overlay.visibility.put_aside(aside=False))
        self.listening.service.reported.connect(captions.take_heard)
        self.media.dialog.speech_wanted.connect(setup.open_speech)
        self.media.session_wanted.connect(self.history.session_window.show_session)
        self.media.model_damaged.connect(self.listening.mend)
        self.listening.service.begins.connect(self.lag.begin_listening)
        self.lag.measured.connect(self._show_lag)
        self.listening.sound_lost.connect(self.lag.take_lost)
        captions.caption_painted.connect(self.lag.take_painted)
        actions.settings.triggered.connect(self._show_settings)
        actions.diagnostics.triggered.connect(self._copy_diagnostics)
        actions.larger_rows.triggered.connect(lambda: self._resize_rows(_PERCENT))
        actions.smaller_rows.triggered.connect(lambda: self._resize_rows(-_PERCENT))

    @Slot()
    def _choose_another_model(self) -> None:
        failed = self.model.change.failed
        self.setup.open_models("" if failed is None else failed.language)

    @Slot()
    def _show_lag(self) -> None:
        self.listening.show_lag(self.lag.lag.seconds)
        self.overlay_controller.catch_up(catches_up=self.lag.lag.catches_up)
        self.model.tell_seconds(self.lag.step_s, self.lag.heard_s)

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

    def _show_typed_line(self) -> None:
        self.window.typed_line.show_use(translates=self.window.choices.translates)

    @Slot(int)
    def _resize_rows(self, percent: int) -> None:
        size = self.settings.preferences.interface.text_size + percent
        self.settings.change("interface", text_size=min(300, max(50, size)))

    def _show_transcript(self, now: Preferences) -> None:
        transcript = self.window.transcript
        transcript.show_size(now.interface.text_size)
        transcript.show_share(now.interface.source_share)
        transcript.show_second(now.captions.second_shown)
        transcript.mark_doubt(now.captions.doubt)
        transcript.name_speakers(now.captions.speaker_names)

    @Slot(object, object)
    def _use_choices(self, before: Preferences, now: Preferences) -> None:
        is_other = now.listening.recognizer != before.listening.recognizer
        if is_other or now.translation.policy != before.translation.policy:
            self.lag.begin_listening()
        if now.interface.appearance != before.interface.appearance:
            self.look.use(now.interface.appearance)
        self._show_transcript(now)
        self._show_typed_line()
        if now.shortcuts != before.shortcuts:
            self.window.menu_actions.use_shortcuts(now.shortcuts)
        if self._settings_dialog is not None and self._settings_dialog.isVisible():
            self._settings_dialog.show_preferences(now)

    @property
    def settings_dialog(self) -> SettingsDialog:
        """The settings, made when they are first wanted: they have half of all widgets."""
        if self._settings_dialog is None:
            actions, folder = self.window.menu_actions, self.settings.launch.data_folder
            dialog = SettingsDialog(self.model.timings, actions, folder, self.window)
            self._settings_dialog = dialog
            service = self.listening.service
            dialog.edited.connect(self.settings.choose)
            self.model.timings_changed.connect(dialog.translation.show_timings)
            dialog.translation.models_wanted.connect(actions.models.trigger)
            dialog.advanced.show_address(self.page.source.address)
            self.page.address_changed.connect(dialog.advanced.show_address)
            dialog.speech.models_wanted.connect(self.setup.open_speech)
            dialog.speech.devices_wanted.connect(service.list_devices)
            service.devices_listed.connect(dialog.speech.show_devices)
        return self._settings_dialog

    @Slot()
    def _show_settings(self) -> None:
        self.settings_dialog.show_preferences(self.settings.preferences)
        bring_up(self.settings_dialog)

    @Slot()
    def _copy_diagnostics(self) -> None:
        state = {**self.lag.facts, "captions": len(self.history.writer.cues)}
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
        self.overlay_actions.close()
        self.projector.close()
        self.setup.hide()
        self.sharing.hide()
        self.server.close()
        for dialog in self.window.findChildren(QDialog):
            dialog.close()
        self.window.hide()
        QGuiApplication.processEvents()  # off the screen before the wait for the engine
        self.setup.close()
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
        self.history.close()
        self.finished.emit()

    def _has_finished(self) -> bool:
        listens = self.bridge.is_running and self.listening.service.is_listening
        is_busy = self.model.is_busy or listens
        return not is_busy or self._patience_left_s() <= 0

    def _patience_left_s(self) -> float:
        since_s = time.monotonic() if self._closing_since_s is None else self._closing_since_s
        return since_s + PATIENCE_S - time.monotonic()
