import pytest
import torch

from app.config.preferences import ListeningPreferences, Preferences
from app.dialogs.settings.speech_page import SpeechPage
from engine.hub.catalogue import SPEECH_MODELS
from tests.support.app.fake_speech_engine import DEVICES
from tests.support.direct.encoders import save_speech_encoder, tiny_encoder
from tests.support.fakes import save_tiny_model

KNOWN = len(SPEECH_MODELS) - 1
"""All but the one that comes along: for these tests none does."""


@pytest.fixture
def make_page(qtbot, tmp_path):
    def make():
        page = SpeechPage(tmp_path)
        qtbot.addWidget(page)
        page.show_preferences(Preferences(listening=ListeningPreferences(microphone="mic1")))
        return page

    return make


@pytest.fixture
def page(make_page):
    return make_page()


def test_a_speech_model_is_chosen_by_name_or_folder(page, pick):
    told = []
    page.edited.connect(lambda preferences: told.append(preferences.listening.recognizer))
    assert page.recognizer.count() == KNOWN
    page.recognizer.setCurrentIndex(page.recognizer.findText("Accurate (small.en)"))
    page.recognizer.activated.emit(page.recognizer.currentIndex())
    page.recognizer.setCurrentText("  /models/whisper ")
    page.recognizer.lineEdit().editingFinished.emit()
    page.recognizer.setCurrentText("   ")
    page.recognizer.lineEdit().editingFinished.emit()
    for folder in ("/models/other", None):
        asked = pick(folder)
        page.choose_folder.click()
    assert told == ["small.en", "/models/whisper", "/models/whisper", "/models/other"]
    assert asked == [("Folder of a speech model", None)] * 2


def test_what_comes_along_stands_first_and_says_so(make_page, monkeypatch):
    monkeypatch.setattr("engine.hub.bundled.bundled_speech_model", lambda: True)
    page = make_page()
    assert page.recognizer.itemText(0) == page.recognizer.currentText() == "Included (moonshine.en)"
    assert page.download_size.text().startswith("Comes with Surtitle: English")
    assert page.read(Preferences()).listening.recognizer == "moonshine.en"


def test_the_devices_are_fields_that_ask_what_there_is_when_they_are_seen(page, qtbot):
    told = []
    page.edited.connect(lambda now: told.append((now.listening.microphone, now.listening.system)))
    assert page.microphone.currentText() == "mic1"  # gone, or not listed yet
    with qtbot.waitSignal(page.devices_wanted):
        page.show()
    page.show_devices(DEVICES)
    texts = [page.microphone.itemText(row) for row in range(page.microphone.count())]
    assert texts == ["Default microphone", "Desk mic", "Headset (muted)"]
    assert page.microphone.currentText() == "Desk mic"
    assert page.system.currentText() == "Default output"
    assert told == []
    page.microphone.setCurrentIndex(2)
    page.system.setCurrentIndex(1)
    assert told == [("mic2", ""), ("mic2", "out1")]
    page.show_devices(())
    assert (page.microphone.currentText(), len(told)) == ("Headset (muted)", 2)


def test_a_model_of_ones_own_is_shown_by_its_name_once(page):
    folder = "/home/somebody/models/faster-whisper-tiny.en"
    page.show_preferences(Preferences(listening=ListeningPreferences(recognizer=folder)))
    assert page.recognizer.currentText() == "faster-whisper-tiny.en"
    assert page.download_size.text() == ""
    assert page.recognizer.toolTip() == folder
    assert page.read(Preferences()).listening.recognizer == folder
    named = "/models/base.en"  # as a known one
    page.show_preferences(Preferences(listening=ListeningPreferences(recognizer=named)))
    assert page.recognizer.currentText() == named
    page.recognizer.setCurrentText("base.en")
    assert page.read(Preferences()).listening.recognizer == "base.en"


def test_it_is_said_when_words_of_a_model_appear(page):
    page.recognizer.setCurrentIndex(0)
    assert page.recognizer.currentText() == "At once (zipformer.en)"
    assert (
        page.download_size.text()
        == "At once: words appear as they are said · 73 MB to download, once"
    )
    page.recognizer.setCurrentText("large-v3")
    assert page.download_size.text() == "More exact: words appear a second or two later"


def test_a_model_that_translates_sound_is_offered_where_one_is_at_hand(qtbot, tmp_path):
    folder = save_tiny_model(tmp_path / "models" / "heard")
    save_tiny_model(tmp_path / "models" / "read")
    save_speech_encoder(folder, tiny_encoder(torch.float32))
    page = SpeechPage(tmp_path)
    qtbot.addWidget(page)
    name = "Straight from the sound (heard)"
    assert page.recognizer.count() == KNOWN + 1
    assert page.recognizer.findText(name) == KNOWN
    page.show_preferences(Preferences())
    page.recognizer.setCurrentText(name)
    assert page.read(Preferences()).listening.recognizer == str(folder)
    assert "writes no English" in page.download_size.text()
    page.show_preferences(Preferences(listening=ListeningPreferences(recognizer=str(folder))))
    assert page.recognizer.currentText() == name
