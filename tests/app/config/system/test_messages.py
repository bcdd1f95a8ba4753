import errno
import json
import os
import socket
import string
import typing

import pytest

from app.captions.adapter_details import Detail
from app.config.system.messages import AppCode
from app.config.system.translations import error_text, failure_text, speak, worded
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
    translators = speak(qapp, "de", ASSETS / "languages")
    yield
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


@pytest.mark.usefixtures("language")
def test_a_site_that_cannot_be_reached_is_not_asked_for_another_model():
    told = worded(Code.HUB_UNREACHABLE(host="huggingface.co", reason="no answer"))
    assert told.endswith(("a model folder on this computer", "Modellordner auf diesem Computer"))
    assert not any(words in told for words in ("another model", "anderes Modell"))


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
