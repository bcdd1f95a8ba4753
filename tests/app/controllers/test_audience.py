import os

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.sharing import room as room_module
from app.sharing.access import LOOPBACK
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.whole_program import Program, TinyEngine
from tests.support.audience.page_client import Reader, connected


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


def reader_of(room, show="caption"):
    return Reader(f"{room.address}captions?key={room.access.key}&show={show}")


def read_until(reader, condition):
    while not condition(message := reader.message()):
        pass
    return message


def test_a_language_is_computed_from_its_first_reader_to_its_last(one, monkeypatch):
    monkeypatch.setattr("app.controllers.tools.GRACE_S", 0.0)
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
            one.say("ab cd ef gh.")
            rows = one.window.transcript.rows
            one.wait(lambda: bool(rows.views) and bool(rows.views[0].further))
            row = read_until(french, lambda it: it["rows"] and it["rows"][-1]["text"])["rows"][-1]
            assert row["language"] == "fr"
        one.wait(lambda: one.application.further.ready == ())
    one.wait(lambda: bool(one.cues))
    assert not one.cues[0].further, "a reader's choice is not the window's"


def test_the_end_of_sharing_ends_what_was_computed_for_readers(one):
    room = start(one)
    with reader_of(room, "fr") as french:
        french.message()
        one.wait(lambda: one.application.further.ready == ("fr",))
        one.application.sharing.dialog.stop.click()
        one.wait(lambda: one.application.further.ready == ())


def test_who_reads_the_language_that_the_window_takes_reads_on(one):
    with reader_of(start(one), "fr") as french:
        one.wait(lambda: one.application.further.ready == ("fr",))
        french.message()
        one.window.choices.language.pick("fr")
        wanted = {"source": "en", "caption": "fr", "de": "de"}
        read_until(french, lambda message: message["languages"] == wanted)
        one.say("ab cd ef gh.")
        one.wait(lambda: bool(one.cues))
        row = read_until(french, lambda it: it["rows"] and it["rows"][-1]["text"])["rows"][-1]
    assert row["language"] == "fr"


def chosen(program, number):
    program.application.projector.fill_menu()
    return program.window.menu_actions.projector.actions()[number]


def test_its_menu_shows_it_on_a_screen_before_the_overlay_and_leaves_it_again(program):
    running = program(FakeEngine()).open().wait_until_ready()
    projector = running.application.projector
    assert projector.view is None
    action = chosen(running, 0)
    assert action.text().startswith("Screen &1")
    action.trigger()
    assert projector.view.isFullScreen()
    assert not running.overlay.isVisible(), "it would stand before it"
    running.type("good morning ")
    lines = projector.view._text
    running.wait(lambda: [line.text for line in lines.view.lines] == ["GOOD MORNING"])
    assert chosen(running, 0).isChecked()
    chosen(running, 0).trigger()
    assert projector.view is None
    assert running.overlay.isVisible()
    chosen(running, 0).trigger()
    running.window.close()
    assert projector.view is None, "it ends with the program"


def test_place_and_letters_are_kept(program):
    running = program(FakeEngine())
    bottom = chosen(running, 3)
    assert "bottom" in bottom.text()
    bottom.trigger()
    larger = chosen(running, 6)
    assert "Larger" in larger.text()
    larger.trigger()
    assert running.stored()["projector"] == {"place": "bottom", "letters": 7}


class Screen:
    """A screen that is plugged in again is another object of the same name."""

    def __init__(self, screen, name=""):
        self._screen, self._name = screen, name

    def name(self):
        return self._name or self._screen.name()

    def __getattr__(self, name):
        return getattr(self._screen, name)


def test_it_comes_back_with_the_screen_that_was_pulled_and_that_is_told_meanwhile(program):
    running = program(FakeEngine()).open()
    projector, screen = running.application.projector, QGuiApplication.primaryScreen()
    chosen(running, 0).trigger()
    assert not projector.view.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    QGuiApplication.instance().screenRemoved.emit(screen)
    assert projector.view is None
    running.wait(lambda: "comes back with it" in running.window.banner.sentence.text())
    projector._come_back(Screen(screen, "HDMI-9"))
    assert projector.view is None
    QGuiApplication.instance().screenAdded.emit(screen)
    assert projector.view.isFullScreen()
    assert projector.view.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)  # slides stay
    assert not running.window.banner.isVisible()


@pytest.fixture
def shared(program, monkeypatch):
    """Make a program whose dialog for sharing is open, to be tried on this computer."""
    monkeypatch.setattr(room_module, "PORT", 0)
    running = program(FakeEngine())
    running.application.window.menu_actions.share.trigger()
    dialog = running.application.sharing.dialog
    dialog.network.setCurrentIndex(dialog.network.findData(LOOPBACK))
    yield running
    running.application.sharing.stop()


def room_of(program):
    return program.application.sharing.room


def typed(program, text):
    """Type a sentence, and wait until it is in the transcript."""
    program.say(text)
    rows = program.window.transcript.rows
    program.wait(lambda: any(view.source == text and view.ended for view in rows.views))


def test_phones_read_what_is_typed_from_now_on_until_sharing_is_stopped(shared, qtbot):
    application = shared.application
    window, sharing = application.window, application.sharing
    shared.open().wait_until_ready()
    typed(shared, "before this")
    sharing.dialog.start.click()
    room = room_of(shared)
    with reader_of(room, "source") as reader:
        assert reader.message()["rows"] == []
        qtbot.waitUntil(lambda: window.status.sharing.text() == "Shared with 1 phone")
        typed(shared, "and this")
        texts = []
        while "and this" not in texts:
            texts += [row["text"] for row in reader.message()["rows"]]
        assert not any("before" in text for text in texts)
        sharing.dialog.stop.click()
        while (event := reader.event()) is not None:
            assert event.kind in {"end", "message"}
    assert sharing.room is None
    assert window.status.sharing.isHidden()
    with pytest.raises(OSError, match="refused"):
        connected(int(room.address.rstrip("/").rpartition(":")[2]))


def test_that_somebody_guesses_the_pin_is_told(shared, monkeypatch):
    dialog = shared.application.sharing.dialog
    dialog.by_pin.setChecked(True)
    dialog.start.click()
    monkeypatch.setattr(type(room_of(shared).access), "is_guessed_at", True)
    with reader_of(room_of(shared)):
        shared.wait(lambda: "Somebody guesses the PIN" in dialog.warning.text())
    assert dialog.warning.isVisible()
    shared.wait(lambda: room_of(shared).n_readers == 0)  # else the window asks before it closes


def test_a_network_that_is_gone_is_told(shared):
    dialog = shared.application.sharing.dialog
    dialog.network.addItem("gone", "192.0.2.1")
    dialog.network.setCurrentIndex(dialog.network.count() - 1)
    dialog.start.click()
    assert "choose another network" in dialog.warning.text()
    assert room_of(shared) is None


def test_a_network_that_is_left_while_captions_are_shared_is_told_until_it_is_back(
    shared, monkeypatch
):
    networks, status = "app.controllers.audience.is_here", shared.window.status
    sharing, banner = shared.application.sharing, shared.window.banner
    sharing.dialog.start.click()
    for is_here in (True, False, False, True):
        monkeypatch.setattr(networks, lambda _address, is_here=is_here: is_here)
        sharing._look.timeout.emit()
        assert status.sharing.isHidden() != is_here
        assert banner.isHidden() == is_here
    assert "no longer at 127.0.0.1" in banner.sentence.text()
    monkeypatch.setattr(networks, lambda _address: False)
    sharing._look.timeout.emit()
    sharing.stop()
    assert banner.isHidden()
    assert not sharing._look.isActive()


def test_the_code_is_the_same_next_time_where_that_is_wanted_and_never_with_a_pin(shared):
    dialog, sharing = shared.application.sharing.dialog, shared.application.sharing
    assert not dialog.keep_code.isChecked()
    dialog.keep_code.setChecked(True)
    keys = []
    for _ in range(2):
        dialog.start.click()
        keys.append(room_of(shared).access.key)
        dialog.stop.click()
    assert keys[0] == keys[1]
    assert sharing._key_file.read_text().strip() == keys[0]
    if os.name != "nt":
        assert sharing._key_file.stat().st_mode & 0o077 == 0
    dialog.by_pin.setChecked(True)
    assert not dialog.keep_code.isEnabled()
    dialog.start.click()
    assert room_of(shared).access.key not in keys
    dialog.stop.click()
    assert not sharing._key_file.exists(), "who is asked for a PIN has no old key"
    dialog.by_link.setChecked(True)
    dialog.keep_code.setChecked(False)
    dialog.start.click()
    assert room_of(shared).access.key not in keys


def test_quitting_with_readers_is_asked_first(shared, qtbot):
    shared.open().wait_until_ready()
    window, dialog = shared.window, shared.application.sharing.dialog
    dialog.start.click()
    with reader_of(room_of(shared)):
        qtbot.waitUntil(lambda: window.status.sharing.text() == "Shared with 1 phone")
        window.close()
        question = shared.application.sharing._question
        assert "1 phone reads along" in question.text()
        assert window.isVisible()
        next(button for button in question.buttons() if button.text() != "&Quit").click()
        assert window.isVisible()
        assert room_of(shared) is not None
        assert not question.isVisible()
        window.close()
        next(button for button in question.buttons() if button.text() == "&Quit").click()
        qtbot.waitUntil(lambda: not window.isVisible())
    assert room_of(shared) is None
