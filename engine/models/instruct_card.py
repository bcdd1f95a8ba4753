"""The card of a model without ``surtitle.json``: any instruct model can be asked to translate.

Live captions and the training of adapters use the same prompt. Such a model has no slots, policies
or markers, so without an adapter the text is re-translated with every word
(``engine.translation.retranslator``).
"""

from collections.abc import Iterable, Mapping
from pathlib import Path

from engine.messages import tr
from engine.models.model_card import FILE_NAME, Language, ModelCard
from engine.untrusted.safe_names import model_name

ASKED = "Translate the {source} text into {language}. Answer with the translation and nothing else."
"""The default system message."""

LANGUAGE_NAMES: Mapping[str, str] = {
    "ar": tr("Arabic"),
    "cs": tr("Czech"),
    "da": tr("Danish"),
    "de": tr("German"),
    "el": tr("Greek"),
    "en": tr("English"),
    "es": tr("Spanish"),
    "fi": tr("Finnish"),
    "fr": tr("French"),
    "hi": tr("Hindi"),
    "hu": tr("Hungarian"),
    "it": tr("Italian"),
    "ja": tr("Japanese"),
    "ko": tr("Korean"),
    "nl": tr("Dutch"),
    "no": tr("Norwegian"),
    "pl": tr("Polish"),
    "pt": tr("Portuguese"),
    "ro": tr("Romanian"),
    "ru": tr("Russian"),
    "sv": tr("Swedish"),
    "tr": tr("Turkish"),
    "uk": tr("Ukrainian"),
    "zh": tr("Chinese"),
}
"""Names of languages in prompts, by the two-letter codes of ISO 639-1."""


def ask_for(codes: Iterable[str], *, text: str = "", source: str = "en") -> dict[str, Language]:
    """Write the system messages of target languages.

    Args:
        codes: two letters each; a code without a name here is its own name.
        text: the message; ``{language}`` and ``{source}`` become names, ``{code}`` the target's
            code. Empty for ``ASKED``.
        source: code of the source language.
    """
    languages = dict[str, Language]()
    for code in codes:
        name = LANGUAGE_NAMES.get(code, code)
        names = {"{language}": name, "{code}": code, "{source}": LANGUAGE_NAMES.get(source, source)}
        system = text or ASKED
        for mark, value in names.items():
            system = system.replace(mark, value)
        languages[code] = Language(name=name, system=system)
    return languages


def is_plain(directory: Path) -> bool:
    """Return whether this is a model folder without a card."""
    return (directory / "config.json").is_file() and not (directory / FILE_NAME).exists()


def plain_card(directory: Path) -> ModelCard:
    """Return a card for such a model: its chat template, and the token that ends its turns.

    The target follows the source directly, as in the training of such models.
    """
    return ModelCard(
        name=model_name(directory),
        languages=ask_for(code for code in LANGUAGE_NAMES if code != "en"),
        end_of_source="",
        end_of_write="",
        end_of_target="",
        slot_length=1,
        policies=(),
    )
