"""The About window: version and licences of the program and all its parts."""

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QVBoxLayout,
    QWidget,
)

from app.config.system.versions import LIBRARIES, PROGRAM, licence_of, version_of
from app.look import icons
from app.look.widgets.dialog_text import add_action, close_button, paragraph
from engine.files import ASSETS
from engine.hub.bundled import bundled_adapters, bundled_models

_LICENCE = "Apache-2.0"
_LOGO = 64  # pixels
_HEADER_LINES = 20  # of a card; its licence stands in them


class AboutDialog(QDialog):
    """Name, version and licences.

    Signals:
        help_wanted(): show the help.
    """

    help_wanted = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("About Surtitle"))
        logo = QLabel()
        logo.setPixmap(QIcon(str(ASSETS / "icons" / "surtitle.svg")).pixmap(_LOGO, _LOGO))
        self.name = QLabel(self._name())
        self.name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        font = self.name.font()
        font.setPointSizeF(font.pointSizeF() * 1.4)
        self.name.setFont(font)
        words = QVBoxLayout()
        words.addStretch(1)
        words.addWidget(self.name)
        words.addWidget(
            paragraph(self.tr("Live translated captions on your own computer. Nothing leaves it."))
        )
        words.addStretch(1)
        top = QHBoxLayout()
        top.addWidget(logo)
        top.addLayout(words, 1)
        self.licences = QPlainTextEdit(readOnly=True, tabChangesFocus=True)
        self.licences.setAccessibleName(self.tr("Parts and licences"))
        self.licences.setPlainText("\n".join(self._lines()))
        heading = QLabel(self.tr("&Parts and licences"))
        heading.setBuddy(self.licences)
        self.buttons = close_button()
        self.help = add_action(self.buttons, self.tr("&Help"), self.help_wanted)
        self.buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.addLayout(top)
        column.addWidget(heading)
        column.addWidget(self.licences, 1)
        column.addWidget(self.buttons)
        self.resize(620, 460)

    def _name(self) -> str:
        version = version_of(PROGRAM)
        return f"Surtitle {version}" if version else self.tr("Surtitle, not installed")

    def _lines(self) -> Iterator[str]:
        """Yield the text: a line for each part, and the licence of the icons in full."""
        yield f"Surtitle: {_LICENCE}"
        yield ""
        for folder in bundled_models():
            told = self.tr("Translation model {name}: {licence}")
            yield told.format(name=folder.name, licence=_licence_of_card(folder))
        for folder in bundled_adapters():
            told = self.tr("Adapter {name}: {licence}")
            yield told.format(name=folder.name, licence=_licence_of_card(folder))
        yield self.tr("Icons Lucide: ISC, some MIT (below)")
        yield ""
        unnamed = self.tr("see its package")
        for name in LIBRARIES:
            if version := version_of(name):
                yield f"{name} {version}: {licence_of(name) or unnamed}"
        yield ""
        yield (icons.FOLDER / "LICENSE").read_text(encoding="utf-8")


def _licence_of_card(folder: Path) -> str:
    """Return the licence in the card of one of our own models or adapters."""
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()[:_HEADER_LINES]
    named = (line.removeprefix("license:") for line in lines if line.startswith("license:"))
    return next(named, "").strip().upper()
