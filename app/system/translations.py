"""The language of the windows: English as written, or what ``assets/languages`` has a file for.

Messages of the engine are translated by their codes; names of models and adapters stay as they are.
"""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QLibraryInfo, QLocale, QTranslator

from engine.errors import SurtitleError
from engine.messages import Message

LANGUAGES = ("en", "de")


def worded(message: Message) -> str:
    """Return the sentence of a message in the language of the windows; on any thread."""
    return message.worded(lambda text: QCoreApplication.translate("", text))


def error_text(error: Exception) -> str:
    """Return the sentence of an error in the language of the windows; on any thread."""
    return worded(error.message) if isinstance(error, SurtitleError) else str(error)


def choose_language(chosen: str, preferred: list[str]) -> str:
    """Choose a language of ours.

    Args:
        chosen: by the person; ``system`` for the first of the preferred that we have.
        preferred: names of languages as the system has them (de-AT, en-GB), best first.
    """
    if chosen in LANGUAGES:
        return chosen
    known = (name.partition("-")[0] for name in preferred)
    return next((code for code in known if code in LANGUAGES), LANGUAGES[0])


def speak(application: QCoreApplication, chosen: str, folder: Path) -> list[QTranslator]:
    """Let the windows that are made from now on speak a language.

    Args:
        application: that they belong to.
        chosen: as in ``choose_language``.
        folder: with our translations; Qt has its own of the buttons it makes.

    Returns:
        what translates, to be kept while the program runs.
    """
    code = choose_language(chosen, QLocale.system().uiLanguages())
    qt_folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
    translators = []
    for path in (f"{qt_folder}/qtbase_{code}.qm", str(folder / f"surtitle_{code}.qm")):
        translator = QTranslator(application)
        if translator.load(path):
            application.installTranslator(translator)
            translators.append(translator)
    return translators
