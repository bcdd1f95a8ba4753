import pytest

from app.dialogs.setup.sound_check import SoundCheck
from tests.support.app.setup_services import Sources


@pytest.fixture
def check():
    sources = Sources()
    check = SoundCheck(lambda: sources)
    check.sources, check.levels, check.sentences = sources, [], []
    check.level_came.connect(lambda kind, level: check.levels.append((kind, level)))
    check.reported.connect(lambda kind, text: check.sentences.append((kind, text)))
    yield check
    check.close()


def test_what_is_heard_is_measured_and_what_is_not_there_is_one_sentence(qtbot, check):
    check.start()
    qtbot.waitUntil(lambda: len(check.levels) == 3 and len(check.sentences) == 2)
    assert {kind for kind, _ in check.levels} == {"microphone"}
    assert check.levels[0][1].peak_db == pytest.approx(-6.02, abs=0.01)
    assert ("microphone", "listening to mic") in check.sentences
    assert ("system", "no sound server answers: start one") in check.sentences
    assert check.sources.threads == {"surtitle-check-microphone", "surtitle-check-system"}


def test_starting_twice_listens_once_and_closing_lets_go_of_the_devices(qtbot, check):
    check.start()
    check.start()
    qtbot.waitUntil(lambda: len(check.levels) == 3)
    assert len(check.sources.made) == 1
    check.close()
    assert check.sources.made[0].stopped


def test_it_can_be_stopped_and_started_again_without_waiting(qtbot, check):
    check.start()
    qtbot.waitUntil(lambda: bool(check.levels))
    check.stop()
    check.start()
    qtbot.waitUntil(lambda: len(check.sources.made) == 2)
    qtbot.waitUntil(lambda: check.sources.made[0].stopped)


def test_a_library_that_is_missing_is_told_too(qtbot):
    def make():
        msg = "No module named 'numpy'"
        raise ImportError(msg)

    check = SoundCheck(make)
    with qtbot.waitSignals([check.reported, check.reported]):
        check.start()
    check.close()
