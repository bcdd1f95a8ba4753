"""Languages by their codes, in the language of the windows."""

from PySide6.QtCore import QCoreApplication


def language_name(code: str, otherwise: str = "") -> str:
    """Return the name of a language, else ``otherwise``, else its code."""
    return language_names().get(code) or otherwise or code


def language_names() -> dict[str, str]:
    """Return the names of the known languages by code, sorted by name."""
    named = {
        "ar": QCoreApplication.translate("Languages", "Arabic"),
        "cs": QCoreApplication.translate("Languages", "Czech"),
        "da": QCoreApplication.translate("Languages", "Danish"),
        "de": QCoreApplication.translate("Languages", "German"),
        "el": QCoreApplication.translate("Languages", "Greek"),
        "en": QCoreApplication.translate("Languages", "English"),
        "es": QCoreApplication.translate("Languages", "Spanish"),
        "fi": QCoreApplication.translate("Languages", "Finnish"),
        "fr": QCoreApplication.translate("Languages", "French"),
        "hi": QCoreApplication.translate("Languages", "Hindi"),
        "hu": QCoreApplication.translate("Languages", "Hungarian"),
        "it": QCoreApplication.translate("Languages", "Italian"),
        "ja": QCoreApplication.translate("Languages", "Japanese"),
        "ko": QCoreApplication.translate("Languages", "Korean"),
        "nl": QCoreApplication.translate("Languages", "Dutch"),
        "no": QCoreApplication.translate("Languages", "Norwegian"),
        "pl": QCoreApplication.translate("Languages", "Polish"),
        "pt": QCoreApplication.translate("Languages", "Portuguese"),
        "ro": QCoreApplication.translate("Languages", "Romanian"),
        "ru": QCoreApplication.translate("Languages", "Russian"),
        "sv": QCoreApplication.translate("Languages", "Swedish"),
        "tr": QCoreApplication.translate("Languages", "Turkish"),
        "uk": QCoreApplication.translate("Languages", "Ukrainian"),
        "zh": QCoreApplication.translate("Languages", "Chinese"),
    }
    return dict(sorted(named.items(), key=lambda item: item[1].casefold()))
