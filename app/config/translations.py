"""The language of the windows, one with a file in ``assets/languages``; English has plurals there.

Messages of the engine are translated by their codes; names of models and adapters stay as they are.
The detail of a fault is English and left out: the log has it.
"""

import functools
import logging
import re
import string
from collections.abc import Mapping
from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from app.config.messages import AppCode
from engine.errors import SurtitleError
from engine.files import ByteCount
from engine.messages import Message

LANGUAGES = ("en", "de")
_DETAIL = re.compile(r" \(\w+: \{detail\}\)$")  # the end of a template, in any language
_log = logging.getLogger(__name__)


class _Filler(string.Formatter):
    """Fills in a template; sizes, and numbers with a form, get the points of the user's country."""

    def format_field(self, value: object, format_spec: str) -> str:
        text = format(value, format_spec)
        is_number = isinstance(value, int | float)
        if not is_number or not (format_spec or isinstance(value, ByteCount)):
            return text
        group, point = QLocale().groupSeparator(), QLocale().decimalPoint()
        return text.translate({ord(","): group, ord("."): point})


def filled(template: str, *values: object) -> str:
    """Fill in a translated template as ``str.format`` does, numbers as in the user's country."""
    return _Filler().vformat(template, values, {})


def worded(message: Message | str) -> str:
    """Return the sentence of a message in the language of the windows; on any thread.

    It has no detail, which goes into the log.
    """
    if isinstance(message, str):
        return message
    left_out = list[str]()

    def translated(text: str) -> str:
        whole = QCoreApplication.translate("", text)
        plain = _DETAIL.sub("", whole)
        if plain != whole:
            left_out.append(text)
        return plain

    sentence = message.worded(
        translated, lambda template, values: _Filler().vformat(template, (), values)
    )
    if left_out:
        _log_once(str(message))
    return sentence


def worded_note(seconds: float) -> str:
    """Return the sentence where so many seconds have no caption, in the language of the windows."""
    return worded(AppCode.LEFT_OUT(seconds=max(1, round(seconds))))


@functools.lru_cache(maxsize=64)
def _log_once(sentence: str) -> None:
    """Log a sentence with its detail, which tables word again whenever they are painted."""
    _log.warning("%s", sentence)


def error_text(error: Exception) -> str:
    """Return the sentence of an error in the language of the windows; on any thread."""
    return worded(error.message) if isinstance(error, SurtitleError) else str(error)


def failure_text(line: Mapping[str, object]) -> str:
    """Return the sentence of a failure that a command reported as JSON, as ``error_text`` does."""
    message = Message.from_json(line)
    return str(line.get("message")) if message is None else worded(message)


def choose_language(chosen: str, preferred: list[str]) -> str:
    """Return a language of the windows.

    Args:
        chosen: a language, or ``system`` for the first known one of ``preferred``.
        preferred: languages of the system (de-AT, en-GB), best first.
    """
    if chosen in LANGUAGES:
        return chosen
    known = (name.partition("-")[0] for name in preferred)
    return next((code for code in known if code in LANGUAGES), LANGUAGES[0])


def speak(application: QCoreApplication, chosen: str, folder: Path) -> list[QTranslator]:
    """Translate all windows made from now on; numbers and times are those of the country.

    Args:
        chosen: as in ``choose_language``.
        folder: our translations; Qt has its own for its buttons.

    Returns:
        the translators, to be kept while the program runs.
    """
    system = QLocale.system()
    code = choose_language(chosen, system.uiLanguages())
    language, no_language = QLocale.codeToLanguage(code), QLocale.Language.C
    if system.language() != language and (system.language() != no_language or code != "en"):
        QLocale.setDefault(QLocale(language, system.territory()))
    qt_folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    translators = []
    for path in (f"{qt_folder}/qtbase_{code}.qm", str(folder / f"surtitle_{code}.qm")):
        translator = QTranslator(application)
        if translator.load(path):
            application.installTranslator(translator)
            translators.append(translator)
    return translators
