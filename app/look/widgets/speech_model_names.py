"""Names of speech models in words: those that are offered, else their own."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication

from engine.hub.catalogue import MOONSHINE, SPEECH_CHOICES, STREAMING_MODELS
from engine.messages import tr
from engine.models.model_card import translates_sound

_WORDS = (tr("Fast"), tr("Balanced"), tr("Accurate"))
_AT_ONCE = tr("At once")
_INCLUDED = tr("Included")
_STRAIGHT = tr("Straight from the sound")


def speech_words(recognizer: str) -> str:
    """Return the words before the name of a speech model, as *At once*; empty for none."""
    if Path(recognizer).is_absolute() and translates_sound(Path(recognizer)):
        return QCoreApplication.translate("", _STRAIGHT)
    if recognizer == MOONSHINE:
        return QCoreApplication.translate("", _INCLUDED)
    if recognizer in STREAMING_MODELS:
        return QCoreApplication.translate("", _AT_ONCE)
    names = [choice.name for choice in SPEECH_CHOICES]
    if recognizer not in names:
        return ""
    return QCoreApplication.translate("", _WORDS[names.index(recognizer)])


def speech_id(recognizer: str) -> str:
    """Return the name of a speech model, of a folder its last part."""
    return Path(recognizer).name if Path(recognizer).is_absolute() else recognizer


def speech_name(recognizer: str) -> str:
    words, name = speech_words(recognizer), speech_id(recognizer)
    return f"{words} ({name})" if words else name
