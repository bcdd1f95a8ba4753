"""Finds languages without a font on this computer: their captions would be rows of boxes."""

from PySide6.QtGui import QFontDatabase

_Script = QFontDatabase.WritingSystem
_SCRIPTS = (
    {"ar": _Script.Arabic, "fa": _Script.Arabic, "ps": _Script.Arabic, "ur": _Script.Arabic}
    | dict.fromkeys(("be", "bg", "kk", "mk", "mn", "ru", "sr", "uk"), _Script.Cyrillic)
    | {"el": _Script.Greek, "he": _Script.Hebrew, "hy": _Script.Armenian, "ka": _Script.Georgian}
    | {"hi": _Script.Devanagari, "mr": _Script.Devanagari, "ne": _Script.Devanagari}
    | {"bn": _Script.Bengali, "gu": _Script.Gujarati, "kn": _Script.Kannada, "ta": _Script.Tamil}
    | {"te": _Script.Telugu, "ml": _Script.Malayalam, "pa": _Script.Gurmukhi}
    | {"ja": _Script.Japanese, "ko": _Script.Korean, "zh": _Script.SimplifiedChinese}
    | {"km": _Script.Khmer, "lo": _Script.Lao, "my": _Script.Myanmar, "th": _Script.Thai}
    | {"vi": _Script.Vietnamese}
)
"""The script of a language; other languages are Latin or unknown."""


def lacks_font(language: str) -> bool:
    """Return whether no font has the script of a language, for example ``ar`` or ``zh-Hant``."""
    script = _SCRIPTS.get(language.partition("-")[0].lower())
    return script is not None and not QFontDatabase.families(script)
