import pytest

from engine.audio.devices import DeviceKind
from tests.support.app.fake_engine import FakeEngine
from tests.support.app.fake_speech_engine import FakeSpeechEngine
from tests.support.app.whole_program import SAID, Program


@pytest.fixture(autouse=True)
def _patience(monkeypatch):
    """Let the end of the program wait for its words on a busy machine, too."""
    monkeypatch.setattr("app.controllers.application.PATIENCE_S", 60.0)


class Listening(Program):
    def open(self):
        return super().open().wait_until_ready()


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
        programs.append(Listening(qtbot, tmp_path, engine or FakeEngine(), speech))
        return programs[-1]

    yield make
    for one in programs:
        one.window.close()
