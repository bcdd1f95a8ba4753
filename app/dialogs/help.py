"""Help, About with the licences of all parts, and diagnostics for the clipboard."""

import platform
import re
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal, Slot, qVersion
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QTextBrowser,
    QVBoxLayout,
    QWidget,
)

from app.config.logs import last_fault
from app.config.preferences import Preferences
from app.look import icons
from app.look.widgets.dialog_text import add_action, bring_up, close_button, paragraph
from app.main_window.window import MainWindow
from engine.files import ASSETS
from engine.hub.catalogue import bundled_adapters, bundled_models

PROGRAM = "surtitle"
_NAME = re.compile(r"[^\w.-]")  # what ends it
_LONG = 80  # letters; some packages put the whole text into the field
_CLASSIFIER = "License :: OSI Approved :: "
_LIBRARIES = (PROGRAM, "PySide6-Essentials", "torch", "transformers", "tokenizers")
_NAMES = ("name_me", "name_them", "address")  # of people, and of their computers
_FAULT_LINES = 40
_MARGIN = 12  # pixels
_LICENCE = "Apache-2.0"
_LOGO = 64  # pixels
_HEADER_LINES = 20  # of a card; its licence stands in them


def libraries() -> list[str]:
    """Return the packages that the program may use; not all of them are installed everywhere."""
    try:
        required = metadata.requires(PROGRAM) or []
    except metadata.PackageNotFoundError:
        return []
    used = (one for one in required if not re.search("extra == .dev", one))
    return sorted({_NAME.split(one)[0] for one in used})


def version_of(package: str) -> str:
    """Return the version of an installed package, or an empty text."""
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return ""


def licence_of(package: str) -> str:
    """Return the licence that an installed package names, or an empty text."""
    try:
        fields = metadata.metadata(package)
    except metadata.PackageNotFoundError:
        return ""
    for name in ("License-Expression", "License"):
        text = fields[name].strip() if name in fields else ""
        if text and len(text) <= _LONG and "\n" not in text:
            return text
    classifiers = [str(value) for value in fields.get_all("Classifier") or []]
    named = [text.removeprefix(_CLASSIFIER) for text in classifiers if _CLASSIFIER in text]
    if named or "License-Expression" not in fields:
        return ", ".join(named)
    return fields["License-Expression"]


def diagnostics(preferences: Preferences, state: Mapping[str, str | float], logs: Path) -> str:
    """Describe the program, the computer and the choices.

    Args:
        preferences: their paths are described as set or not.
        state: further labels and values, for example the model's name.
        logs: folder of the logs; the trace of the last crash is in it.
    """
    lines = ["Surtitle, diagnostics", ""]
    lines += [f"{name}: {version_of(name) or 'not installed'}" for name in _LIBRARIES]
    lines += [
        f"Python: {platform.python_version()}, {sys.platform}, {platform.machine()}",
        f"system: {platform.platform()}",
        f"Qt: {qVersion()}, {QGuiApplication.platformName()}",
    ]
    for screen in QGuiApplication.screens():
        size, scale = screen.size(), screen.devicePixelRatio()
        lines.append(f"screen: {size.width()} x {size.height()}, scale {scale:g}")
    lines += [f"{label}: {value}" for label, value in state.items()]
    lines += ["", *_choices(preferences), "", *_fault(logs)]
    return "\n".join(lines).rstrip() + "\n"


def _choices(preferences: Preferences) -> list[str]:
    lines = []
    for page, values in asdict(preferences).items():
        pairs = values.items() if isinstance(values, dict) else [("", values)]
        for name, value in pairs:
            shown = "set" if isinstance(value, Path) or (name in _NAMES and value) else value
            lines.append(f"{page}.{name} = {shown}" if name else f"{page} = {shown}")
    return lines


def _fault(logs: Path) -> list[str]:
    """Return the trace of the last crash: functions and our files, no values."""
    try:
        text = last_fault(logs)
    except OSError:
        return ["no crash is known"]
    return ["the last crash:", *map(_without_folder, text.splitlines()[:_FAULT_LINES])]


def _without_folder(line: str) -> str:
    """Reduce ``File "/home/name/x/app/overlay.py", line 3`` to the name of the file."""
    before, quote, rest = line.partition('"')
    path, end, after = rest.partition('"')
    return f"{before}{quote}{Path(path).name}{end}{after}"


class HelpDialog(QDialog):
    """Show the help; its links go to the browser."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWindowTitle(self.tr("Help"))
        # The translation of this text is the code of the language.
        language = self.tr("en")
        self.text = QTextBrowser(openExternalLinks=True)
        self.text.setAccessibleName(self.tr("Help"))
        file = ASSETS / "help" / f"help_{language}.md"
        self.text.setMarkdown(file.read_text(encoding="utf-8"))
        self.text.document().setDocumentMargin(_MARGIN)
        self.buttons = close_button()
        self.buttons.rejected.connect(self.close)
        column = QVBoxLayout(self)
        column.addWidget(self.text, 1)
        column.addWidget(self.buttons)
        self.resize(680, 560)


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
        for name in libraries():
            if version := version_of(name):
                yield f"{name} {version}: {licence_of(name) or unnamed}"
        yield ""
        yield (icons.FOLDER / "LICENSE").read_text(encoding="utf-8")


def _licence_of_card(folder: Path) -> str:
    lines = (folder / "README.md").read_text(encoding="utf-8").splitlines()[:_HEADER_LINES]
    named = (line.removeprefix("license:") for line in lines if line.startswith("license:"))
    return next(named, "").strip().upper()


class HelpWindows(QObject):
    """Open help and About by the actions of the main window."""

    def __init__(self, window: MainWindow) -> None:
        super().__init__(window)
        self._window = window
        self.help: HelpDialog | None = None
        self.about: AboutDialog | None = None
        window.menu_actions.help.triggered.connect(self.open_help)
        window.menu_actions.about.triggered.connect(self.open_about)

    def hide(self) -> None:
        for dialog in (self.help, self.about):
            if dialog is not None:
                dialog.close()

    @Slot()
    def open_help(self) -> None:
        if self.help is None:
            self.help = HelpDialog(self._window)
        bring_up(self.help)

    @Slot()
    def open_about(self) -> None:
        if self.about is None:
            self.about = AboutDialog(self._window)
            self.about.help_wanted.connect(self.open_help)
        bring_up(self.about)
