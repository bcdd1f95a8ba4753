"""Opens folders and pages with the programs of the desktop."""

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QUrl
from PySide6.QtGui import QDesktopServices


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
