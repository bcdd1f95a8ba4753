import errno
import json
import os
import re
import socket
import string
import typing
import xml.etree.ElementTree as ET
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator

from app.captions.adapter_details import Detail
from app.config.messages import AppCode
from app.config.translations import choose_language, error_text, failure_text, filled, speak, worded
from app.look.widgets.names import policy_names
from app.main_window.banner import Banner
from engine.audio.devices import AudioNotice
from engine.errors import SYSTEM_CODES, AdapterError, SurtitleError, message_of
from engine.events import Event
from engine.files import ASSETS, ByteCount
from engine.messages import Code, Message
from engine.speech.events import Heard
from engine.untrusted.faults import Fault

TABLES = (Code, Fault, AppCode, Detail)
tables = pytest.mark.parametrize("table", TABLES, ids=lambda table: table.__name__)


@pytest.fixture
def german(qapp):
    translators = speak(qapp, "de", FOLDER)
    yield translators
    for translator in translators:
        qapp.removeTranslator(translator)


DETAIL = " (detail: {detail})"


def example(code):
    """The message of a code, with numbers where its template formats numbers.

    And the values that a window shows: none that is a detail.
    """
    fields = [field for field in string.Formatter().parse(code.value) if field[1]]
    values = {name: 3 if form else f"<{name}>" for _, name, form, _ in fields}
    hidden = {"detail"} if code.value.endswith(DETAIL) else set()
    shown = [value for name, value in values.items() if value != 3 and name not in hidden]
    return code(**values), shown


def codes(table):
    return [code for code in table if code is not Code.AS_SAID]


@pytest.mark.usefixtures("qapp")
@tables
def test_a_message_is_english_where_nothing_else_was_chosen(table):
    for code in codes(table):
        message, values = example(code)
        assert worded(message) == str(message).removesuffix(" (detail: <detail>)")
        assert "{" not in str(message)
        assert all(value in str(message) for value in values), code


@pytest.mark.usefixtures("german")
@tables
def test_every_message_has_a_german_sentence_with_all_its_values(table):
    for code in codes(table):
        message, values = example(code)
        german = worded(message)
        words = "".join(text for text, *_ in string.Formatter().parse(code.value))
        if any(letter.isalpha() for letter in words):  # else it is values alone
            assert german != str(message)
        assert "{" not in german
        assert all(value in german for value in values), code


def test_a_download_that_fails_asks_for_nothing_that_windows_have_no_field_for():
    asking = [code.name for code in Code if "name a model folder" in code.value]
    assert asking == []
    assert "choose another model or a model folder" in Code.HUB_REFUSED.value


@pytest.mark.usefixtures("german")
def test_what_stands_in_a_message_is_translated_too():
    stays = Code.BASE_STAYS()
    error = AdapterError(Code.CANNOT_SWITCH(name="formal", detail="no memory", stays=stays))
    assert "the base without an adapter stays in use" in str(error)
    assert "die Basis wird weiter ohne Adapter verwendet" in error_text(error)
    assert error_text(error).endswith("oder andere Programme schließen")
    assert error_text(SurtitleError("as it is said")) == "as it is said"
    assert error_text(OSError("no file")) == "no file"


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("number", SYSTEM_CODES, ids=errno.errorcode.get)
def test_what_the_system_refuses_is_told_in_the_language_of_the_windows(number):
    message = message_of(OSError(number, os.strerror(number)))
    assert str(message) == os.strerror(number)
    assert worded(message) != str(message)


@pytest.mark.usefixtures("german")
def test_a_name_that_is_not_looked_up_is_told_in_the_language_of_the_windows():
    error = socket.gaierror(socket.EAI_NONAME, "Name or service not known")
    assert worded(message_of(error)) == "Name nicht gefunden"


def test_no_two_tables_have_a_name_in_common():
    names = [name for table in TABLES for name in table.__members__]
    assert len(names) == len(set(names))


@pytest.mark.usefixtures("german")
def test_a_failure_of_another_process_is_translated_too():
    fault = Fault.DAMAGED(detail="config.json lacks 'layers'")
    message = Code.CANNOT_LOAD(folder="/models/mine", reason=fault)
    line = json.loads(json.dumps({"message": str(message), **message.to_json()}))
    assert failure_text(line) == worded(message) != str(message)
    assert failure_text(line).endswith("bitte neu beschaffen oder etwas anderes wählen")


@pytest.mark.usefixtures("language")
def test_a_window_leaves_out_what_was_found_in_a_file_and_the_log_has_it_once(caplog, tmp_path):
    found = "its model.safetensors is not the one that its card names (surtitle-train writes it)"
    message = Code.CANNOT_LOAD(folder=str(tmp_path), reason=Fault.DAMAGED(detail=found))
    for _ in range(3):
        sentence = worded(message)
        assert str(tmp_path) in sentence
        assert not any(part in sentence for part in (found, "(", "detail", "Einzelheit"))
    assert caplog.messages == [str(message)]
    assert found in str(message)


@pytest.mark.usefixtures("german")
def test_a_size_has_the_point_of_the_country_also_from_another_process():
    kept = Code.WHOLE(device="cpu")
    message = Code.NEEDS_MORE(size=ByteCount(4_096_000), kept=kept, free=ByteCount(1000))
    assert worded(message) == "braucht 4,1 MB in voller Genauigkeit auf cpu, 1,0 kB sind frei"
    line = json.loads(json.dumps({"message": str(message), **message.to_json()}))
    assert failure_text(line) == worded(message)


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize(
    "damage",
    [
        {"code": "NO_SUCH_CODE"},
        {"code": 3},
        {"values": {}},
        {"values": {"name": [], "done": 1, "total": 2}},
        {"values": {"name": "one", "done": "half", "total": 2}},
        {"values": {"name": "one", "done": 10**400, "total": 2}},
        {"values": {"name": "one", "done": {"bytes": 10**400}, "total": {"bytes": "2"}}},
    ],
)
def test_a_failure_that_is_written_otherwise_is_shown_as_it_is(damage):
    message = Code.FETCHING(name="one", done=1.0, total=2.0)
    assert failure_text({"message": "as said", **message.to_json(), **damage}) == "as said"


@pytest.mark.parametrize(
    "kind",
    [*typing.get_args(Event), *typing.get_args(Heard), AudioNotice],
    ids=lambda it: it.__name__,
)
def test_no_event_brings_a_sentence_without_a_code(kind):
    types = typing.get_type_hints(kind)
    assert types.get("message", Message) is Message
    assert types.get("notices", tuple[Message, ...]) == tuple[Message, ...]
    names = {
        "device",
        "lane",
        "language",
        "model",
        "used",
        "text",
        "source",
        "smaller_model",
    }  # never sentences
    assert {name for name, type_ in types.items() if type_ is str} <= names


FOLDER = ASSETS / "languages"
APP = Path(__file__).parents[3] / "app"


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


def test_a_number_has_its_form_in_both_languages(language):
    told = {
        "en": ["Catching up: 1 word to go", "Catching up: 2 words to go"],
        "de": ["Holt auf: noch 1 Wort", "Holt auf: noch 2 Wörter"],
    }
    assert [words_to_go(n) for n in (1, 2)] == told[language]


@pytest.mark.usefixtures("german")
def test_numbers_have_the_points_of_the_country():
    begun = datetime(2026, 11, 22, 9, 30)
    told = filled("{:,} Wörter, {:.1f} s, {}, {:%H:%M}", 12345, 1.4, 1.5, begun)
    assert told == "12.345 Wörter, 1,4 s, 1.5, 09:30"
    longer = Code.LONGER_THAN(most=1_400_000)
    assert "1.400.000 Byte" in worded(longer)
    assert "1,400,000 bytes" in str(longer)


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
