import string
import typing

import pytest

from app.system.translations import error_text, speak, worded
from engine.audio.devices import AudioNotice
from engine.errors import AdapterError, SurtitleError
from engine.events import Event
from engine.hub.bundled import ASSETS
from engine.messages import Code, Message
from engine.speech.events import Heard

CODES = [code for code in Code if code is not Code.AS_SAID]


@pytest.fixture
def german(qapp):
    translators = speak(qapp, "de", ASSETS / "languages")
    yield
    for translator in translators:
        qapp.removeTranslator(translator)


def example(code):
    """The message of a code, with numbers where its template formats numbers."""
    fields = [field for field in string.Formatter().parse(code.value) if field[1]]
    values = {name: 3 if form else f"<{name}>" for _, name, form, _ in fields}
    return code(**values), [value for value in values.values() if value != 3]


@pytest.mark.usefixtures("qapp")
@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
def test_a_message_is_english_where_nothing_else_was_chosen(code):
    message, values = example(code)
    assert worded(message) == str(message)
    assert "{" not in str(message)
    assert all(value in str(message) for value in values)


@pytest.mark.usefixtures("german")
@pytest.mark.parametrize("code", CODES, ids=lambda code: code.name)
def test_every_message_has_a_german_sentence_with_all_its_values(code):
    message, values = example(code)
    german = worded(message)
    assert german != str(message)
    assert "{" not in german
    assert all(value in german for value in values)


@pytest.mark.usefixtures("german")
def test_what_stands_in_a_message_is_translated_too():
    stays = Code.BASE_STAYS()
    error = AdapterError(Code.CANNOT_SWITCH(name="formal", reason="no memory", stays=stays))
    assert str(error).endswith("the base without an adapter stays in use")
    assert error_text(error).endswith("die Basis ohne Adapter bleibt in Gebrauch")
    assert error_text(SurtitleError("as it is said")) == "as it is said"
    assert error_text(OSError("no file")) == "no file"


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
        "model",
        "used",
        "text",
        "source",
        "smaller_model",
    }  # never sentences
    assert {name for name, type_ in types.items() if type_ is str} <= names
