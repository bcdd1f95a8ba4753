"""A model without ``surtitle.json``: any instruct model can be asked to translate.

How it is asked is the same for a person who just wants captions and for one who trains an adapter
on it. It knows no slots, no policies and no markers, so it is translated anew with every word
(``engine.translation.retranslator``) until an adapter sits on it.
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.models.model_card import FILE_NAME, Language, ModelCard

ASKED = "Translate the {source} text into {language}. Answer with the translation and nothing else."
"""The system message where nobody wrote another one."""

LANGUAGE_NAMES: Mapping[str, str] = {
    "ar": "Arabic",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "el": "Greek",
    "en": "English",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "hi": "Hindi",
    "hu": "Hungarian",
    "it": "Italian",
    "ja": "Japanese",
    "ko": "Korean",
    "nl": "Dutch",
    "no": "Norwegian",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "tr": "Turkish",
    "uk": "Ukrainian",
    "zh": "Chinese",
}
"""What languages are called when a model is asked; the two-letter codes of ISO 639-1."""


def ask_for(codes: Iterable[str], *, text: str = "", source: str = "en") -> dict[str, Language]:
    """Write the system messages of target languages.

    Args:
        codes: two letters each; one that has no name here is called by its code.
        text: the message; ``{language}`` and ``{source}`` become names, ``{code}`` the target's
            code. Empty stands for ``ASKED``.
        source: code of the source language.
    """
    found = dict[str, Language]()
    for code in codes:
        name = LANGUAGE_NAMES.get(code, code)
        names = {"{language}": name, "{code}": code, "{source}": LANGUAGE_NAMES.get(source, source)}
        system = text or ASKED
        for mark, value in names.items():
            system = system.replace(mark, value)
        found[code] = Language(name=name, system=system)
    return found


def is_plain(directory: Path) -> bool:
    """Tell a model folder that says nothing of itself from one that does, and from none."""
    return (directory / "config.json").is_file() and not (directory / FILE_NAME).exists()


def plain_card(directory: Path) -> ModelCard:
    """Say how to speak to such a model: by its chat template, with the token that ends its turns.

    The target stands right behind the source: nothing else was ever shown to it.
    """
    return ModelCard(
        name=directory.resolve().name,
        languages=ask_for(code for code in LANGUAGE_NAMES if code != "en"),
        end_of_source="",
        end_of_write="",
        end_of_target="",
        slot_length=1,
        policies=(),
    )
