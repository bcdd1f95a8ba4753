"""Makes the objects of the program and connects their signals; nowhere else are they joined."""

from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot
from PySide6.QtGui import QGuiApplication

from app.archive import Archive
from app.bridge import Bridge
from app.caption_page import CaptionPage
from app.caption_stage import CaptionStage
from app.captions import Captions, UtteranceView
from app.choices import Preferences
from app.chosen import Chosen
from app.diagnostics import diagnostics
from app.main_window import MainWindow
from app.places import PlacesFile
from app.policy_names import policy_names
from app.preferences import PreferencesFile
from app.settings_dialog import SettingsDialog
from engine.bundled import bundled_models
from engine.card import read_card
from engine.errors import ModelError
from engine.events import Event, Failed, LoadProgress, Ready, Refused, Statistics
from engine.settings import ModelSettings, TranslationSettings

_POINTS = 2  # a step of larger and smaller letters


@dataclass(frozen=True, slots=True, kw_only=True)
class LaunchSettings:
    """What the command line said; None where it said nothing and the person's choices count.

    Attributes:
        preferences_file: where these are stored.
        places_file: where the places of windows are stored.
        data_folder: where journals and other files of the person's are stored.
        log_folder: where logs are.
        model: folder of the model.
        device: as in ``ModelSettings``.
        language: code of the target language.
        policy: as the engine writes it.
        forget_places: whether windows come where they came the first time.
        crashed: whether the program went down last time without a word.
    """

    preferences_file: Path
    places_file: Path
    data_folder: Path
    log_folder: Path
    model: Path | None = None
    device: str = "auto"
    language: str | None = None
    policy: str | None = None
    forget_places: bool = False
    crashed: bool = False


class Application(QObject):
    """The running program: what one part emits goes to the parts it concerns.

    Signals:
        finished(): the windows are closed and nothing runs any more.
    """

    finished = Signal()

    def __init__(self, settings: LaunchSettings, bridge: Bridge) -> None:
        super().__init__()
        self._settings = settings
        self.chosen = Chosen(PreferencesFile(settings.preferences_file), self)
        now = self.chosen.now
        self._translation = TranslationSettings(
            target_language=settings.language or now.translation.language,
            policy=settings.policy or now.translation.policy,
        )
        self._captions = Captions()
        self._waiting: tuple[UtteranceView, ...] = ()
        self.bridge = bridge
        self.window = MainWindow()
        places = PlacesFile(settings.places_file)
        if settings.forget_places:
            places.forget()
        self.stage = CaptionStage(now.captions, places, self)
        self.overlay = self.stage.overlay
        self.archive = Archive(settings.data_folder, now.privacy, self.window)
        self.keeper = self.archive.keeper
        self.page = CaptionPage(settings.data_folder / "page.token", self)
        self.settings_dialog = SettingsDialog(policy_names(), self.window)
        self.window.controls.show_policy(self._translation.policy)
        if self.chosen.notice is not None:
            self.window.banner.show_notice(self.chosen.notice)
        if settings.crashed:
            told = self.tr("Surtitle crashed last time; Help, Copy diagnostics says how")
            self.window.banner.show_notice(told)
        offer = self.archive.offer()
        if offer is not None:
            self.window.banner.show_offer(*offer)
        self._connect()
        self._use_page()

    def show(self) -> None:
        """Open the windows; the model is loaded as soon as they stand on the screen."""
        area = QGuiApplication.primaryScreen().availableGeometry()
        self.window.leave_room_for(self.overlay.geometry(), area)
        self.window.show()
        overlay = self.chosen.now.overlay
        self.window.controls.lock.setChecked(overlay.locked)
        self.window.controls.overlay.setChecked(overlay.visible)

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
        controls.lock_toggled.connect(self._lock_overlay)
        bridge.event_came.connect(self._take)
        bridge.waiting_changed.connect(self._show_waiting)
        self.stage.size_wanted.connect(self._choose_size)
        self.chosen.changed.connect(self._use_choices)
        self.chosen.failed.connect(window.banner.show_notice)
        self.settings_dialog.edited.connect(self.chosen.choose)
        self.keeper.failed.connect(window.banner.show_notice)
        self.archive.restored.connect(self._restore)
        window.banner.offer_taken.connect(self.archive.recover)
        self._connect_actions()

    def _connect_actions(self) -> None:
        window, actions = self.window, self.window.menu_actions
        actions.settings.triggered.connect(self._show_settings)
        actions.larger.triggered.connect(self._enlarge)
        actions.smaller.triggered.connect(self._shrink)
        actions.reset_place.triggered.connect(self.stage.reset_place)
        actions.mark.triggered.connect(window.transcript.mark_newest)
        actions.export.triggered.connect(self.archive.export)
        actions.recover.triggered.connect(self.archive.show_sessions)
        actions.diagnostics.triggered.connect(self._copy_diagnostics)
        actions.page_address.triggered.connect(self._copy_page_address)
        actions.go_to_mark.triggered.connect(window.transcript.go_to_mark)
        self.overlay.addActions(actions.for_overlay())

    @Slot()
    def _load(self) -> None:
        directory = self._settings.model or self.chosen.now.model
        if directory is None:
            bundled = bundled_models()
            if not bundled:
                self._fail(
                    self.tr(
                        "No model comes with this copy of Surtitle; start it with --model FOLDER"
                    )
                )
                return
            directory = bundled[0]
        self._offer_languages(directory)
        self._captions.restart()
        self.keeper.restart()
        self._show_captions()
        self.window.status.show_state(self.tr("Loading"))
        self.window.banner.show_progress(self.tr("Starting the translation engine"), None)
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
            told = self.tr("The model {} does not know {!r}; the captions are in {}")
            self.window.banner.show_notice(told.format(card.name, wanted, name))
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
                self.keeper.take(event, self._translation.target_language)
                if self._captions.apply(event):
                    self._show_captions()

    def _fail(self, message: str) -> None:
        self.window.status.show_state(self.tr("Stopped"))
        self.window.banner.show_failure(message)

    def _show_captions(self) -> None:
        views = self._captions.views
        self.window.transcript.show_views(views + self._waiting)
        self.stage.show_views(views)
        self.page.show_lines(self.stage.caption_lines)

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
        now = self.chosen.now
        translation = replace(now.translation, language=code)
        self.chosen.choose(replace(now, translation=translation))

    @Slot(str)
    def _choose_policy(self, policy: str) -> None:
        self._translate_by(policy)
        now = self.chosen.now
        self.chosen.choose(replace(now, translation=replace(now.translation, policy=policy)))

    def _translate_by(self, policy: str) -> None:
        if policy != self._translation.policy:
            self._translation = replace(self._translation, policy=policy)
            self.bridge.change(self._translation)

    @Slot(int, int)
    def _choose_size(self, characters: int, lines: int) -> None:
        now = self.chosen.now
        captions = replace(now.captions, characters=characters, lines=lines)
        self.chosen.choose(replace(now, captions=captions))

    @Slot()
    def _enlarge(self) -> None:
        self._change_letters(_POINTS)

    @Slot()
    def _shrink(self) -> None:
        self._change_letters(-_POINTS)

    def _change_letters(self, points: int) -> None:
        now = self.chosen.now
        size = min(96, max(14, now.captions.point_size + points))
        self.chosen.choose(replace(now, captions=replace(now.captions, point_size=size)))

    @Slot(object, object)
    def _use_choices(self, before: Preferences, now: Preferences) -> None:
        """Let what was chosen take effect, whichever window it was chosen in."""
        if now.captions != before.captions:
            self.stage.show_look(now.captions)
        if now.overlay.locked != before.overlay.locked:
            self.window.controls.lock.setChecked(now.overlay.locked)
        if now.translation.policy != before.translation.policy:
            self._translate_by(now.translation.policy)
            self.window.controls.show_policy(now.translation.policy)
        if now.privacy != before.privacy:
            self.keeper.use(now.privacy)
            self._use_page()
        if self.settings_dialog.isVisible():
            self.settings_dialog.show_preferences(now)

    @Slot()
    def _show_settings(self) -> None:
        self.settings_dialog.show_preferences(self.chosen.now)
        self.settings_dialog.show()
        self.settings_dialog.raise_()
        self.settings_dialog.activateWindow()

    @Slot(bool)
    def _pause(self, paused: bool) -> None:  # noqa: FBT001  what the signal carries
        self.bridge.pause(paused=paused)
        self.window.status.show_paused(paused=paused)

    @Slot()
    def _clear(self) -> None:
        self.window.typed_line.discard()
        self.bridge.clear()
        self._captions.clear()
        self.keeper.clear()
        self._show_captions()

    @Slot(bool)
    def _show_overlay(self, visible: bool) -> None:  # noqa: FBT001  what the signal carries
        self.overlay.setVisible(visible)
        if visible and QGuiApplication.platformName().startswith("wayland"):
            told = self.tr(
                "On Wayland no program may keep its window above the others; if the overlay goes "
                "behind them, start Surtitle with QT_QPA_PLATFORM=xcb"
            )
            self.window.banner.show_notice(told)
        now = self.chosen.now
        self.chosen.choose(replace(now, overlay=replace(now.overlay, visible=visible)))

    @Slot(bool)
    def _lock_overlay(self, locked: bool) -> None:  # noqa: FBT001  what the signal carries
        self.stage.set_locked(locked=locked)
        now = self.chosen.now
        self.chosen.choose(replace(now, overlay=replace(now.overlay, locked=locked)))

    @Slot(list)
    def _restore(self, texts: list[tuple[str, str]]) -> None:
        self._captions.restore(texts)
        self._show_captions()

    def _use_page(self) -> None:
        failure = self.page.use(self.chosen.now.privacy)
        if failure is not None:
            self.window.banner.show_notice(failure)

    @Slot()
    def _copy_page_address(self) -> None:
        address = self.page.address
        told = self.tr("The address is on the clipboard; who knows it can read the captions")
        if not address:
            told = self.tr("The caption page is off; the settings, under Privacy, turn it on")
        QGuiApplication.clipboard().setText(address)
        self.window.banner.show_notice(told)

    @Slot()
    def _copy_diagnostics(self) -> None:
        state = {
            "state": self.window.status.state.text(),
            "figures": self.window.status.figures.text(),
            "captions": f"{len(self.keeper.cues):,}",
        }
        text = diagnostics(self.chosen.now, state, self._settings.log_folder)
        QGuiApplication.clipboard().setText(text)
        self.window.banner.show_notice(
            self.tr("Diagnostics are on the clipboard; nothing that was said is in them")
        )

    @Slot(str)
    def obey(self, command: str) -> None:
        """Do what another start of the program asks for, one of ``one_instance.COMMANDS``."""
        controls = self.window.controls
        match command:
            case "toggle":
                controls.overlay.toggle()
            case "pause":
                controls.pause.toggle()
            case "lock":
                controls.lock.toggle()
            case "clear":
                controls.clear.click()
            case _:
                self.raise_window()

    @Slot()
    def raise_window(self) -> None:
        """Bring the main window before the others."""
        window = self.window
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()

    @Slot()
    def _close(self) -> None:
        self.settings_dialog.close()
        self.overlay.close()
        self.window.hide()
        QGuiApplication.processEvents()  # off the screen before the wait for the engine
        self.bridge.stop()
        self.page.close()
        self.archive.close()
        self.finished.emit()
