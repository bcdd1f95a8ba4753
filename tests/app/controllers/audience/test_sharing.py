"""Captions on the phones of a room, by the window's own buttons."""

import os

import pytest
from PySide6.QtCore import Qt

from app.sharing import room as room_module
from app.sharing.networks import LOOPBACK
from tests.support.app.fake_engine import FakeEngine
from tests.support.audience.page_client import Reader, connected


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


def reader_of(room, show="caption"):
    return Reader(f"{room.address}captions?key={room.access.key}&show={show}")


def typed(program, text):
    """Type a sentence, and wait until it is in the transcript."""
    program.type(text)
    program.press(Qt.Key.Key_Return)
    rows = program.window.transcript.rows
    program.wait(lambda: any(view.source == text and view.ended for view in rows.views))


def test_the_button_that_starts_is_the_filled_one_and_the_key_enter_shares_nothing(shared, qtbot):
    dialog = shared.application.sharing.dialog
    assert dialog.start.property("primary")
    qtbot.keyClick(dialog.network, Qt.Key.Key_Return)
    assert shared.application.sharing.room is None


def test_nothing_is_shared_before_it_is_started(shared, monkeypatch):
    made = []
    monkeypatch.setattr(room_module, "listening_socket", lambda *where: made.append(where))
    application = shared.application
    assert application.sharing.room is None
    assert application.window.status.sharing.isHidden()
    assert made == []


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


def test_the_way_for_phones_is_shown_with_a_pin_where_one_is_wanted(shared):
    dialog = shared.application.sharing.dialog
    dialog.start.click()
    assert dialog.address.text() == room_of(shared).link
    assert dialog.pin.isHidden()
    dialog.stop.click()
    dialog.by_pin.setChecked(True)
    dialog.start.click()
    assert dialog.address.text() == room_of(shared).address
    assert room_of(shared).access.pin in dialog.pin.text()


def test_that_somebody_guesses_the_pin_is_told(shared, monkeypatch):
    dialog = shared.application.sharing.dialog
    dialog.by_pin.setChecked(True)
    dialog.start.click()
    monkeypatch.setattr(type(room_of(shared).access), "is_guessed_at", True)
    with reader_of(room_of(shared)):
        shared.wait(lambda: "Somebody guesses the PIN" in dialog.warning.text())
    assert dialog.warning.isVisible()
    shared.wait(lambda: room_of(shared).n_readers == 0)  # else the window asks before it closes


def test_every_sharing_has_a_key_of_its_own(shared):
    dialog, keys = shared.application.sharing.dialog, set()
    for _ in range(2):
        dialog.start.click()
        keys.add(room_of(shared).access.key)
        dialog.stop.click()
    assert len(keys) == 2


def test_only_the_languages_that_are_ticked_can_be_read(shared):
    dialog = shared.application.sharing.dialog
    for offer in dialog.offers.values():
        offer.setChecked(False)
    assert not dialog.start.isEnabled()
    dialog.offers["caption"].setChecked(True)
    dialog.start.click()
    with reader_of(room_of(shared), "source") as reader:
        assert list(reader.message()["languages"]) == ["caption"]


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
    networks, status = "app.controllers.audience.share_controller.is_here", shared.window.status
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


def test_an_address_of_the_internet_is_warned_of(shared):
    dialog = shared.application.sharing.dialog
    dialog.network.addItem("hosted", "8.8.8.8")
    dialog.network.setCurrentIndex(dialog.network.count() - 1)
    assert "anybody in the world" in dialog.warning.text()


def test_the_end_of_the_program_ends_sharing(shared):
    shared.application.sharing.dialog.start.click()
    shared.application.window.close()
    assert room_of(shared) is None


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
