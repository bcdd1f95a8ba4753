"""Which speech model is chosen, which one is known to work, and the way back to it."""

from dataclasses import dataclass
from pathlib import Path

from app.config.settings_in_force import SettingsInForce
from engine.messages import Message
from engine.models.model_card import translates_sound
from engine.untrusted.faults import is_damage


def can_mend(recognizer: str, message: Message) -> bool:
    """Return whether a model failed for what its files are, and is one of the hub."""
    return is_damage(message) and not Path(recognizer).is_dir()


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """The choice in the settings.

    Attributes:
        preference: the speech model that is stored.
        recognizer: it, or its like that understands the language.
        language: code of what is spoken.
    """

    preference: str
    recognizer: str
    language: str


class RecognizerChoice:
    """Follow the settings; a model that cannot be used is not left in them while another one works.

    Attributes:
        wish: a model that was chosen and is not on this computer; empty for none.
    """

    def __init__(self, settings: SettingsInForce) -> None:
        self._settings = settings
        self._now = self._chosen
        self._here: _Choice | None = None  # the newest that is on this computer
        self._proven: _Choice | None = None  # the newest that was loaded
        self.wish = ""

    @property
    def recognizer(self) -> str:
        return self._now.recognizer

    @property
    def language(self) -> str:
        return self._now.language

    @property
    def instead(self) -> str:
        """The model to listen with if the chosen one cannot be loaded; empty for none."""
        proven = self._proven
        if proven is None or proven.language != self.language:
            return ""
        if translates_sound(Path(proven.recognizer)):
            return ""  # a session that reads words is there by then
        return "" if proven.recognizer == self.recognizer else proven.recognizer

    def follow(self) -> bool:
        """Read the settings; return whether another model or language is chosen."""
        before, self._now = self._now, self._chosen
        if self._now == before:
            return False
        self.wish = ""
        return (self._now.recognizer, self._now.language) != (before.recognizer, before.language)

    def see_here(self) -> None:
        self._here = self._now

    def see_loaded(self) -> None:
        self._here = self._proven = self._now

    def go_back(self) -> bool:
        """Choose again the model before; return False if there is none.

        One that translates sound is given up for good: who chose another did not want it, or it
        failed.
        """
        one = self._proven if self._here == self._now else self._here
        if one is None or one.preference == self._now.preference:
            return False
        if translates_sound(Path(one.recognizer)):
            return False
        self._now = self._here = one  # before the change is emitted, so that nothing restarts
        self._settings.change("listening", recognizer=one.preference)
        return True

    @property
    def _chosen(self) -> _Choice:
        settings = self._settings
        return _Choice(
            preference=settings.preferences.listening.recognizer,
            recognizer=settings.recognizer,
            language=settings.translation.source_language,
        )
