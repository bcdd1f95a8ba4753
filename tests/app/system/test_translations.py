import re
import string
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from app.main_window.banner import Banner
from app.system.translations import choose_language, speak
from app.widgets.policy_names import policy_names
from engine.files import ASSETS

FOLDER = ASSETS / "languages"
APP = Path(__file__).parents[3] / "app"


def messages():
    """Context, source and translation of all German texts."""
    root = ET.parse(FOLDER / "surtitle_de.ts").getroot()
    for context in root.iter("context"):
        for message in context.iter("message"):
            translation = message.find("translation")
            assert translation.get("type") is None, message.find("source").text
            yield context.find("name").text, message.find("source").text, translation.text


@pytest.fixture
def german(qapp):
    translators = speak(qapp, "de", FOLDER)
    yield translators
    for translator in translators:
        qapp.removeTranslator(translator)


def test_the_file_the_program_reads_holds_every_translation():
    translator = QTranslator()
    assert translator.load(str(FOLDER / "surtitle_de.qm"))
    found = list(messages())
    assert len(found) > 150
    for context, source, translation in found:
        assert translator.translate(context, source) == translation


def test_every_text_of_the_windows_is_in_the_file():
    known = {source for _, source, _ in messages()}
    literal = re.compile(r'(?:\btr\(\s*|translate\("Policies", )((?:"(?:[^"\\]|\\.)*"\s*)+)')
    n_texts = 0
    for path in (*APP.rglob("*.py"), APP.parent / "engine" / "messages.py"):
        for match in literal.finditer(path.read_text(encoding="utf-8")):
            text = "".join(re.findall(r'"((?:[^"\\]|\\.)*)"', match[1]))
            assert text in known, f"{path.name}: {text!r}; run scripts/translations"
            n_texts += 1
    assert n_texts > 150


def test_a_translation_has_the_places_and_the_key_of_its_text():
    for _, source, translation in messages():
        names = [
            [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
            for text in (source, translation)
        ]
        named = all(name and not name.isdigit() for name in names[0])  # a name may stand anywhere
        assert (sorted(names[0]) == sorted(names[1])) if named else (names[0] == names[1]), source
        assert ("&" in source) == ("&" in translation), source


def test_windows_speak_german_with_qts_own_buttons(german, qtbot):
    assert len(german) == 2
    banner = Banner()
    qtbot.addWidget(banner)
    assert banner.dismiss.text() == "&Verstanden"
    assert policy_names()[0][1] == "Alle 3 Wörter (früh)"
    assert QCoreApplication.translate("QPlatformTheme", "Close") == "Schließen"


def test_without_a_translation_windows_speak_english(qtbot):
    banner = Banner()
    qtbot.addWidget(banner)
    assert banner.dismiss.text() == "&Dismiss"


@pytest.mark.parametrize(
    ("chosen", "preferred", "expected"),
    [
        ("system", ["de-AT", "en-GB"], "de"),
        ("system", ["fr-FR", "de-CH"], "de"),
        ("system", ["fr-FR"], "en"),
        ("system", [], "en"),
        ("en", ["de-DE"], "en"),
        ("de", ["en-US"], "de"),
    ],
)
def test_the_person_chooses_the_language_or_the_system_does(chosen, preferred, expected):
    assert choose_language(chosen, preferred) == expected
