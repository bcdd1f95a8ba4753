import re
import string
import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from app.config.system.translations import choose_language, filled, speak, worded
from app.look.widgets.policy_names import policy_names
from app.main_window.banner import Banner
from engine.files import ASSETS
from engine.messages import Code

FOLDER = ASSETS / "languages"
APP = Path(__file__).parents[4] / "app"


def messages(language="de"):
    """Context, source and translations of all texts; two where the source has a number."""
    root = ET.parse(FOLDER / f"surtitle_{language}.ts").getroot()
    for context in root.iter("context"):
        for message in context.iter("message"):
            source, translation = message.find("source").text, message.find("translation")
            assert translation.get("type") is None, source
            forms = [form.text for form in translation.iter("numerusform")] or [translation.text]
            assert len(forms) == (2 if message.get("numerus") else 1), source
            assert message.get("numerus") or "%Ln" not in source, source
            yield context.find("name").text, source, forms


@pytest.fixture
def german(qapp):
    translators = speak(qapp, "de", FOLDER)
    yield translators
    for translator in translators:
        qapp.removeTranslator(translator)


@pytest.mark.parametrize(("language", "least"), [("de", 150), ("en", 9)])
def test_the_file_the_program_reads_holds_every_translation(language, least):
    translator = QTranslator()
    assert translator.load(str(FOLDER / f"surtitle_{language}.qm"))
    found = list(messages(language))
    assert len(found) >= least
    for context, source, forms in found:
        for n, form in zip((1, 2), forms, strict=False):
            assert translator.translate(context, source, "", n) == form


def test_english_has_both_forms_of_every_text_with_a_number():
    german = {source for _, source, forms in messages() if len(forms) > 1}
    english = {source: forms for _, source, forms in messages("en")}
    assert english.keys() == german
    for source, (one, many) in english.items():
        assert many == source
        assert one != source


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


def pairs():
    return [(source, form) for _, source, forms in messages() for form in forms]


def test_a_translation_has_the_places_and_the_key_of_its_text():
    for source, translation in pairs():
        names = [
            [name for _, name, _, _ in string.Formatter().parse(text) if name is not None]
            for text in (source, translation)
        ]
        named = all(name and not name.isdigit() for name in names[0])  # a name may stand anywhere
        assert (sorted(names[0]) == sorted(names[1])) if named else (names[0] == names[1]), source
        assert ("&" in source) == ("&" in translation), source
        assert source.count("%Ln") == translation.count("%Ln"), source


# "Sprachmodell" is a language model, and "gehört" of a device reads as "belongs".
NOT_SAID = re.compile(
    r"Rechner\b|Sprach&?modell|be&?nutz[et]|Gebrauch|herunterzuladen|Herunterladens|Platzlänge"
    r"|Zeitpl[aä]n|mithörend|wird gehört|Besitzer|Eigentümer|Tonausgabe|\w…"
)


def test_german_has_one_word_for_one_thing_and_a_blank_before_the_dots_of_more_to_come():
    said = [translation for _, translation in pairs() if NOT_SAID.search(translation)]
    assert said == []


def test_windows_speak_german_with_qts_own_buttons(german, qtbot):
    assert len(german) == 2
    banner = Banner()
    qtbot.addWidget(banner)
    assert banner.dismiss.text() == "&Verstanden"
    assert policy_names()[0][1] == "Früh"
    assert QCoreApplication.translate("QPlatformTheme", "Close") == "Schließen"


def words_to_go(n):
    return QCoreApplication.translate("StatusBar", "Catching up: %Ln words to go", "", n)


@pytest.mark.usefixtures("german")
def test_a_number_has_its_form_in_german():
    assert [words_to_go(n) for n in (1, 2)] == ["Holt auf: noch 1 Wort", "Holt auf: noch 2 Wörter"]


@pytest.mark.usefixtures("german")
def test_numbers_have_the_points_of_the_country():
    begun = datetime(2026, 11, 22, 9, 30)
    told = filled("{:,} Wörter, {:.1f} s, {}, {:%H:%M}", 12345, 1.4, 1.5, begun)
    assert told == "12.345 Wörter, 1,4 s, 1.5, 09:30"
    longer = Code.LONGER_THAN(most=1_400_000)
    assert "1.400.000 Byte" in worded(longer)
    assert "1,400,000 bytes" in str(longer)


@pytest.mark.usefixtures("qapp")
def test_a_number_has_its_form_in_english():
    told = [words_to_go(n) for n in (1, 2)]
    assert told == ["Catching up: 1 word to go", "Catching up: 2 words to go"]


def test_windows_speak_english_otherwise(qtbot):
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
