import pytest

from engine.audio.devices import DeviceKind
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.fake_speech_engine import FakeSpeechEngine
from tests.support.app.listening_program import SAID, ListeningProgram


@pytest.fixture
def listening_program(qtbot, tmp_path, monkeypatch):
    """Make the whole program with a fake microphone; what is made is closed afterwards."""
    programs = []

    def make(texts=None, engine=None, **settings):
        speech = FakeSpeechEngine(texts or {DeviceKind.MICROPHONE: [SAID]}, **settings)
        monkeypatch.setattr(
            "engine.speech.speech_models.found_speech_model",
            lambda name, _library: tmp_path if speech.has(name) else None,
        )
        programs.append(ListeningProgram(qtbot, tmp_path, speech, engine or FakeEngine()))
        return programs[-1]

    yield make
    for one in programs:
        one.window.close()
