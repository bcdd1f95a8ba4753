"""Makes the objects of the program and connects their signals; nowhere else are they joined."""

from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication

from app.bridge import Bridge
from app.captions import Captions, UtteranceView
from app.interrupt import Interrupt
from app.main_window import MainWindow
from app.overlay import N_LINES, Overlay, OverlayView
from app.preferences import Preferences, PreferencesFile
from app.typeset import Typesetter
from engine.bundled import bundled_models
from engine.card import read_card
from engine.errors import ModelError
from engine.events import Event, Failed, LoadProgress, Ready, Refused, Statistics
from engine.settings import ModelSettings, TranslationSettings

_HINT = OverlayView(lines=("Captions appear here.", "Drag them where you like."), is_hint=True)
_ON_WAYLAND = (
    "On Wayland no program may keep its window above the others; if the overlay goes behind them, "
    "start Surtitle with QT_QPA_PLATFORM=xcb"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSettings:
    """What the command line said; None where it said nothing and the person's choices count.

    Attributes:
        preferences_file: where these are stored.
        model: folder of the model.
        device: as in ``ModelSettings``.
        language: code of the target language.
        policy: as the engine writes it.
    """

    preferences_file: Path
    model: Path | None = None
    device: str = "auto"
    language: str | None = None
    policy: str | None = None


class Application(QObject):
    """The running program: what one part emits goes to the parts it concerns.

    Signals:
        finished(): the windows are closed and nothing runs any more.
    """

    finished = Signal()

    def __init__(self, settings: LaunchSettings, bridge: Bridge) -> None:
        super().__init__()
        self._settings = settings
        self._file = PreferencesFile(settings.preferences_file)
        self._preferences, notice = self._file.read()
        self._translation = TranslationSettings(
            target_language=settings.language or self._preferences.language,
            policy=settings.policy or self._preferences.policy,
        )
        self._captions = Captions()
        self._waiting: tuple[UtteranceView, ...] = ()
        self.bridge = bridge
        self.window = MainWindow()
        self.overlay = Overlay()
        self._typesetter = Typesetter(self.overlay.line_width, self.overlay.measure)
        self.overlay.show_view(_HINT)
        self.window.controls.show_policy(self._translation.policy)
        if notice is not None:
            self.window.banner.show_notice(notice)
        self._connect()

    def show(self) -> None:
        """Open the windows; the model is loaded as soon as they stand on the screen."""
        area = QGuiApplication.primaryScreen().availableGeometry()
        self.window.leave_room_for(self.overlay.geometry(), area)
        self.window.show()
        self.window.controls.overlay.setChecked(self._preferences.overlay_visible)

    def _connect(self) -> None:
        window, controls, bridge = self.window, self.window.controls, self.bridge
        window.painted.connect(self._load)
        window.closed.connect(self._close)
        window.banner.retry_clicked.connect(self._load)
        window.typed_line.words_changed.connect(bridge.set_words)
        window.typed_line.words_changed.connect(window.transcript.follow)
        window.typed_line.finished.connect(bridge.end_utterance)
        controls.language_chosen.connect(self._choose_language)
        controls.policy_chosen.connect(self._choose_policy)
        controls.pause_toggled.connect(self._pause)
        controls.clear_clicked.connect(self._clear)
        controls.overlay_toggled.connect(self._show_overlay)
        bridge.event_came.connect(self._take)
        bridge.waiting_changed.connect(self._show_waiting)

    @Slot()
    def _load(self) -> None:
        directory = self._settings.model or self._preferences.model
        if directory is None:
            bundled = bundled_models()
            if not bundled:
                self._fail(
                    "No model comes with this copy of Surtitle; start it with --model FOLDER"
                )
                return
            directory = bundled[0]
        self._offer_languages(directory)
        self._captions.restart()
        self._show_captions()
        self.window.status.show_state("Loading")
        self.window.banner.show_progress("Starting the translation engine", None)
        model = ModelSettings(directory=directory, device=self._settings.device)
        self.bridge.start(model, self._translation)

    def _offer_languages(self, directory: Path) -> None:
        """Offer what the model's card lists, before the model itself is loaded."""
        try:
            card = read_card(directory)
        except ModelError:
            return  # the session says it, in the same words
        languages = {code: language.name for code, language in card.languages.items()}
        wanted = self._translation.target_language
        if wanted not in languages:
            code, name = next(iter(languages.items()))
            self._translation = replace(self._translation, target_language=code)
            self.window.banner.show_notice(
                f"The model {card.name} does not know {wanted!r}; the captions are in {name}"
            )
        self.window.controls.show_languages(languages, self._translation.target_language)

    @Slot(object)
    def _take(self, event: Event) -> None:
        window = self.window
        match event:
            case LoadProgress():
                window.banner.show_progress(event.stage, event.fraction)
            case Ready():
                window.banner.show_loaded()
                window.status.show_ready(event)
                chosen = self._translation.target_language
                window.controls.show_languages(event.languages, chosen)
            case Failed():
                self._fail(event.message)
            case Refused():
                window.banner.show_notice(event.message)
            case Statistics():
                window.status.show_statistics(event)
            case _:
                if self._captions.apply(event):
                    self._show_captions()

    def _fail(self, message: str) -> None:
        self.window.status.show_state("Stopped")
        self.window.banner.show_failure(message)

    def _show_captions(self) -> None:
        views = self._captions.views
        self.window.transcript.show_views(views + self._waiting)
        lines = self._typesetter.last_lines(views, N_LINES)
        self.overlay.show_view(OverlayView(lines=lines) if lines else _HINT)

    @Slot(tuple)
    def _show_waiting(self, texts: tuple[str, ...]) -> None:
        """Show finished lines that wait for the model or the end of the pause below the others."""
        waiting = tuple(
            UtteranceView(key=-number, source=text) for number, text in enumerate(texts, start=1)
        )
        if waiting != self._waiting:
            self._waiting = waiting
            self._show_captions()

    @Slot(str)
    def _choose_language(self, code: str) -> None:
        self._translation = replace(self._translation, target_language=code)
        self.bridge.change(self._translation)
        self._remember(replace(self._preferences, language=code))

    @Slot(str)
    def _choose_policy(self, policy: str) -> None:
        self._translation = replace(self._translation, policy=policy)
        self.bridge.change(self._translation)
        self._remember(replace(self._preferences, policy=policy))

    @Slot(bool)
    def _pause(self, paused: bool) -> None:  # noqa: FBT001  what the signal carries
        self.bridge.pause(paused=paused)
        self.window.status.show_paused(paused=paused)

    @Slot()
    def _clear(self) -> None:
        self.window.typed_line.discard()
        self.bridge.clear()
        self._captions.clear()
        self._show_captions()

    @Slot(bool)
    def _show_overlay(self, visible: bool) -> None:  # noqa: FBT001  what the signal carries
        self.overlay.setVisible(visible)
        if visible and QGuiApplication.platformName().startswith("wayland"):
            self.window.banner.show_notice(_ON_WAYLAND)
        if visible != self._preferences.overlay_visible:
            self._remember(replace(self._preferences, overlay_visible=visible))

    def _remember(self, preferences: Preferences) -> None:
        self._preferences = preferences
        failure = self._file.write(preferences)
        if failure is not None:
            self.window.banner.show_notice(failure)

    @Slot()
    def _close(self) -> None:
        self.overlay.close()
        self.window.hide()
        QGuiApplication.processEvents()  # off the screen before the wait for the engine
        self.bridge.stop()
        self.finished.emit()


def run(settings: LaunchSettings) -> int:
    """Open the window and stay until it is closed.

    Returns:
        the exit code.
    """
    qt = QApplication(["surtitle"])
    qt.setApplicationName("Surtitle")
    qt.setDesktopFileName("surtitle")
    application = Application(settings, Bridge())
    interrupt = Interrupt()
    interrupt.came.connect(application.window.close)
    application.finished.connect(qt.quit)
    application.show()
    exit_code = qt.exec()
    interrupt.close()
    return exit_code
