"""Loads the model, and keeps its languages and adapters."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.application.adapter_controller import AdapterController
from app.captions.modes import CAPTIONS_ONLY
from app.config.preferences import Preferences
from app.config.settings_in_force import SettingsInForce
from app.library.model_names import hub_name
from app.main_window.banner import Banner
from app.main_window.caption_choices import CaptionChoices
from app.main_window.status_bar import StatusBar
from app.session.engine_bridge import EngineBridge
from app.system.translations import worded
from app.widgets.policy_names import policy_names
from engine.commands import Configure
from engine.encoder_decoder.original import is_encoder_decoder, model_record
from engine.errors import ModelError
from engine.events import (
    AdapterChanged,
    Event,
    Failed,
    LoadProgress,
    Notice,
    PaceChanged,
    Ready,
    Refused,
    Statistics,
)
from engine.hub.bundled import bundled_models
from engine.messages import Code, Message
from engine.models.model_card import read_card
from engine.settings import ModelSettings, TranslationSettings
from engine.untrusted.safe_names import folder_of

_ONLY, _ACCEPT = "captions only", "accept licence"  # what the banner offers


class ModelController(QObject):
    """Load the model in force, show the progress, and apply the settings.

    Signals:
        restarted(): another session starts, with its own numbers of utterances.
        timings_changed(list): the policies on offer, as ``policy_names`` returns them.
    """

    restarted = Signal()
    timings_changed = Signal(list)

    def __init__(
        self,
        settings: SettingsInForce,
        bridge: EngineBridge,
        adapters: AdapterController,
        choices: CaptionChoices,
        banner: Banner,
        status: StatusBar,
    ) -> None:
        super().__init__(banner)
        self._settings = settings
        self._bridge = bridge
        self._adapters = adapters
        self._choices, self._banner, self._status = choices, banner, status
        self._is_loading = self._starts_over = self._was_wanted = False
        banner.retry_clicked.connect(self.load)
        banner.offer_taken.connect(self._take_offer)
        bridge.event_came.connect(self._take_event)
        settings.translation_changed.connect(self._translate)
        settings.preferences_changed.connect(self._use_mode)
        settings.model_changed.connect(self.start_over)
        choices.mode_chosen.connect(settings.choose_mode)
        choices.language_chosen.connect(settings.choose_language)
        choices.policy_chosen.connect(settings.choose_policy)
        choices.show_mode(settings.mode)
        self._show_choices(settings.translation)

    @property
    def is_busy(self) -> bool:
        """Whether words wait for a model that is loading, not for a download."""
        return self._is_loading and self._bridge.has_waiting_words

    def as_arguments(self) -> list[str]:
        """Return the current model and settings as command-line options."""
        model, translation = self._settings.model, self._settings.translation
        return [
            *([] if model is None else ["--model", str(model)]),
            *("--adapter", self._adapters.as_argument()),
            *("--to", translation.target_language, "--from", translation.source_language),
            *("--policy", translation.policy),
            *(["--accept-licence"] if self._settings.accepts_licence else []),
            *("--device", self._settings.launch.device),
        ]

    @Slot()
    def start_over(self) -> None:
        """Load the model in force, after the one that is loading: that cannot be interrupted."""
        self._show_choices(self._settings.translation)
        if self._is_loading:
            self._starts_over = True
        else:
            self.load()

    @Slot()
    def load(self) -> None:
        """Load the model in force, or none for captions only, replacing the previous one."""
        self._was_wanted = True
        if not self._settings.translates:
            self._begin(None)
            return
        directory = self._settings.model
        if directory is None:
            bundled = bundled_models()
            if not bundled:
                self._status.show_stopped()
                text = self.tr(
                    "There is no translation model on this computer; start Surtitle with "
                    "--model FOLDER, or have captions without a translation"
                )
                self._banner.show_offer(text, self.tr("Captions &only"), _ONLY)
                return
            directory = bundled[0]
        library, name = self._settings.launch.data_folder / "models", hub_name(directory)
        if name:
            directory = library
        self._adapters.desk.use_model(library / folder_of(name) if name else directory)
        self._offer_languages(directory)
        self._begin(
            ModelSettings(
                directory=directory,
                hub_name=name,
                device=self._settings.launch.device,
                accepts_licence=self._settings.accepts_licence,
            )
        )

    def _begin(self, model: ModelSettings | None) -> None:
        """Start a session with a model, or with none."""
        self._bridge.stop()
        self.restarted.emit()
        self._is_loading = True
        self._status.show_loading()
        if model is not None:
            self._banner.show_progress(self.tr("Starting the translation"), None)
        # A glossary that is too long must not stop the model from loading: it follows later.
        self._bridge.start(model, replace(self._settings.translation, glossary=()))

    def _offer_languages(self, directory: Path) -> None:
        """Offer the languages of the model's card before the model is loaded."""
        try:
            is_apart = is_encoder_decoder(directory)
            card = model_record(directory).card if is_apart else read_card(directory)
        except ModelError:
            return  # the session reports it, in the same words
        languages = {code: language.name for code, language in card.languages.items()}
        wanted = self._settings.translation.target_language
        if wanted not in languages:
            code, name = next(iter(languages.items()))
            self._settings.use_language(code)
            text = self.tr("The model {} does not know {!r}; the captions are in {}")
            self._banner.show_notice(text.format(card.name, wanted, name))
        self._show_languages(languages)

    def _show_languages(self, languages: Mapping[str, str]) -> None:
        now = self._settings.translation
        others = {code: name for code, name in languages.items() if code != now.source_language}
        self._choices.show_languages(others or languages, now.target_language)

    @Slot(object)
    def _translate(self, translation: TranslationSettings) -> None:
        """Apply changed settings from the next passage on."""
        self._show_choices(translation)
        self._bridge.send(Configure(translation))

    @Slot(str)
    def _take_offer(self, name: str) -> None:
        if name == _ONLY:
            self._settings.choose_mode(CAPTIONS_ONLY)
        elif name == _ACCEPT:
            self._settings.accept_licence()
            self.load()

    def _show_choices(self, translation: TranslationSettings) -> None:
        self._choices.show_choice(
            translation.source_language, translation.target_language, translation.policy
        )
        self._status.show_glossary(used=bool(translation.glossary) and self._settings.translates)

    @Slot(object, object)
    def _use_mode(self, before: Preferences, now: Preferences) -> None:
        """Load the model, or do without it, once captions are translated or no longer so."""
        if now.captions.mode == before.captions.mode:
            return
        self._choices.show_mode(now.captions.mode)
        self._show_choices(self._settings.translation)
        if (CAPTIONS_ONLY in (before.captions.mode, now.captions.mode)) and self._was_wanted:
            self.start_over()

    @Slot(object)
    def _take_event(self, event: Event) -> None:
        if isinstance(event, LoadProgress):
            self._is_loading = event.message.code is not Code.FETCHING
        elif isinstance(event, Ready | Failed):
            self._is_loading = False
        if self._starts_over and not self._is_loading:
            self._starts_over = False
            self.load()  # this event is of a model that nobody wants any more
        else:
            self._take(event)

    def _take(self, event: Event) -> None:
        match event:
            case LoadProgress():
                self._banner.show_progress(worded(event.message), event.fraction)
            case Ready():
                self._show_ready(event)
            case AdapterChanged():
                self._adapters.take(event)
                self._show_languages(event.languages)
                self._offer_timings(event)
            case Failed():
                self._fail(event.message)
            case Refused() | Notice():
                self._banner.show_notice(worded(event.message))
                self._adapters.dialog.show_message(worded(event.message))
            case Statistics(backlog_words=n_words) | PaceChanged(backlog_words=n_words):
                self._status.show_backlog(n_words)

    def _show_ready(self, event: Ready) -> None:
        self._banner.show_loaded()
        self._status.show_ready()
        if not self._settings.translates:
            return
        for notice in event.notices:
            self._banner.show_notice(worded(notice))
        self._show_languages(event.languages)
        self._offer_timings(event)
        if self._settings.translation.glossary:
            self._bridge.send(Configure(self._settings.translation))
        self._adapters.begin()

    def _offer_timings(self, event: Ready | AdapterChanged) -> None:
        """Offer what the model can follow; a timing that it cannot follow is not in force."""
        self._settings.suit_policy(makes_drafts=event.makes_drafts)
        offered = policy_names(event.lags, makes_drafts=event.makes_drafts)
        self._choices.show_timings(offered)
        self.timings_changed.emit(offered)

    def _fail(self, message: Message) -> None:
        self._status.show_stopped()
        if message.code is Code.LICENCE_FORBIDS_COMMERCE:
            self._banner.show_loaded()
            button = self.tr("Not used c&ommercially")
            self._banner.show_offer(worded(message), button, _ACCEPT)
        else:
            self._banner.show_failure(worded(message))
