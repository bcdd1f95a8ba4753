"""Loads the model, and keeps its languages and adapters."""

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from PySide6.QtCore import QObject, Signal, Slot

from app.config.preferences import CAPTIONS_ONLY, SOURCE_LANGUAGE, Preferences
from app.config.settings_in_force import ModelChoice, SettingsInForce
from app.config.translations import worded
from app.controllers.model_change import (
    ModelChange,
    card_of,
    model_folder,
    model_settings,
    server_name,
)
from app.controllers.tools import AdapterController
from app.look.widgets.names import language_name, policy_names
from app.main_window.window import MainWindow
from app.session.engine_bridge import Engine, EngineBridge
from engine.events import (
    AdapterChanged,
    Configure,
    Event,
    Failed,
    LoadProgress,
    Notice,
    PaceChanged,
    Ready,
    Refused,
    Statistics,
)
from engine.hub.catalogue import bundled_languages
from engine.messages import Code, Message
from engine.settings import ModelSettings, ServerSettings, TranslationSettings
from engine.untrusted.faults import is_damage

_ONLY = "captions only"  # a notice in the banner


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
        window: MainWindow,
    ) -> None:
        super().__init__(window)
        choices, banner = window.choices, window.banner
        self._settings = settings
        self._bridge = bridge
        self._adapters = adapters
        self._choices, self._banner, self._status = choices, banner, window.status
        self._is_loading = self._starts_over = self._was_wanted = False
        self._is_damaged = False  # the model that failed
        self.timings = policy_names()
        self._makes_drafts, self._step_s = False, 0.0
        self._heard = dict[str, tuple[str, float]]()  # timing and its median, by speech model
        self._own: Mapping[str, str] = {}  # languages of the model in use
        self._chosen: ModelChoice | None = None  # waits for the end of loading
        self.change = ModelChange(settings, bridge, banner, window.next_bar)
        banner.retry.clicked.connect(self._retry)
        banner.back.clicked.connect(self._go_back)
        self.change.licence_accepted.connect(self._accept_licence)
        bridge.event_came.connect(self._take_event)
        settings.translation_changed.connect(self._translate)
        settings.preferences_changed.connect(self._use_mode)
        settings.model_wanted.connect(self.choose)
        bridge.taking_over.connect(self._show_restart)
        window.painted.connect(self.load)
        choices.mode.value_chosen.connect(settings.choose_mode)
        choices.language.value_chosen.connect(self._choose_language)
        choices.timing.value_chosen.connect(settings.choose_policy)
        choices.show_mode(settings.mode)
        self._show_choices(settings.translation)

    @property
    def is_busy(self) -> bool:
        """Whether words wait for a model that is loading, not for a download."""
        return self._is_loading and self._bridge.has_waiting_words

    @Slot()
    def start_over(self) -> None:
        """Load the model in force, after the one that is loading: that cannot be interrupted."""
        self.change.forget()
        self._show_choices(self._settings.translation)
        if self._is_loading:
            self._starts_over = True
        else:
            self.load()

    @Slot()
    def load(self) -> None:
        """Load the model in force, or none for captions only, replacing the previous one."""
        self._load(mends=False)

    def _load(self, *, mends: bool) -> None:
        self._was_wanted = True
        if not self._settings.translates:
            self._begin(None)
            return
        if self._settings.server is not None:
            self._begin(self._settings.server)
            return
        model = self._own_model()
        if model is None:
            self._status.show_stopped()
            text = self.tr(
                "There is no translation model on this computer; start Surtitle with "
                "--model FOLDER, let another computer translate (Tools, Advanced), or have "
                "captions without a translation"
            )
            only = self.tr("Captions &only"), partial(self._settings.choose_mode, CAPTIONS_ONLY)
            self._banner.show_offer(text, _ONLY, only)
            return
        self._offer_languages(model)
        self._begin(replace(model, mends=mends))

    @Slot(object)
    def choose(self, choice: ModelChoice) -> None:
        """Change to another model, after the one that is loading; it is in force once it works."""
        if self._is_loading:
            self._chosen = choice
        else:
            self.change.begin(choice)

    def load_quietly(self) -> None:
        """Try the server in force once more, which failed; what is shown of that stays."""
        assert self._settings.server is not None
        self._start(self._settings.server)

    def _begin(self, model: Engine | None) -> None:
        self._status.show_loading()
        if isinstance(model, ServerSettings):
            stage = self.tr("Connecting to {}").format(server_name(model.address))
            self._banner.show_progress(stage, None)
        elif model is not None:
            self._banner.show_progress(self.tr("Starting the translation"), None)
        self._start(model)

    def _start(self, model: Engine | None) -> None:
        self._is_loading = True
        # A glossary that is too long must not stop the model from loading: it follows later.
        self._bridge.start(model, replace(self._settings.translation, glossary=()))

    @Slot()
    def _show_restart(self) -> None:
        self._judge_adapters()
        self.restarted.emit()

    def _judge_adapters(self) -> None:
        if self._settings.server is not None:
            return
        model = self._own_model()
        if model is not None:
            self._adapters.service.use_model(model_folder(model))

    def _offer_languages(self, model: ModelSettings) -> None:
        card = card_of(model)
        if card is None:
            return
        languages = {code: language.name for code, language in card.languages.items()}
        wanted = self._settings.translation.target_language
        if wanted not in languages:
            self._settings.use_language(self.change.show_unknown(card.name, wanted, languages))
        self._show_languages(languages)

    def _show_languages(self, languages: Mapping[str, str]) -> None:
        now, self._own = self._settings.translation, languages
        others = {code: name for code, name in languages.items() if code != now.source_language}
        is_ours = self._settings.launch.model is None and self._settings.server is None
        if now.source_language == SOURCE_LANGUAGE and is_ours:
            others |= {code: code for code in bundled_languages() if code not in others}
        self._choices.show_languages(others or languages, now.target_language)

    @Slot(str)
    def _choose_language(self, code: str) -> None:
        """Translate into a language by the model in use, or by the bundled one that knows it."""
        if code in self._own:
            self._settings.choose_language(code)
            return
        source = self._settings.translation.source_language
        self._settings.choose_model(ModelChoice(model=None, language=code, source=source))
        self._show_choices(self._settings.translation)  # the old one, until the new one works

    @Slot(object)
    def _translate(self, translation: TranslationSettings) -> None:
        self._show_choices(translation)
        self._bridge.send(Configure(translation))

    @Slot()
    def _accept_licence(self) -> None:
        if self.change.failed is not None:
            self.choose(replace(self.change.failed, accepts_licence=True))
        else:
            self._settings.accept_licence()
            self.load()

    @Slot()
    def _retry(self) -> None:
        """Try again what failed; files that were damaged are fetched again."""
        if self.change.failed is not None:
            self.choose(self.change.failed)
        else:
            self._load(mends=self._is_damaged)

    @Slot()
    def _go_back(self) -> None:
        """Stay with the model in use, or take the bundled one where the stored one failed."""
        was_change = self.change.failed is not None
        self.change.forget()
        self.change.show_loaded()
        if not was_change and self._settings.server is not None:
            self.compute_here()
        elif not was_change:
            self.choose(ModelChoice(model=None, language=self._bundled_language()))
        elif not self._bridge.is_running:
            self.load()

    @property
    def has_model(self) -> bool:
        model = self._own_model()
        return model is not None and model_folder(model).is_dir()

    @Slot()
    def compute_here(self) -> None:
        stored = self._settings.preferences.translation
        language = self._settings.launch.language or stored.language
        self._settings.choose_model(
            ModelChoice(model=self._settings.model, language=language, source=stored.source)
        )

    def _own_model(self) -> ModelSettings | None:
        return model_settings(
            self._settings.model,
            self._settings.launch,
            accepts_licence=self._settings.accepts_licence,
            language=self._settings.translation.target_language,
        )

    def _show_choices(self, translation: TranslationSettings) -> None:
        self._choices.show_choice(
            translation.source_language, translation.target_language, self._settings.timing
        )
        is_used = bool(translation.glossary) and self._settings.translates
        self._status.glossary.setVisible(is_used)

    @Slot(object, object)
    def _use_mode(self, before: Preferences, now: Preferences) -> None:
        if now.translation.policy != before.translation.policy:
            self._show_choices(self._settings.translation)
        if now.captions.mode != before.captions.mode:
            self._choices.show_mode(now.captions.mode)
            self._show_choices(self._settings.translation)
            is_other = CAPTIONS_ONLY in (before.captions.mode, now.captions.mode)
            if is_other and self._was_wanted and not self.change.is_taking_over:
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
        if self._chosen is not None and not self._is_loading:
            chosen, self._chosen = self._chosen, None
            self.change.begin(chosen)

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
        if self.change.is_alone:
            self.change.finish()
            self._judge_adapters()
        self._settings.model_works = True
        self._banner.show_loaded()
        self._status.show_ready()
        if not self._settings.translates:
            return
        for notice in event.notices:
            self._banner.show_notice(worded(notice))
        self._use_known_language(event)
        self._show_languages(event.languages)
        self._offer_timings(event)
        if self._settings.translation.glossary:
            self._bridge.send(Configure(self._settings.translation))
        self._adapters.begin()
        self.change.show_failure()

    def _use_known_language(self, event: Ready) -> None:
        """Caption in a language of the server's model; one of this computer was asked before."""
        wanted = self._settings.translation.target_language
        if self._settings.server is None or not event.languages or wanted in event.languages:
            return
        code = self.change.show_unknown(event.model, wanted, event.languages)
        self._settings.use_known_language(code)

    def _offer_timings(self, event: Ready | AdapterChanged) -> None:
        """Offer what the model can follow; a timing that it cannot follow is not in force."""
        self._settings.suit_policy(makes_drafts=event.makes_drafts)
        self._makes_drafts = event.makes_drafts
        self._heard.clear()
        self._show_timings()

    def tell_seconds(self, step_s: float, heard_s: float | None) -> None:
        """Show timings in seconds: a step of the model here, and the median of the one in use."""
        self._step_s = step_s
        if heard_s is not None and self._settings.translates:
            self._heard[self._settings.recognizer] = self._settings.timing, heard_s
        self._show_timings()

    def _show_timings(self) -> None:
        recognizer, before = self._settings.recognizer, self.timings
        self.timings = policy_names(
            recognizer,
            self._step_s,
            self._heard.get(recognizer),
            makes_drafts=self._makes_drafts,
        )
        if self.timings != before:
            self._choices.show_timings(self.timings)
            self.timings_changed.emit(self.timings)

    def _fail(self, message: Message) -> None:
        if self.change.is_alone:
            self.change.fail(message)
            self.load()
            return
        self._settings.model_works = False
        self._is_damaged = is_damage(message)
        self._status.show_stopped()
        is_ours = self._settings.server is None
        if is_ours and message.code is Code.LICENCE_FORBIDS_COMMERCE:
            self._banner.show_loaded()
            self.change.offer_licence(message)
        else:
            is_model = is_ours and self._settings.launch.model is None
            self._banner.show_failure(worded(message), self._way_back(), is_model=is_model)

    def _way_back(self) -> str:
        """Return what is offered instead of a stored model that fails; empty for nothing."""
        if self._settings.server is not None:
            return self.tr("T&ranslate on this computer") if self.has_model else ""
        bundled = self._bundled_language()
        if not bundled or self._settings.launch.model or not self._settings.preferences.model:
            return ""
        return self.tr("&Use {} instead").format(language_name(bundled))

    def _bundled_language(self) -> str:
        known, stored = bundled_languages(), self._settings.preferences.translation.language
        return stored if stored in known else next(iter(known), "")
