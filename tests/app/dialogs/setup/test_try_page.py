import pytest

from app.captions.model import UtteranceView
from app.dialogs.setup.try_page import TryPage
from engine.audio.devices import DeviceKind, Level

MIC, SYSTEM = DeviceKind.MICROPHONE, DeviceKind.SYSTEM


@pytest.fixture
def page(qtbot):
    one = TryPage()
    qtbot.addWidget(one)
    one.wanted = []
    one.source_wanted.connect(lambda kind, on: one.wanted.append((kind, on)))
    one.show()
    one.show_speech(is_here=True, is_fetching=False)
    one.enter()
    return one


def view(key, source, caption="", lane="me", **more):
    return UtteranceView(key=key, source=source, caption=caption, lane=lane, **more)


@pytest.mark.parametrize(
    ("is_fetching", "told"), [(False, "needs a speech model"), (True, "still being downloaded")]
)
def test_without_a_speech_model_nobody_is_asked_to_speak_and_it_is_said_what_is_missing(
    page, is_fetching, told
):
    asks = page.hint.text()
    assert "Switch computer sound on" in asks
    page.show_speech(is_here=False, is_fetching=is_fetching)
    assert not any(switch.isEnabled() for switch in page.switches.values())
    assert told in page.hint.text()
    assert "Switch computer sound on" not in page.hint.text()
    page.show_speech(is_here=True, is_fetching=False)
    assert all(switch.isEnabled() for switch in page.switches.values())
    assert page.hint.text() == asks


def test_the_way_to_the_speech_models_stands_there_only_while_none_is_here_or_on_its_way(page):
    for here, fetching, leads in ((True, False, False), (False, True, False), (False, False, True)):
        page.show_speech(is_here=here, is_fetching=fetching)
        assert page.choose.isVisible() == leads


def test_only_what_was_switched_on_here_is_switched_off_on_leaving(page):
    page.show_on(SYSTEM, on=True)  # in the main window
    page.switches[MIC].click()
    assert page.wanted == [(MIC, True)]
    page.leave()
    assert page.wanted == [(MIC, True), (MIC, False)]
    assert page.switches[SYSTEM].isChecked()


def test_the_names_of_the_switches_say_what_a_click_does(page):
    off = {kind: switch.text() for kind, switch in page.switches.items()}
    for switch in page.switches.values():
        switch.click()
    on = {kind: switch.text() for kind, switch in page.switches.items()}
    assert len({*off.values(), *on.values()}) == 4
    page.show_on(MIC, on=False)
    assert page.switches[MIC].text() == off[MIC]
    assert page.switches[SYSTEM].text() == on[SYSTEM]


def test_a_sentence_of_a_device_stands_beside_its_own_switch_while_that_is_on(page):
    page.show_message("me", "the headset is gone")
    assert {one.text() for one in page.messages.values()} == {"Off."}
    page.switches[MIC].click()
    page.show_message("me", "the headset is gone")
    assert page.messages[MIC].text() == "The headset is gone."
    assert page.messages[SYSTEM].text() == "Off."
    page.show_on(MIC, on=False)
    assert page.messages[MIC].text() == "Off."


def test_the_meter_of_what_is_off_stays_still(page):
    page.switches[MIC].click()
    before = {kind: meter.grab().toImage() for kind, meter in page.meters.items()}
    level = Level(rms_db=-12.0, peak_db=-3.0)
    page.show_levels({"me": level, "them": level})
    assert page.meters[MIC].grab().toImage() != before[MIC]
    assert page.meters[SYSTEM].grab().toImage() == before[SYSTEM]
    page.leave()
    assert page.meters[MIC].grab().toImage() == before[MIC]


def test_the_newest_caption_of_what_was_said_here_is_shown(page):
    before = (view(1, "before the guide", "vorher"),)
    page.show_views(before)
    page.enter()
    page.show_views(before)
    assert page.source.text() == ""
    assert page.caption.text() == "Your captions appear here."
    typed = view(2, "typed", "getippt", lane="")
    said = view(3, "Good morning", "Guten Morgen", tail="every")
    page.show_views((*before, said, typed))
    assert page.source.text() == "Good morning every…"
    assert page.caption.text() == "Guten Morgen"
    page.enter()
    assert (page.source.text(), page.caption.text()) == ("", "Your captions appear here.")


def test_how_far_listening_is_is_not_told_once_everything_is_off(page):
    page.show_progress("Loading…")
    assert page.state.text() == ""
    page.switches[SYSTEM].click()
    page.show_progress("Loading…")
    assert page.state.text() == "Loading…"


def test_what_failed_is_tried_again_with_the_source_that_was_wanted_last(page):
    page.switches[SYSTEM].click()
    page.switches[MIC].click()
    page.show_on(MIC, on=False)
    page.show_failure("no microphone can be opened")
    assert page.state.text() == "No microphone can be opened."
    assert page.retry.isVisible()
    page.wanted.clear()
    page.retry.click()
    assert page.wanted[-1] == (MIC, True)
    assert not page.retry.isVisible()
    assert page.state.text() == ""
