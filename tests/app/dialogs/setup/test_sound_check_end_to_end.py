import pytest

from app.dialogs.setup.sound_check import SoundCheck
from tests.support.sound_server import Feeder, TestServer, needs_sound_server

pytestmark = [pytest.mark.slow, needs_sound_server()]


class Meters:
    """A check of this computer's sound, and what its meters showed last."""

    def __init__(self):
        self.levels, self.sentences = {}, {"microphone": "", "system": ""}
        self.check = SoundCheck()
        self.check.level_came.connect(lambda kind, level: self.levels.update({kind: level}))
        self.check.reported.connect(lambda kind, text: self.sentences.update({kind: text}))

    def shows(self, kind, least_db, most_db=0.0):
        level = self.levels.get(kind)
        return level is not None and least_db <= level.peak_db <= most_db


@pytest.fixture
def meters(qapp):  # noqa: ARG001  signals need an application
    one = Meters()
    yield one
    one.check.close()


def test_a_meter_moves_where_somebody_speaks_and_is_still_where_nobody_does(
    qtbot, tmp_path, monkeypatch, meters
):
    server = TestServer(tmp_path / "sound", monkeypatch)
    server.keep_running("speakers.monitor")
    feeder = Feeder(server, "ramp")
    try:
        meters.check.start()
        qtbot.waitUntil(lambda: meters.shows("microphone", -3), timeout=30_000)
        qtbot.waitUntil(lambda: meters.shows("system", -100, -90), timeout=30_000)
        feeder.say("zeros")
        qtbot.waitUntil(lambda: meters.shows("microphone", -100, -90), timeout=30_000)
        meters.check.close()
    finally:
        feeder.stop()
        server.stop()


def test_without_a_sound_system_both_say_so(qtbot, tmp_path, monkeypatch, meters):
    monkeypatch.setenv("PULSE_SERVER", f"unix:{tmp_path}/nobody")
    meters.check.start()
    told = meters.sentences
    qtbot.waitUntil(lambda: all("does not answer" in one for one in told.values()), timeout=30_000)
    assert not meters.levels
