"""The settings in force: the command line's, and the preferences where it says nothing.

A language, a policy and a glossary that are chosen while the program runs are in force at once. The
model and the adapter of the command line stay until the program ends; what is chosen instead of
them is stored for the next start.
"""

from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot

from app.config.launch_settings import LaunchSettings
from app.config.preferences import Preferences
from app.config.preferences_file import PreferencesFile
from engine.hub.bundled import NO_ADAPTER
from engine.settings import TranslationSettings


class SettingsInForce(QObject):
    """Hold the settings in force and the preferences; write down each preference that changes.

    Signals:
        preferences_changed(Preferences, Preferences): the preferences before, and those of now.
        translation_changed(TranslationSettings): in force from the next passage on.
        language_changed(str): captions are in this language from the next passage on.
        model_changed(): another model is to be loaded.
        failed(str): the preferences could not be stored; they are in force all the same.

    Attributes:
        launch: what the command line said.
        notice: one sentence, where the stored preferences could not be read.
        translation: language, policy and glossary in force.
        adapter_in_use: name of the adapter that translates; None for the bare model.
    """

    preferences_changed = Signal(object, object)
    translation_changed = Signal(object)
    language_changed = Signal(str)
    model_changed = Signal()
    failed = Signal(str)

    def __init__(self, launch: LaunchSettings, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.launch = launch
        self._file = PreferencesFile(launch.preferences_file)
        self._preferences, self.notice = self._file.read()
        stored = self._preferences.translation
        self.translation = TranslationSettings(
            target_language=launch.language or stored.language,
            policy=launch.policy or stored.policy,
        )
        self.adapter_in_use: str | None = None

    @property
    def preferences(self) -> Preferences:
        """The preferences of now."""
        return self._preferences

    @property
    def model(self) -> Path | None:
        """Folder of the model, or its name on the hub; None for the bundled one."""
        return self.launch.model or self._preferences.model

    @property
    def adapter(self) -> Path | str:
        """The adapter that was asked for: its folder or name; nothing where nobody asked for one.

        ``NO_ADAPTER`` stands for the bare model.
        """
        wanted = NO_ADAPTER if self.launch.no_adapter else self._preferences.translation.adapter
        return self.launch.adapter or wanted

    def keep(self) -> None:
        """Write the preferences down as they are, so that they are there at the next start."""
        failure = self._file.write(self._preferences)
        if failure is not None:
            self.failed.emit(failure)

    def choose(self, preferences: Preferences) -> None:
        """Take other preferences."""
        before = self._preferences
        if preferences == before:
            return
        self._preferences = preferences
        failure = self._file.write(preferences)
        policy = preferences.translation.policy
        if policy != before.translation.policy:
            self._translate(replace(self.translation, policy=policy))
        self.preferences_changed.emit(before, preferences)
        if failure is not None:
            self.failed.emit(failure)

    @Slot(str)
    def choose_language(self, code: str) -> None:
        """Translate into another language."""
        self._translate(replace(self.translation, target_language=code))
        stored = self._preferences.translation
        self.choose(replace(self._preferences, translation=replace(stored, language=code)))

    @Slot(str)
    def choose_policy(self, policy: str) -> None:
        """Translate by another policy."""
        self._translate(replace(self.translation, policy=policy))
        stored = self._preferences.translation
        self.choose(replace(self._preferences, translation=replace(stored, policy=policy)))

    def choose_adapter(self, name: str) -> None:
        """Store an adapter for the next start, by its name or as ``NO_ADAPTER``."""
        stored = self._preferences.translation
        self.choose(replace(self._preferences, translation=replace(stored, adapter=name)))

    def choose_model(self, model: Path | None, language: str) -> bool:
        """Take another model, and the language that it shall translate into.

        Returns:
            whether this model is in force, and not another one that the command line named.
        """
        before = self._preferences
        stored = replace(before.translation, language=language)
        self.choose(replace(before, model=model, translation=stored))
        language = self.launch.language or language
        translation = replace(self.translation, target_language=language)
        if model == before.model or self.launch.model is not None:
            self._translate(translation)
            return model == before.model
        self.translation = translation  # the model before may not know the language
        self.model_changed.emit()
        return True

    def use_language(self, code: str) -> None:
        """Let the model that is about to be loaded translate into this language; not stored."""
        self.translation = replace(self.translation, target_language=code)

    def use_glossary(self, terms: tuple[tuple[str, str], ...]) -> None:
        """Give the model these terms."""
        self._translate(replace(self.translation, glossary=terms))

    def _translate(self, translation: TranslationSettings) -> None:
        before, self.translation = self.translation, translation
        if translation != before:
            self.translation_changed.emit(translation)
        if translation.target_language != before.target_language:
            self.language_changed.emit(translation.target_language)
