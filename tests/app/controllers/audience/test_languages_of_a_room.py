"""Phones that choose a language: it is computed only while it is read."""

import pytest

from app.captions import further
from app.sharing import grace
from app.sharing import room as room_module
from app.sharing.networks import LOOPBACK
from tests.support.app.tiny_engine import TinyEngine
from tests.support.app.whole_program import Program
from tests.support.audience.page_client import Reader


@pytest.fixture
def one(qtbot, tmp_path, tiny, monkeypatch):
    """The program, sharing with this computer."""
    monkeypatch.setattr(room_module, "PORT", 0)
    monkeypatch.setattr("app.captions.models.bundled_models", list)
    program = Program(qtbot, tmp_path, TinyEngine(), model=tiny).open().wait_until_ready()
    program.window.menu_actions.share.trigger()
    dialog = program.application.sharing.dialog
    dialog.network.setCurrentIndex(dialog.network.findData(LOOPBACK))
    yield program
    program.window.close()


def start(one):
    one.application.sharing.dialog.start.click()
    return one.application.sharing.room


def reader_of(room, show):
    return Reader(f"{room.address}captions?key={room.access.key}&show={show}")


def say(one, text):
    one.type(text)
    one.window.typed_line.returnPressed.emit()


def read_until(reader, condition):
    while not condition(message := reader.message()):
        pass
    return message


def test_a_language_is_computed_from_its_first_reader_to_its_last(one, monkeypatch):
    monkeypatch.setattr(grace, "GRACE_S", 0.0)
    dialog = one.application.sharing.dialog
    assert dialog.offers["further"].text() == "1 further language, if a reader chooses it"
    told = dialog.offers["further"].toolTip()
    assert told.startswith("French. Each is computed only while it is read")
    room = start(one)
    with reader_of(room, "caption") as german:
        assert german.message()["languages"] == {"source": "en", "caption": "de", "fr": "fr"}
        assert one.application.further.ready == ()
        with reader_of(room, "fr") as french:
            assert french.message()["state"] == "preparing"
            one.wait(lambda: one.application.further.ready == ("fr",))
            read_until(french, lambda message: not message["state"])
            say(one, "ab cd ef gh.")
            rows = one.window.transcript.rows
            one.wait(lambda: bool(rows.views) and bool(rows.views[0].further))
            row = read_until(french, lambda it: it["rows"] and it["rows"][-1]["text"])["rows"][-1]
            assert row["language"] == "fr"
        one.wait(lambda: one.application.further.ready == ())
    one.wait(lambda: bool(one.application.keeper.cues))
    assert not one.application.keeper.cues[0].further, "a reader's choice is not the window's"


def test_the_end_of_sharing_ends_what_was_computed_for_readers(one):
    room = start(one)
    with reader_of(room, "fr") as french:
        french.message()
        one.wait(lambda: one.application.further.ready == ("fr",))
        one.application.sharing.dialog.stop.click()
        one.wait(lambda: one.application.further.ready == ())


def test_further_languages_that_are_not_ticked_are_not_offered(one):
    one.application.sharing.dialog.offers["further"].setChecked(False)
    with reader_of(start(one), "fr") as reader:
        message = reader.message()
    assert list(message["languages"]) == ["source", "caption"]
    assert one.application.further.ready == ()


def test_a_reader_of_one_language_too_many_is_told(one, monkeypatch):
    monkeypatch.setattr(further, "MOST_READ", 0)
    with reader_of(start(one), "fr") as french:
        one.wait(lambda: one.application.further.full == ("fr",))
        read_until(french, lambda message: message["state"] == "full")
    assert one.application.further.ready == ()


def test_who_reads_the_language_that_the_window_takes_reads_on(one):
    with reader_of(start(one), "fr") as french:
        one.wait(lambda: one.application.further.ready == ("fr",))
        french.message()
        one.window.choices.language.pick("fr")
        wanted = {"source": "en", "caption": "fr", "de": "de"}
        read_until(french, lambda message: message["languages"] == wanted)
        say(one, "ab cd ef gh.")
        one.wait(lambda: bool(one.application.keeper.cues))
        row = read_until(french, lambda it: it["rows"] and it["rows"][-1]["text"])["rows"][-1]
    assert row["language"] == "fr"
