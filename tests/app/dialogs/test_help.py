import re
from email.message import Message
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from PySide6.QtCore import QObject, QPoint, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QKeySequence

from app.config.translations import speak
from app.dialogs.help import AboutDialog, HelpDialog, libraries, licence_of, version_of
from app.main_window.actions import Actions
from engine.hub.catalogue import ASSETS, bundled_models


def test_every_library_that_is_installed_names_its_licence():
    assert {"torch", "segno", "sherpa-onnx"} <= {*libraries()}
    for name in libraries():
        assert bool(licence_of(name)) == bool(version_of(name)), name
    assert licence_of("no such package") == version_of("no such package") == ""


@pytest.mark.parametrize(
    ("fields", "licence"),
    [
        ({"License-Expression": "MIT", "License": "the whole text"}, "MIT"),
        ({"License": " BSD "}, "BSD"),
        ({"License": "x" * 80}, "x" * 80),
        ({"License": "x" * 81, "Classifier": "License :: OSI Approved :: MIT"}, "MIT"),
        ({"License": "a\nb", "Classifier": "Programming Language :: Python"}, ""),
        ({"License-Expression": "x" * 81}, "x" * 81),
    ],
)
def test_a_licence_is_the_shortest_thing_that_names_it(monkeypatch, fields, licence):
    found = Message()
    for name, value in fields.items():
        found[name] = value
    monkeypatch.setattr(metadata, "metadata", lambda _package: found)
    assert licence_of("some package") == licence


HELP = sorted((ASSETS / "help").glob("*.md"))


def test_about_names_version_and_licence_of_every_part(qtbot, tmp_path, monkeypatch):
    adapter = tmp_path / "chats-en-de"
    adapter.mkdir()
    (adapter / "README.md").write_text("---\nlicense: cc-by-sa-4.0\n---\n")
    monkeypatch.setattr("app.dialogs.help.bundled_adapters", lambda: [adapter])
    about = AboutDialog()
    qtbot.addWidget(about)
    text = about.licences.toPlainText()
    assert version_of("surtitle") in about.name.text()
    assert "Surtitle: Apache-2.0" in text
    for folder in bundled_models():
        assert f"Translation model {folder.name}: CC-BY-SA-4.0" in text
    assert "Adapter chats-en-de: CC-BY-SA-4.0" in text
    assert f"pyside6-essentials {version_of('pyside6-essentials')}: LGPL-3.0" in text
    assert "ISC License" in text


def test_help_is_in_the_language_of_the_windows(qtbot, qapp):
    for code, word in (("en", "The first captions"), ("de", "Die ersten Untertitel")):
        translators = speak(qapp, code, ASSETS / "languages")
        shown = HelpDialog()
        qtbot.addWidget(shown)
        for one in translators:
            qapp.removeTranslator(one)
        assert word in shown.text.toPlainText()


@pytest.mark.parametrize("language", ["en", "de"])
def test_help_calls_menus_and_choices_by_the_names_that_they_have(language):
    root = ET.parse(ASSETS / "languages/surtitle_de.ts").getroot()
    texts = [
        one.findtext("source" if language == "en" else "translation")
        for one in root.iter("message")
    ]
    names = {text.replace("&", "").rstrip(" …") for text in texts}
    help_text = (ASSETS / f"help/help_{language}.md").read_text(encoding="utf-8")
    for path in re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", help_text):
        named = " ".join(path.split())
        assert named in names or set(named.split(", ")) <= names, named


class Browser(QObject):
    """Notes what it is asked to open."""

    def __init__(self):
        super().__init__()
        self.opened = []

    @Slot(QUrl)
    def open(self, url):
        self.opened.append(url.toString())


def test_a_link_in_the_help_opens_in_the_browser(qtbot):
    shown = HelpDialog()
    qtbot.addWidget(shown)
    shown.show()
    shown.text.setMarkdown("[elsewhere](test://elsewhere)")
    browser = Browser()
    QDesktopServices.setUrlHandler("test", browser, "open")
    place = shown.text.cursorRect().center() + QPoint(5, 0)
    qtbot.mouseClick(shown.text.viewport(), Qt.MouseButton.LeftButton, pos=place)
    QDesktopServices.unsetUrlHandler("test")
    assert browser.opened == ["test://elsewhere"]


@pytest.mark.parametrize("file", HELP, ids=lambda path: path.stem)
def test_the_keys_in_the_help_are_those_of_the_program(file):
    text = file.read_text(encoding="utf-8").replace("Strg", "Ctrl").replace("Umschalt", "Shift")
    named = set(re.findall(r"(?:Ctrl\+(?:\+|[^\s);|]+)|\bF\d+)", text))
    known = {QKeySequence(keys).toString() for keys in Actions().default_keys.values()}
    assert named <= known, named - known
    assert len(named) > 10


def test_both_texts_of_the_help_have_the_same_parts():
    assert len(HELP) == 2
    shapes = [re.findall(r"^(#+|- \*\*|\d\.|\|)", file.read_text(), re.M) for file in HELP]
    assert shapes[0] == shapes[1]


def test_help_and_about_open_by_menu_and_key_and_close_with_the_window(program, qtbot):
    one = program().open()
    windows = one.application.help_windows
    one.press(Qt.Key.Key_F1)
    assert windows.help.isVisible()
    windows.help.close()
    one.window.menu_actions.about.trigger()
    assert windows.about.isVisible()
    qtbot.mouseClick(windows.about.help, Qt.MouseButton.LeftButton)
    assert windows.help.isVisible()
    one.window.close()
    assert not windows.help.isVisible()
    assert not windows.about.isVisible()


def test_guide_settings_help_and_readme_tell_the_same_of_a_crash():
    root = Path(__file__).parents[3]
    for name in (
        "README.md",
        "assets/help/help_en.md",
        "app/dialogs/setup/pages.py",
        "app/dialogs/settings/dialog.py",
    ):
        text = " ".join((root / name).read_text(encoding="utf-8").replace('"', " ").split())
        assert re.search(r"crash costs (you )?one sentence at most", text), name
