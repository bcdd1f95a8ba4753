"""The runs of what listens for the window, over ears that hear what a test says."""

import pytest

from app.session.listening_service import ListeningService, Spoken
from engine.audio.devices import DeviceKind, WantedDevice
from engine.errors import AudioError
from engine.messages import Code
from engine.speech.events import TailChanged
from tests.support.app.fake_speech_engine import FakeSpeechEngine, Talk
from tests.support.listening_fakes import Echo

MICROPHONE, SYSTEM = WantedDevice(kind=DeviceKind.MICROPHONE), WantedDevice(kind=DeviceKind.SYSTEM)
SIGNALS = ("recognizer_missing", "begins", "began", "ended", "failed")


class Desk:
    def __init__(self, qtbot, tmp_path):
        self.qtbot = qtbot
        self.echo, self.told, self.heard = Echo(), [], []
        self.speech = FakeSpeechEngine({"microphone": ["one.", "two."], "system": ["three."]})
        self.service = ListeningService(self.speech.make, tmp_path, "cpu", self.echo)
        self.echo.report = self.service.take
        for name in SIGNALS:
            tell = lambda *said, name=name: self.told.append((name, *said))  # noqa: E731
            getattr(self.service, name).connect(tell)
        self.service.reported.connect(self.heard.append)

    def wait(self, condition):
        self.qtbot.waitUntil(lambda: bool(condition()))

    def listen(self, *wanted, **choices):
        self.service.listen(wanted, "base.en", **choices)
        return self

    def says(self, *names):
        self.wait(lambda: [it[0] for it in self.told] == [*names])

    def ends_with(self, told):
        self.wait(lambda: self.told[-1:] == [told])


@pytest.fixture
def desk(qtbot, tmp_path):
    made = Desk(qtbot, tmp_path)
    yield made
    made.service.close()


def test_a_run_is_heard_until_nothing_is_wanted_any_more(desk):
    desk.service.spoken = Spoken(language="pl", words=("Nguyen",))
    assert (desk.service.levels(), desk.service.sounding()) == ({}, {})
    desk.listen(MICROPHONE, SYSTEM)
    desk.wait(lambda: len(desk.echo.fed) == 2)
    desk.says("begins", "began")
    assert sorted(desk.echo.fed) == [("me", "one."), ("them", "three.")]
    assert (desk.speech.languages, desk.speech.words) == (["pl"], ("Nguyen",))
    assert desk.service.is_listening
    assert {lane: level.peak_db for lane, level in desk.service.levels().items()} == {
        "me": -12.0,
        "them": -12.0,
    }
    desk.speech.runs[0].sources["them"].sounding = ""
    assert desk.service.sounding() == {"me": "mic1"}
    desk.listen()
    desk.says("begins", "began", "ended")
    assert not desk.service.is_listening
    assert any(isinstance(event, TailChanged) for event in desk.heard)


def test_another_run_records_at_once_and_is_heard_when_all_before_it_is_translated(desk):
    desk.listen(MICROPHONE)
    desk.wait(lambda: desk.echo.fed)
    desk.echo.hold()
    desk.listen(MICROPHONE, SYSTEM)
    desk.wait(lambda: len(desk.speech.runs) == 2)
    first, second = (run.sources for run in desk.speech.runs)
    desk.wait(lambda: second["me"].started and first["me"].stopped)
    assert second["me"].before is first["me"]
    assert second["them"].before is None
    first["me"].n_dropped, second["me"].n_dropped = 3, 4
    assert desk.service.n_dropped == 7
    desk.listen(SYSTEM)
    desk.wait(lambda: len(desk.speech.runs) == 3)
    desk.wait(lambda: second["me"].stopped and desk.speech.runs[2].sources["them"].started)
    assert [*desk.service.levels()] == [*desk.service.sounding()] == ["them"]
    desk.echo.release()
    desk.wait(lambda: len(desk.service._living()) == 1)
    assert [name for name, *_ in desk.told].count("ended") == 0
    desk.listen()
    desk.ends_with(("ended",))


def test_sources_that_cannot_be_opened_are_told_and_are_no_run(desk, monkeypatch):
    def fail(_talk):
        raise AudioError(Code.NO_SOUND_IN(path="it"))

    monkeypatch.setattr(Talk, "start", fail)
    desk.listen(MICROPHONE)
    desk.says("begins", "failed")
    assert not desk.service.is_listening


def test_a_stop_of_the_file_stops_no_microphone(desk):
    desk.listen(MICROPHONE)
    desk.wait(lambda: desk.echo.fed)
    desk.service.stop_file()
    assert not desk.speech.runs[0].sources["me"].stopped
