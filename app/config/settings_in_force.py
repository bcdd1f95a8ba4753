"""The settings in force: the command line before the preferences.

A new language, policy or glossary takes effect at once; another model is wanted first, and in force
and stored once it works. The model and the adapter of the command line stay in force until the
program ends; another choice is stored for the next start. A server that is stored translates unless
the command line names a model.
"""

from dataclasses import dataclass, replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.config.messages import AppCode
from app.config.preferences import (
    CAPTIONS_ONLY,
    SOURCE_LANGUAGE,
    LaunchSettings,
    Preferences,
    PreferencesFile,
    ServerPreferences,
)
from app.config.translations import worded
from engine.errors import message_of
from engine.files import write_file
from engine.hub.catalogue import (
    NO_ADAPTER,
    bundled_languages,
    suited_speech_model,
)
from engine.messages import Message
from engine.models.resolve import STANDARD_POLICY, suited_policy
from engine.settings import ServerSettings, TranslationSettings

MOST_TOKEN = 200
"""Characters."""

PATIENCE_S = 5.0
"""Without an answer of a server; a window then says so, and keeps what waits for the next try."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """A model with its languages.

    Attributes:
        model: as the preferences store it: a folder, a name on the hub, or None for the bundled
            one.
        language: code of the target language.
        source: code of what is spoken.
        accepts_licence: its licence forbids commercial use, and that is accepted.
        server: translates instead, by a model of its own; None for this computer.
    """

    model: Path | None
    language: str
    source: str = SOURCE_LANGUAGE
    accepts_licence: bool = False
    server: ServerSettings | None = None


def for_window(server: ServerSettings) -> ServerSettings:
    """Return a server as a window asks it: that follows its language, and tries again itself."""
    return replace(server, takes_any_language=True, patience_s=PATIENCE_S)


def read_token(path: Path) -> str:
    """Return the token; empty where there is none that can be used."""
    try:
        with path.open("rb") as file:
            token = file.read(MOST_TOKEN + 2).decode("ascii").strip()
    except (OSError, UnicodeError):
        return ""  # the server says that it does not know it
    return token if is_token(token) else ""


def is_token(text: str) -> bool:
    return len(text) <= MOST_TOKEN and text.isascii() and text.isprintable()


def write_token(path: Path, token: str) -> Message | None:
    """Store a token; return a message for the user if that failed."""
    if token == read_token(path):
        return None
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_file(path, f"{token}\n")
    except OSError as error:
        return AppCode.SETTINGS_UNWRITABLE(path=str(path), reason=message_of(error))
    return None


class SettingsInForce(QObject):
    """Own the settings in force and the preferences; store each change.

    Signals:
        preferences_changed(Preferences, Preferences): the previous and the new preferences.
        translation_changed(TranslationSettings): in force from the next passage on.
        language_changed(str): language of the captions from the next passage on.
        model_wanted(ModelChoice): another model shall be used, by ``adopt_model`` once it works.
        failed(str): the preferences could not be stored, but are in force.

    Attributes:
        notice: a message for the user if the stored preferences could not be read.
        translation: languages, policy and glossary in force.
        server: translates; None for this computer.
        model_works: the model in force has not failed.
        adapter_in_use: name of the adapter that translates; None for the bare model.
    """

    preferences_changed = Signal(object, object)
    translation_changed = Signal(object)
    language_changed = Signal(str)
    model_wanted = Signal(object)
    failed = Signal(str)

    def __init__(self, launch: LaunchSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.launch = launch
        self._file = PreferencesFile(launch.preferences_file)
        self._preferences, self.notice = self._file.read()
        stored = self._preferences.translation
        self.translation = TranslationSettings(
            target_language=launch.language or stored.language,
            source_language=stored.source if launch.model is None else SOURCE_LANGUAGE,
            policy=launch.policy or stored.policy or STANDARD_POLICY,
        )
        is_remote = self._preferences.server.in_use and launch.model is None
        self.server = self.known_server if is_remote else None
        self.adapter_in_use: str | None = None
        self.model_works = True
        self._policy = launch.policy or stored.policy  # chosen; empty for no choice
        self._makes_drafts: bool | None = None  # of the model; None before it is loaded

    @property
    def preferences(self) -> Preferences:
        return self._preferences

    @property
    def model(self) -> Path | None:
        """Folder of the model, or its name on the hub; None for the bundled one."""
        return self.launch.model or self._preferences.model

    @property
    def known_server(self) -> ServerSettings | None:
        """The server that is stored, whether it is in use or not; None without one."""
        stored = self._preferences.server
        if not stored.address:
            return None
        return for_window(
            ServerSettings(
                address=stored.address,
                token=read_token(self._token_file),
                certificate=stored.certificate,
            )
        )

    @property
    def _token_file(self) -> Path:
        return self.launch.data_folder / "server-token"

    @property
    def accepts_licence(self) -> bool:
        """Whether a licence of the model is accepted that forbids commercial use."""
        return self.model is not None and self.model == self._preferences.accepted

    @property
    def recognizer(self) -> str:
        """The chosen speech model, or its like that understands what is spoken."""
        chosen = self._preferences.listening.recognizer
        return suited_speech_model(chosen, self.translation.source_language)

    @property
    def adapter(self) -> Path | str:
        """Folder or name of the chosen adapter, ``NO_ADAPTER`` or empty for no choice."""
        name = NO_ADAPTER if self.launch.no_adapter else self._preferences.translation.adapter
        return self.launch.adapter or name

    @property
    def mode(self) -> str:
        return self._preferences.captions.mode

    @property
    def timing(self) -> str:
        """The chosen policy as the model follows it; empty where the model's standard is used."""
        return self.translation.policy if self._policy else ""

    @property
    def translates(self) -> bool:
        return self.mode != CAPTIONS_ONLY

    @property
    def languages(self) -> tuple[str, str]:
        """Codes of the languages of what is said and of the captions."""
        spoken, target = self.translation.source_language, self.translation.target_language
        return spoken, target if self.translates else spoken

    def keep(self) -> None:
        """Store the preferences, so that the next start is not a first run."""
        failure = self._file.write(self._preferences)
        if failure is not None:
            self.failed.emit(worded(failure))

    def choose(self, preferences: Preferences) -> None:
        """Use and store other preferences."""
        before = self._preferences
        if preferences == before:
            return
        self._preferences = preferences
        failure = self._file.write(preferences)
        policy = preferences.translation.policy
        if policy != before.translation.policy:
            self._use_policy(policy)
        self.preferences_changed.emit(before, preferences)
        if failure is not None:
            self.failed.emit(worded(failure))

    def change(self, page: str, **values: object) -> None:
        """Use and store other values on a page of the preferences, as ``choose`` does.

        Args:
            page: name of the field of ``Preferences``, for example ``overlay``.
            values: by their names on that page.
        """
        stored = getattr(self._preferences, page)
        self.choose(replace(self._preferences, **{page: replace(stored, **values)}))

    @Slot(str)
    def choose_language(self, code: str) -> None:
        self._translate(replace(self.translation, target_language=code))
        self.change("translation", language=code)

    @Slot(str)
    def choose_policy(self, policy: str) -> None:
        self._use_policy(policy)
        self.change("translation", policy=policy)

    def suit_policy(self, *, makes_drafts: bool) -> None:
        """Use the chosen policy as the loaded model can follow it, or its standard one."""
        self._makes_drafts = makes_drafts
        self._use_policy(self._policy)

    @Slot(str)
    def choose_mode(self, mode: str) -> None:
        self.change("captions", mode=mode)

    def choose_adapter(self, name: str) -> None:
        """Store an adapter for the next start, by its name or as ``NO_ADAPTER``."""
        self.change("translation", adapter=name)

    def accept_licence(self) -> None:
        self.choose(replace(self._preferences, accepted=self.model))

    def choose_model(self, choice: ModelChoice) -> bool:
        """Choose another model and its languages.

        Languages of the model in use take effect at once; another model is wanted first.

        Returns:
            whether the model is in force, or will be; if not, the command line named another one.
        """
        now = self._preferences
        is_accepted = not choice.accepts_licence or choice.model == now.accepted
        is_moved = choice.server != self.server
        is_same = choice.model == now.model and is_accepted and self.model_works and not is_moved
        if choice.model is None and choice.server is None:  # each bundled one knows its own
            known = bundled_languages()
            languages = choice.language, self.translation.target_language
            is_same = is_same and len({known.get(code) for code in languages}) == 1
        if is_same or (self.launch.model is not None and not is_moved):
            self.adopt_model(choice)
            return is_same
        self.model_wanted.emit(choice)
        return True

    def adopt_model(self, choice: ModelChoice) -> None:
        """Use and store a model or a server that works, and its languages."""
        before = self._preferences
        stored = replace(before.translation, language=choice.language, source=choice.source)
        accepted = choice.model if choice.accepts_licence else before.accepted
        is_moved = choice.server != self.server
        is_named = self.launch.model is not None and choice.model == self.launch.model
        model = before.model if is_moved and is_named else choice.model
        server = self._stored(choice.server)
        self.server = choice.server
        self.choose(
            replace(before, model=model, accepted=accepted, translation=stored, server=server)
        )
        self._translate(
            replace(
                self.translation,
                target_language=self.launch.language or choice.language,
                source_language=choice.source if self.launch.model is None else SOURCE_LANGUAGE,
            )
        )

    def _stored(self, server: ServerSettings | None) -> ServerPreferences:
        """Return how the preferences store a server; None leaves the one that is known unused."""
        if server is None:
            return replace(self._preferences.server, in_use=False)
        failure = write_token(self._token_file, server.token)
        if failure is not None:
            self.failed.emit(worded(failure))
        return ServerPreferences(
            in_use=True, address=server.address, certificate=server.certificate
        )

    def use_known_language(self, code: str) -> None:
        """Translate into a language, since the one that is stored is not known; that one stays."""
        self._translate(replace(self.translation, target_language=code))

    def use_language(self, code: str) -> None:
        """Set the language for the model about to be loaded, without storing it."""
        self.translation = replace(self.translation, target_language=code)

    def use_glossary(self, terms: tuple[tuple[str, str], ...]) -> None:
        self._translate(replace(self.translation, glossary=terms))

    def _use_policy(self, policy: str) -> None:
        self._policy = policy
        if self._makes_drafts is None:
            suited = policy or STANDARD_POLICY
        else:
            suited = suited_policy(policy, makes_drafts=self._makes_drafts)
        self._translate(replace(self.translation, policy=suited))

    def _translate(self, translation: TranslationSettings) -> None:
        before, self.translation = self.translation, translation
        if translation != before:
            self.translation_changed.emit(translation)
        if translation.target_language != before.target_language:
            self.language_changed.emit(translation.target_language)
