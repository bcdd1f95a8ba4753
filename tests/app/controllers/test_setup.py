"""The first words of a newcomer: the guide over the whole program, with a fake microphone."""

import threading
from pathlib import Path

import pytest
from PySide6.QtGui import QPalette

from engine.audio.devices import DeviceKind
from engine.errors import HubError
from engine.messages import Code
from tests.support.app.setup_services import parts
from tests.support.app.whole_program import SAID


@pytest.fixture
def first_start(listening_program):
    def make(recognizer="base.en", **settings):
        one = listening_program(**settings)
        one.application.settings.change("listening", recognizer=recognizer)
        one.open()
        desk = one.application.listening.service
        desk.measure_speed = lambda: desk.speed_measured.emit(1000.0, False)
        setup = one.application.setup
        setup.parts = parts()
        setup.open_guide()
        one.guide = setup.dialog
        one.guide.welcome.uses["voice"].click()
        return one

    return make


def select(page, name):
    page.cards.choose(page._listed.index(name))


def test_three_clicks_lead_to_the_first_spoken_caption(first_start):
    one = first_start("zipformer.en", here=["zipformer.en"])
    one.guide.next.click()
    one.wait(lambda: one.guide.speech.is_here)
    one.guide.next.click()
    one.guide.trial.switch.click()
    trial = one.guide.trial
    one.wait(lambda: trial.caption.text() == SAID.split(". ")[-1].upper())
    assert trial.source.text() == SAID.split(". ")[-1]
    assert one.speech.asked[-1][1] == "zipformer.en"
    assert one.window.menu_actions.microphone.isChecked()
    assert trial.switch.text() == "Switch &microphone off"
    assert one.guide.next.text() == "&Start captions of the microphone"
    one.guide.next.click()
    assert not one.guide.isVisible()
    assert one.window.menu_actions.microphone.isChecked(), "what was tried stays on"


def test_a_model_that_was_downloaded_in_the_guide_is_stored_and_listened_with(first_start):
    one = first_start(here=())
    one.guide.next.click()
    one.wait(lambda: one.guide.speech._found)
    select(one.guide.speech, "tiny.en")
    one.guide.speech.row.download.click()
    one.wait(lambda: one.application.settings.preferences.listening.recognizer == "tiny.en")
    one.guide.next.click()
    one.guide.trial.switch.click()
    one.wait(lambda: one.guide.trial.caption.text().endswith("RAINED."))
    assert one.speech.asked[-1][1] == "tiny.en"
    assert not one.banner.isVisible(), "the window does not offer or report the download again"


def test_a_failed_download_is_told_in_the_guide_alone(first_start):
    one = first_start(here=())
    one.guide.next.click()
    one.wait(lambda: one.guide.speech._found)
    one.speech.fetch_failure = HubError(Code.HUB_UNREACHABLE(host="a", reason="b"))
    one.guide.speech.row.download.click()
    one.wait(lambda: "Cannot reach" in one.guide.speech.row.message.text())
    assert not one.banner.isVisible()


def test_what_cannot_be_heard_is_told_and_tried_again(first_start):
    one = first_start(texts={DeviceKind.MICROPHONE: [SAID, SAID]})
    one.guide.next.click()
    one.wait(lambda: one.guide.speech.is_here)
    one.guide.next.click()
    trial = one.guide.trial
    one.speech.failure = Code.AS_SAID(sentence="the speech model is damaged")
    trial.switch.click()
    one.wait(trial.retry.isVisible)
    assert trial.state.text() == "The speech model is damaged."
    assert not trial.switch.isChecked()
    one.speech.failure = None
    one.wait(lambda: not one.application.listening.service.is_listening)
    trial.retry.click()
    one.wait(lambda: trial.caption.text().endswith("RAINED."))
    assert not trial.retry.isVisible()


NOT_LOADED = {
    "en": "The speech model '/mine' could not be loaded: get it again, or choose another one.",
    "de": "Das Spracherkennungsmodell '/mine' ließ sich nicht laden: "
    "bitte neu beschaffen oder ein anderes wählen.",
}


def test_a_folder_that_cannot_be_loaded_leads_back_to_the_models_which_say_so(
    first_start, monkeypatch, language
):
    one = first_start(here=("/mine",))
    one.speech.has = lambda name: name in one.speech.here
    speech, trial = one.guide.speech, one.guide.trial
    one.guide.next.click()

    def choose(folder):
        monkeypatch.setattr("app.dialogs.setup.speech_page.ask_folder", lambda *_: Path(folder))
        speech.row.folder.click()
        one.wait(lambda: speech.recognizer == folder and speech.is_here)

    choose("/mine")
    one.guide.next.click()
    one.speech.failure = Code.WHISPER_NOT_LOADED(model="'/mine'", detail="RuntimeError")
    trial.switch.click()
    one.wait(trial.retry.isVisible)
    assert trial.state.text() == NOT_LOADED[language]
    assert trial.state.foregroundRole() is QPalette.ColorRole.WindowText
    looked_up = []
    one.application.listening.service.looked_up.connect(looked_up.append)
    trial.choose.click()
    assert speech.isVisible()
    assert speech.row.message.text() == NOT_LOADED[language]
    one.wait(lambda: looked_up)
    assert speech.row.message.text() == NOT_LOADED[language], "all its files are there"
    assert not speech.is_here
    one.speech.failure = None
    choose("/mine")
    one.guide.next.click()
    assert not trial.choose.isVisible(), "it may have been mended"


def test_the_page_to_try_speech_on_opens_a_device_only_at_its_click(first_start):
    one = first_start(texts={DeviceKind.MICROPHONE: [SAID], DeviceKind.SYSTEM: [SAID]})
    one.guide.next.click()
    one.wait(lambda: one.guide.speech.is_here)
    threads = set(threading.enumerate())
    one.guide.next.click()
    trial = one.guide.trial
    assert trial.isVisible()
    assert set(threading.enumerate()) <= threads
    assert not one.speech.runs
    for kind in (DeviceKind.SYSTEM, DeviceKind.MICROPHONE):
        assert not trial.meters[kind].filled
        trial.switches[kind].click()
        one.wait(lambda kind=kind: trial.meters[kind].filled > 0.5)
    opened = [{device.kind for device in wanted} for wanted, _ in one.speech.asked]
    assert opened == [{"system"}, {"system", "microphone"}]
    one.guide.back.click()
    one.wait(lambda: not one.application.listening.service.is_listening)
    assert not any(meter.filled for meter in trial.meters.values())


def test_what_was_on_before_the_guide_is_on_after_it(first_start):
    one = first_start(texts={DeviceKind.MICROPHONE: [SAID], DeviceKind.SYSTEM: [SAID]})
    one.bar.microphone.button.click()
    one.wait(lambda: one.guide.speech.is_here)
    one.guide.next.click()
    one.guide.next.click()
    assert one.guide.trial.switches["microphone"].isChecked()
    one.guide.trial.switches["system"].click()
    one.guide.back.click()
    assert one.window.menu_actions.microphone.isChecked()
    assert not one.window.menu_actions.system.isChecked()
