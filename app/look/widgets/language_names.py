"""Languages by their codes, in the language of the windows."""

from PySide6.QtCore import QCoreApplication

from engine.models.model_card import LANGUAGE_NAMES


def language_name(code: str, otherwise: str = "") -> str:
    """Return the name of a language, else ``otherwise``, else its code."""
    return language_names().get(code) or otherwise or code


def language_names() -> dict[str, str]:
    """Return the names of the known languages by code, sorted by name."""
    named = {code: QCoreApplication.translate("", name) for code, name in LANGUAGE_NAMES.items()}
    return dict(sorted(named.items(), key=lambda item: item[1].casefold()))
