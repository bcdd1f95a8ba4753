"""The overlay and the caption page in the whole program."""

import json

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QApplication, QMenu

from engine.audio.devices import DeviceKind
from tests.support.app.whole_program import SAID

THEIRS = "the other one said this."


def lines(one):
    return [line.text for line in one.application.overlay_controller.lines.lines]


def told_to_the_page(one):
    source = one.application.page.source
    return json.loads(source._content.as_json(source._clock()))


def end_silence(one):
    """End the wait for silence at once."""
    silence = one.application.overlay_controller.visibility._silence
    assert silence.isActive()
    silence.stop()
    silence.timeout.emit()


@pytest.fixture
def typed(program):
    """Make a program with a caption on the overlay."""
    one = program().open().wait_until_ready()
    one.say("Good morning.")
    one.wait(lambda: lines(one) == ["GOOD MORNING."])
    one.wait(lambda: not one.overlay.is_dragged)
    return one


def test_two_sources_have_names_on_overlay_and_page(listening_program):
    said = {DeviceKind.MICROPHONE: [SAID], DeviceKind.SYSTEM: [THEIRS]}
    one = listening_program(said).open()
    for source in (one.bar.microphone, one.bar.system):
        source.button.click()
    one.wait(lambda: one.texts("them") == (THEIRS, THEIRS.upper()))
    one.wait_for_sentence()
    one.application.settings.change("captions", lines=4)
    assert f"Them: {THEIRS.upper()}" in lines(one)
    assert "Me: THEN IT RAINED." in lines(one)
    page = told_to_the_page(one)
    assert {"Me:", "Them:"} <= {line["label"] for line in page["lines"]}
    assert {"me", "them"} <= set(page["style"]["colours"])


def test_a_right_click_on_the_overlay_offers_what_can_be_done_with_it(program):
    one = program().open()
    point = QPoint(5, 5)
    event = QContextMenuEvent(QContextMenuEvent.Reason.Mouse, point, one.overlay.mapToGlobal(point))
    QApplication.sendEvent(one.overlay, event)
    menu = one.overlay.findChild(QMenu)
    assert menu.actions() == one.window.menu_actions.for_overlay()
    assert menu.testAttribute(Qt.WidgetAttribute.WA_DeleteOnClose), "else one stays of each click"
    menu.close()


def test_it_hides_after_the_silence_that_the_settings_name(typed):
    one = typed
    assert one.application.overlay_controller.visibility._silence.interval() == 10_000
    end_silence(one)
    assert not one.overlay.isVisible()
    assert one.window.controls.overlay.isChecked(), "it is hidden, not off"
    one.type("Really? ")
    one.wait(one.overlay.isVisible)
    one.application.settings.change("overlay", hide_after_s=3)
    assert one.application.overlay_controller.visibility._silence.interval() == 3_000
    one.application.settings.change("overlay", hide_after_s=0)
    assert not one.application.overlay_controller.visibility._silence.isActive()


def test_the_way_back_to_the_bottom_of_the_screen_shows_it_after_a_silence(typed):
    end_silence(typed)
    typed.window.menu_actions.reset_place.trigger()
    assert typed.overlay.isVisible()


def test_a_pause_is_seen_on_the_overlay_and_not_on_the_page(typed):
    one = typed
    end_silence(one)
    one.window.controls.pause.click()
    assert one.overlay.isVisible()
    assert one.overlay.accessibleDescription() == "GOOD MORNING. Paused"
    page = told_to_the_page(one)
    assert [line["text"] for line in page["lines"]] == ["GOOD MORNING."]
    one.window.controls.pause.click()
    assert one.overlay.accessibleDescription() == "GOOD MORNING."


def test_no_caption_shows_the_overlay_while_the_guide_is_open(typed):
    one = typed
    one.application.setup.opened.emit()
    assert not one.overlay.isVisible()
    one.type("Really? ")
    one.wait(lambda: "REALLY?" in lines(one))
    assert not one.overlay.isVisible()
    one.application.setup.left.emit()
    assert one.overlay.isVisible()


def test_the_page_has_colours_font_and_silence_of_the_overlay(typed):
    one = typed
    one.application.settings.change(
        "captions", text_colour="#ffe600", background_colour="#0b1f4b", opacity=0.5, font="Serif"
    )
    style = told_to_the_page(one)["style"]
    assert style["colours"]["text"] == "rgb(255 230 0 / 1)"
    assert style["colours"]["box"] == "rgb(11 31 75 / 0.502)"
    assert style["font"] == "Serif"
    now_s = one.application.page.source._clock()
    one.application.page.source._clock = lambda: now_s + 11
    assert told_to_the_page(one)["lines"] == []
