"""The set-up wizard, the windows of the models, and another computer that translates."""

from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtGui import QAction

from app.captions.model import UtteranceView
from app.captions.models import MachineReport, ModelOffer, bundled_offers, known_offers
from app.config.preferences import CAPTIONS_ONLY, ME, TRANSLATE
from app.config.settings_in_force import ModelChoice, SettingsInForce, for_window
from app.config.translations import worded
from app.controllers.model_change import server_name
from app.controllers.model_controller import ModelController
from app.dialogs.server_dialog import ServerDialog
from app.dialogs.setup.models_dialog import ModelsDialog
from app.dialogs.setup.offers import quality_of
from app.dialogs.setup.pages import FILE, TYPING
from app.dialogs.setup.wizard import SetupWizard, WizardServices
from app.look.widgets.dialog_text import as_sentence, bring_up, size_text
from app.look.widgets.names import language_names
from app.main_window.window import MainWindow
from app.session.engine_bridge import EngineBridge
from app.session.listening_service import ListeningService
from engine.audio.devices import DeviceKind, Level
from engine.events import Event, Failed, Ready
from engine.hub.catalogue import TRANSLATION_MODELS, bundled_languages
from engine.messages import Code, Message
from engine.settings import ServerSettings
from engine.speech.events import Heard, ListeningFailed, Noticed, SoundCame
from engine.untrusted.faults import is_damage
from engine.untrusted.plain_files import folder_of


class SetupController(QObject):
    """Make the windows on demand, and apply what is chosen in them.

    Signals:
        opened(): the wizard is shown.
        left(): it was closed.
    """

    opened = Signal()
    left = Signal()

    def __init__(
        self, settings: SettingsInForce, service: ListeningService, window: MainWindow
    ) -> None:
        super().__init__(window)
        self.parts = WizardServices(bundled=tuple(bundled_languages()))
        self.dialog: SetupWizard | None = None
        self.models: ModelsDialog | None = None
        self._settings, self._service, self._window = settings, service, window
        self._wished = ""  # a language of the wizard that needs another model
        actions = window.menu_actions
        actions.guide.triggered.connect(self.open_guide)
        actions.models.triggered.connect(lambda _on: self.open_models())
        window.choices.language.aboutToShow.connect(self._offer_languages)
        window.choices.language.other_chosen.connect(self._choose_language)

    @Slot()
    def open_guide(self) -> None:
        dialog = self._wizard()
        self.opened.emit()
        dialog.open_guide(self._settings.preferences)

    @Slot()
    def open_speech(self) -> None:
        dialog = self._wizard()
        self.opened.emit()
        dialog.open_speech(self._settings.preferences)

    @Slot(str)
    def open_models(self, language: str = "") -> None:
        """Show the translation models, for another language if one is given."""
        if self.models is None:
            self.models = ModelsDialog(self._library, self.parts, self._window)
            self.models.wanted.connect(self._use_model)
            self._service.speed_measured.connect(self.models.take_speed)
        preferences = self._settings.preferences
        stored = preferences.translation
        language = language or self._wished
        now = ModelChoice(
            model=None if language else preferences.model,
            language=language or stored.language,
            source=stored.source,
        )
        in_use = ModelChoice(
            model=preferences.model,
            language=stored.language,
            source=stored.source,
            server=self._settings.server,
        )
        self.models.open_models(now, in_use)
        self.models.take_speed(0.0, again=True)
        self._service.measure_speed()

    @property
    def report(self) -> MachineReport:
        """The results of checking this computer, so far."""
        return MachineReport() if self.models is None else self.models.report

    @property
    def _library(self) -> Path:
        return self._settings.launch.data_folder / "models"

    @Slot()
    def _offer_languages(self) -> None:
        choices, spoken = self._window.choices, self._settings.translation.source_language
        report = self.report
        offers = [*bundled_offers(), *known_offers()]
        known = {spoken, *(code for _, code in choices.language.entries)}
        entries = list[tuple[str, str, str]]()
        for code, name in language_names().items():
            best = None if code in known else report.recommended(offers, code, spoken)
            if best is not None:
                entries.append(self._way_to(name, best, (spoken, code)))
        choices.show_other_languages(entries)

    def _is_here(self, offer: ModelOffer) -> bool:
        return offer.is_here or (self._library / folder_of(offer.name)).is_dir()

    def _way_to(
        self, language: str, best: ModelOffer, pair: tuple[str, str]
    ) -> tuple[str, str, str]:
        """Return name, code and tool tip of a language that another model knows."""
        score, code = best.score(*pair), pair[1]
        quality = "" if score is None else self.tr("quality: {}").format(quality_of(score))
        note = "" if quality else self.tr("; its quality is not published")
        if self._is_here(best):
            named = f"{language} ({quality})" if quality else language
            return named, code, self.tr("Its model is on this computer") + note
        size = size_text(best.n_bytes)
        facts = ", ".join(filter(None, (quality, self.tr("download {}").format(size))))
        named = self.tr("{language} ({facts})…").format(language=language, facts=facts)
        return named, code, self.tr("Download {}, then use").format(size) + note

    @Slot(str)
    def _choose_language(self, code: str) -> None:
        stored = self._settings.preferences.translation
        best = self.report.recommended(known_offers(), code, stored.source) if code else None
        if best is None or not self._is_here(best):
            self.open_models(code)
        else:
            self._use_model(ModelChoice(model=best.choice, language=code, source=stored.source))

    @Slot(tuple)
    def show_captions(self, views: tuple[UtteranceView, ...]) -> None:
        if self.dialog is not None:
            self.dialog.trial.show_views(views)

    @Slot(dict)
    def show_levels(self, levels: Mapping[str, Level]) -> None:
        if self.dialog is not None:
            self.dialog.trial.show_levels(levels)

    def hide(self) -> None:
        self._wished = ""
        for dialog in (self.dialog, self.models):
            if dialog is not None:
                dialog.close()

    def close(self) -> None:
        for dialog in (self.dialog, self.models):
            if dialog is not None:
                dialog.end()

    def _wizard(self) -> SetupWizard:
        if self.dialog is not None:
            return self.dialog
        dialog = self.dialog = SetupWizard(self._service, self.parts, self._window)
        dialog.language_wanted.connect(self._use_language)
        dialog.recognizer_wanted.connect(
            lambda recognizer: self._settings.change("listening", recognizer=recognizer)
        )
        dialog.left.connect(self._keep)
        dialog.ended.connect(self._go_on)
        dialog.source_wanted.connect(lambda kind, on: self._sources[kind].setChecked(on))
        for action in self._sources.values():
            action.toggled.connect(self._show_sources)
        self._show_sources()
        self._service.began.connect(self._show_began)
        self._service.reported.connect(self._take)
        self._service.failed.connect(dialog.trial.show_failure)
        return dialog

    @property
    def _sources(self) -> dict[DeviceKind, QAction]:
        actions = self._window.menu_actions
        return {DeviceKind.MICROPHONE: actions.microphone, DeviceKind.SYSTEM: actions.system}

    @Slot(str)
    def _go_on(self, use: str) -> None:
        """Ask for a file, or focus the input line, if the user wants to caption these."""
        if use == FILE:
            self._window.menu_actions.open_file.trigger()
        elif use == TYPING:
            self._window.typed_line.setFocus()

    @Slot()
    def _show_sources(self) -> None:
        if self.dialog is not None:
            for kind, action in self._sources.items():
                self.dialog.trial.show_on(kind, on=action.isChecked())

    @Slot()
    def _show_began(self) -> None:
        if self.dialog is not None:
            text = self.tr("Loading the speech model; what you say is kept.")
            self.dialog.trial.show_progress(text)

    @Slot(object)
    def _take(self, event: Heard) -> None:
        if self.dialog is None:
            return
        trial = self.dialog.trial
        match event:
            case SoundCame(lane=lane):
                text = self.tr("Listening. Captions come as soon as something is said.")
                trial.show_progress(self.tr("Listening. Say a sentence.") if lane == ME else text)
            case ListeningFailed(message=message):
                trial.show_failure(worded(message), is_model=is_damage(message))
                if is_damage(message):
                    self.dialog.speech.give_up(self._settings.recognizer, worded(message))
            case Noticed(lane=lane, notice=notice):
                trial.show_message(lane, worded(notice.message))

    @Slot(str)
    def _use_language(self, language: str) -> None:
        """Translate into a language that the model in use knows; an empty one only captions.

        For a language that it does not know, another model is chosen after the wizard.
        """
        mode = self._settings.mode
        if not language:
            self._wished = ""
            self._settings.choose_mode(CAPTIONS_ONLY)
            return
        self._settings.choose_mode(TRANSLATE if mode == CAPTIONS_ONLY else mode)
        model, stored = self._settings.preferences.model, self._settings.preferences.translation
        self._wished = ""
        server = self._settings.server
        if server is None and not self._may_know(model, stored.source, language):
            self._wished = language
            is_stored = model is not None or stored.language in self.parts.bundled
            language = stored.language if is_stored else self.parts.bundled[0]
        choice = ModelChoice(model=model, language=language, source=stored.source, server=server)
        self._settings.choose_model(choice)

    def _may_know(self, model: Path | None, source: str, language: str) -> bool:
        """Return whether a model translates into a language; folders are not looked into."""
        if model is None:
            return not self.parts.bundled or language in self.parts.bundled
        known = (one for one in TRANSLATION_MODELS if Path(one.name) == model)
        return all(one.translates(source, language) for one in known)

    @Slot(object)
    def _use_model(self, choice: ModelChoice) -> None:
        """Use a model once it works; that of the command line is in force until the end."""
        self._wished = ""
        if not self._settings.choose_model(choice):
            text = self.tr(
                "Until Surtitle is closed, the model that was named when it was started translates"
            )
            self._window.banner.show_notice(text)

    @Slot()
    def _keep(self) -> None:
        """Store the preferences, so that the wizard does not open by itself again.

        Where another model is needed for the language, the models are shown.
        """
        self._settings.keep()
        self.left.emit()
        if self._wished:
            self.open_models()


RETRY_MS = 5000
"""Between two tries to reach a server that did not answer at the start."""


class ServerController(QObject):
    """Offer the computers, and follow the connection."""

    def __init__(
        self,
        settings: SettingsInForce,
        bridge: EngineBridge,
        model: ModelController,
        setup: SetupController,
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        self.dialog: ServerDialog | None = None
        self._settings, self._model, self._setup = settings, model, setup
        self._window, self._choices = window, window.choices
        self._is_connected = False
        self._awaits = False  # the answer of a server that the dialog named
        self._retry = QTimer(self, singleShot=True, interval=RETRY_MS)
        self._retry.timeout.connect(self._try_again)
        bridge.event_came.connect(self._take)
        bridge.next_came.connect(self._take_next)
        bridge.taking_over.connect(self._begin_again)
        settings.preferences_changed.connect(self._show)
        self._choices.computer.value_chosen.connect(self._choose)
        self._choices.computer.other_chosen.connect(self.open_dialog)
        window.status.server.clicked.connect(self.open_dialog)
        self._show()

    @Slot()
    def open_dialog(self) -> None:
        if self.dialog is None:
            self.dialog = ServerDialog(self._window)
            self.dialog.wanted.connect(self._use)
        self.dialog.show_server(self._settings.known_server)
        bring_up(self.dialog)

    def close(self) -> None:
        """Try nothing more; the program ends."""
        self._retry.stop()

    @Slot(str)
    def _choose(self, address: str) -> None:
        self._show()  # the old one, until the new one works
        known = self._settings.known_server
        if address and known is not None:
            self._use(known)
        elif self._settings.server is not None and self._model.has_model:
            self._model.compute_here()
        elif self._settings.server is not None:
            self._setup.open_models()  # without a model here, those that there are

    @Slot(object)
    def _use(self, server: ServerSettings) -> None:
        stored = self._settings.preferences.translation
        server = for_window(server)
        if server == self._settings.server and self._settings.model_works:
            self._close_dialog()
            return
        self._awaits = True
        choice = ModelChoice(
            model=self._settings.model,
            language=self._settings.translation.target_language,
            source=stored.source,
            server=server,
        )
        self._settings.choose_model(choice)

    @Slot()
    def _begin_again(self) -> None:
        self._retry.stop()
        self._is_connected = False

    @Slot(object)
    def _take(self, event: Event) -> None:
        match event:
            case Ready() if self._settings.translates:
                self._is_connected = True
                if self._awaits:
                    self._close_dialog()
            case Failed(message=message):
                self._is_connected = False
                self._wait(message)
            case _:
                return
        self._show()

    @Slot(object)
    def _take_next(self, event: Event) -> None:
        if isinstance(event, Failed) and self._awaits and self.dialog is not None:
            self.dialog.show_message(as_sentence(worded(event.message)))

    def _wait(self, message: Message) -> None:
        """Try again later where the server did not answer; what else it said stays true."""
        is_away = message.code is Code.SERVER_UNREACHABLE
        if is_away and self._settings.server is not None and self._settings.translates:
            self._retry.start()

    @Slot()
    def _try_again(self) -> None:
        if self._settings.server is not None and not self._model.change.is_under_way:
            self._model.load_quietly()

    def _close_dialog(self) -> None:
        self._awaits = False
        if self.dialog is not None:
            self.dialog.close()

    @Slot()
    def _show(self) -> None:
        known, server = self._settings.preferences.server.address, self._settings.server
        address = "" if server is None else server.address
        servers = {known: server_name(known)} if known else {}
        self._choices.show_computers(servers, address)
        self._window.status.show_server(self._state(server_name(address)) if address else "")

    def _state(self, name: str) -> str:
        if not self._settings.translates:
            return ""
        if self._is_connected:
            return self.tr("Computed on {}").format(name)
        return self.tr("Waiting for {}").format(name)
