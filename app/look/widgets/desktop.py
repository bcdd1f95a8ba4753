"""The desktop around the windows: screen readers, other programs, fonts, file dialogs.

File dialogs open in the folder used last, at first among documents or downloads; those of a topic,
as exports are one, have a folder of their own.
"""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QStandardPaths, QUrl
from PySide6.QtGui import QAccessible, QAccessibleAnnouncementEvent, QDesktopServices, QFontDatabase
from PySide6.QtWidgets import QFileDialog, QWidget


def announce(widget: QWidget, sentence: str) -> None:
    """Let screen readers say a sentence once they have finished the one before."""
    QAccessible.updateAccessibility(QAccessibleAnnouncementEvent(widget, sentence))


def open_folder(folder: Path) -> str:
    """Show a folder; return a sentence for the user if that is not possible, or an empty text."""
    if not folder.is_dir():
        told = QCoreApplication.translate("DesktopLinks", "There is no folder {} yet")
        return told.format(folder)
    return _opened(QUrl.fromLocalFile(str(folder)), str(folder))


def open_page(address: str) -> str:
    """Show a page in the browser; return as ``open_folder`` does."""
    return _opened(QUrl(address), address)


def _opened(url: QUrl, name: str) -> str:
    if QDesktopServices.openUrl(url):
        return ""
    told = QCoreApplication.translate(
        "DesktopLinks", "Your desktop has no program that opens it; it is {}"
    )
    return told.format(name)


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


_Places = QStandardPaths.StandardLocation
_LAST = "surtitle last folder"  # a property of the application, while it runs


def ask_save(
    parent: QWidget, title: str, name: str, kinds: str = "", *, topic: str = ""
) -> Path | None:
    """Ask for a file to write; None if the user cancels.

    Args:
        parent: the dialog belongs to its window, which keeps it inside the screen.
        name: suggested name of the file; one that is typed without an ending gets the same.
        kinds: filter of file names, as Qt writes it.
        topic: dialogs of the same one open where its last file was.
    """
    place = str(last_folder(topic) / name)
    path, _ = QFileDialog.getSaveFileName(parent.window(), title, place, kinds)
    typed = _remembered(path, topic)
    if typed is None or typed.suffix or not Path(name).suffix:
        return typed
    whole = typed.with_suffix(Path(name).suffix)
    # the dialog has not asked whether this one may be replaced
    if whole.exists():
        return ask_save(parent, title, whole.name, kinds, topic=topic)
    return whole


def ask_open(parent: QWidget, title: str, kinds: str = "") -> Path | None:
    """Ask for a file to read, like ``ask_save``."""
    path, _ = QFileDialog.getOpenFileName(parent.window(), title, str(last_folder()), kinds)
    return _remembered(path)


def ask_folder(parent: QWidget, title: str) -> Path | None:
    """Ask for a folder, like ``ask_save``; what is in it was downloaded, most of all."""
    place = str(last_folder(first=_Places.DownloadLocation))
    return _remembered(QFileDialog.getExistingDirectory(parent.window(), title, place))


def last_folder(topic: str = "", first: _Places = _Places.DocumentsLocation) -> Path:
    """Return the folder of the next dialog of a topic; ``first`` where there was none before."""
    application = QCoreApplication.instance()
    last = None if application is None else application.property(_LAST + topic)
    for folder in (last, QStandardPaths.writableLocation(first)):
        if isinstance(folder, str) and Path(folder).is_dir():
            return Path(folder)
    return Path.home()


def forget_folder(topic: str = "") -> None:
    """Let the next dialog of a topic open in the documents folder: the last file failed there."""
    application = QCoreApplication.instance()
    if application is not None:
        application.setProperty(_LAST + topic, None)


def _remembered(path: str, topic: str = "") -> Path | None:
    if not path:
        return None
    application = QCoreApplication.instance()
    if application is not None:
        application.setProperty(_LAST + topic, str(Path(path).parent))
    return Path(path)
