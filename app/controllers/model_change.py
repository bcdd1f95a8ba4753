"""Changes the model, or the computer that has it: what works stays in use until the new one works.

The new model is fetched, verified, converted and loaded beside the one in use, whose captions go
on; then it takes over, and only then it is stored. A server is asked beside it, too. If memory has
no room for two, which is found out when all files are here, the old one is unloaded first, and
loaded again if the new one fails.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.captions.models import hub_name
from app.config.preferences import TRANSLATE, LaunchSettings
from app.config.settings_in_force import ModelChoice, SettingsInForce
from app.config.translations import worded
from app.look.widgets.dialog_text import as_sentence
from app.look.widgets.names import language_name
from app.main_window.banner import Banner, DownloadBar
from app.session.engine_bridge import EngineBridge
from engine.errors import ModelError
from engine.events import Event, Failed, LoadProgress
from engine.hub.catalogue import suited_model
from engine.messages import Code, Message
from engine.models.encoder_decoder.original import is_encoder_decoder, model_record
from engine.models.model_card import ModelCard, read_card
from engine.settings import ModelSettings, ServerSettings
from engine.untrusted.faults import is_damage
from engine.untrusted.plain_files import folder_of

_LICENCE = "accept licence"  # the notice of one that forbids commercial use
_LANGUAGE = "language of the captions"  # the notice of it

_NO_ROOM = (
    Code.NO_ROOM_FOR_TWO,
    Code.OUT_OF_MEMORY,
    Code.TOO_LARGE_CLOSE,
    Code.TOO_LARGE_INSTEAD,
    Code.TOO_LARGE,
)


class ModelChange(QObject):
    """Prepare a model, and put it in force once it works.

    Signals:
        licence_accepted(): the user accepts the licence of the model that failed for it.

    Attributes:
        failed: the choice that failed last, until it is tried again or given up.
        is_alone: the old model was unloaded, since two have no room.
        is_taking_over: the settings are being changed to the new model, which is loaded already.
    """

    licence_accepted = Signal()

    def __init__(
        self, settings: SettingsInForce, bridge: EngineBridge, banner: Banner, bar: DownloadBar
    ) -> None:
        super().__init__(banner)
        self._settings, self._bridge = settings, bridge
        self._banner, self._bar = banner, bar
        self._choice: ModelChoice | None = None
        self.failed: ModelChoice | None = None
        self.is_alone = self.is_taking_over = False
        self._failure: Message | None = None
        self._mends = False
        self._card: ModelCard | None = None  # of the model that is prepared
        bridge.next_came.connect(self._take)
        bridge.taking_over.connect(self._take_over)
        bar.cancel.clicked.connect(self.forget)

    def begin(self, choice: ModelChoice) -> None:
        """Load a model beside the one in use; if its files were damaged, they are fetched again."""
        failure = self._failure if choice == self.failed else None
        self._mends = failure is not None and is_damage(failure)
        self.forget()
        self._choice = choice
        self.show_loaded()
        self._show_stage(self._first_stage(choice), None)
        self._load(choice, is_second=self._bridge.is_running)

    def _first_stage(self, choice: ModelChoice) -> str:
        if choice.server is None:
            return self.tr("Starting the translation")
        return self.tr("Connecting to {}").format(server_name(choice.server.address))

    @property
    def is_under_way(self) -> bool:
        return self._choice is not None

    @Slot()
    def forget(self) -> None:
        """Change nothing any more; the model in use stays."""
        self._bridge.drop_next()
        self._choice = self.failed = self._failure = None
        self.is_alone = False
        self._bar.hide()

    def finish(self) -> None:
        choice, self._choice = self._choice, None
        self.is_alone = False
        self._bar.hide()
        if choice is None:
            return
        self._banner.withdraw(_LANGUAGE)  # of the model before
        if self._card is not None and choice.language not in self._card.languages:
            names = {code: language.name for code, language in self._card.languages.items()}
            code = self.show_unknown(self._card.name, choice.language, names)
            choice = replace(choice, language=code)
        self.is_taking_over = True
        self._settings.adopt_model(choice)
        if not self._settings.translates:
            self._settings.choose_mode(TRANSLATE)  # nobody chooses a translator for nothing
        self.is_taking_over = False

    def show_unknown(self, model: str, wanted: str, names: Mapping[str, str]) -> str:
        """Show that a model does not know a language; return the first that it knows by name."""
        code, name = next(iter(names.items()))
        text = self.tr("The model {} does not know the language {}; the captions are in {}")
        sentence = text.format(model, language_name(wanted), language_name(code, name))
        self._banner.show_offer(sentence, _LANGUAGE)
        return code

    def show_loaded(self) -> None:
        """Hide progress and failure, and the notice of a model that did not come."""
        if not self._bridge.is_running:
            self._banner.withdraw(_LANGUAGE)
        self._banner.show_loaded()

    def fail(self, message: Message) -> None:
        """Report why the new model is not used; offer to try again, or to stay with the old one."""
        self.failed, self._choice = self._choice or self.failed, None
        self.is_alone = False
        self._bar.hide()
        is_here = self.failed is None or self.failed.server is None
        if is_here and message.code is Code.LICENCE_FORBIDS_COMMERCE:
            self.offer_licence(message)
        else:
            self._failure = message
            self.show_failure()

    def offer_licence(self, message: Message) -> None:
        """Show that a licence forbids commercial use, and offer to accept that."""
        accept = self.tr("Not used c&ommercially"), self.licence_accepted.emit
        self._banner.show_offer(worded(message), _LICENCE, accept)

    def show_failure(self) -> None:
        """Show the last failure, if nobody has answered it yet."""
        if self._failure is None:
            return
        language = language_name(self._settings.translation.target_language)
        text = as_sentence(worded(self._failure))
        if self._bridge.is_running and self._settings.translates:
            goes_on = self.tr("Captions go on in {}.").format(language)
            text = f"{text} {goes_on}"
        is_model = self.failed is None or self.failed.server is None
        way_back = self.tr("&Stay with {}").format(language)
        self._banner.show_failure(text, way_back, is_model=is_model)

    def _load(self, choice: ModelChoice, *, is_second: bool) -> None:
        model = choice.server or model_settings(
            choice.model,
            self._settings.launch,
            accepts_licence=choice.accepts_licence,
            language=choice.language,
            is_second=is_second,
        )
        if model is None:
            return
        if isinstance(model, ModelSettings):
            model = replace(model, mends=self._mends)
        card = self._card = None if isinstance(model, ServerSettings) else card_of(model)
        language = choice.language
        if card is not None and language not in card.languages:
            language = next(iter(card.languages))
        translation = replace(
            self._settings.translation,
            target_language=language,
            source_language=choice.source,
            glossary=(),
        )
        load = self._bridge.start if self.is_alone else self._bridge.prepare
        load(model, translation)

    @Slot(object)
    def _take(self, event: Event) -> None:
        match event:
            case LoadProgress(message=message, fraction=fraction):
                self._show_stage(worded(message), fraction)
            case Failed(message=message) if self._choice is not None:
                has_no_room = self._choice.server is None and message.code in _NO_ROOM
                if has_no_room and self._bridge.is_running:
                    self._load_alone(self._choice)
                else:
                    self.fail(message)

    def _load_alone(self, choice: ModelChoice) -> None:
        """Unload the model in use, of which all files are here, and load the new one."""
        self._bar.hide()
        self.is_alone = True
        self._load(choice, is_second=False)

    @Slot()
    def _take_over(self) -> None:
        if not self.is_alone:
            self.finish()

    def _show_stage(self, stage: str, fraction: float | None) -> None:
        text = stage
        if self._bridge.is_running and self._settings.translates:
            language = language_name(self._settings.translation.target_language)
            text = self.tr("{}. Captions go on in {} until then.").format(stage, language)
        self._bar.show_stage(text, fraction)


def model_settings(
    model: Path | None,
    launch: LaunchSettings,
    *,
    accepts_licence: bool,
    language: str = "",
    is_second: bool = False,
) -> ModelSettings | None:
    """Return how to load a model as the preferences store it; None if none is bundled.

    Of several bundled ones it is that of the language, else the first.
    """
    if model is None:
        model = suited_model(language)
        if model is None:
            return None
    name = hub_name(model)
    return ModelSettings(
        directory=launch.data_folder / "models" if name else model,
        hub_name=name,
        device=launch.device,
        accepts_licence=accepts_licence,
        is_second=is_second,
    )


def server_name(address: str) -> str:
    """Return the name of a server for people: its address without ``https://``."""
    return address.partition("://")[2].rstrip("/") or address


def model_folder(model: ModelSettings) -> Path:
    """Return the folder that a model has, or will have once it is fetched."""
    return model.directory / folder_of(model.hub_name) if model.hub_name else model.directory


def card_of(model: ModelSettings) -> ModelCard | None:
    """Return the card of a model; None if it cannot be read, which the session reports."""
    folder = model_folder(model)
    try:
        return model_record(folder).card if is_encoder_decoder(folder) else read_card(folder)
    except ModelError:
        return None
