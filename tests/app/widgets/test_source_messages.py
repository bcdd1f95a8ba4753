import pytest

from app.system.translations import speak
from app.widgets.source_messages import notice_words
from engine.audio.devices import AudioNotice, NoticeKind
from engine.hub.bundled import ASSETS


@pytest.fixture
def german(qapp):
    translators = speak(qapp, "de", ASSETS / "languages")
    yield
    for translator in translators:
        qapp.removeTranslator(translator)


def words(kind, device="Desk mic", **values):
    return notice_words(AudioNotice(kind=kind, device=device, message="as said", **values))


@pytest.mark.usefixtures("qapp")
def test_a_notice_names_its_devices_and_a_rare_one_stays_as_it_is():
    assert words(NoticeKind.MUTED) == "Desk mic is muted: please switch it on"
    gone = words(NoticeKind.LOST, missed="Headset")
    assert gone == "Headset is not there: listening to Desk mic until it is back"
    assert words(NoticeKind.LOST) == words(NoticeKind.FAILED) == "as said"
    assert words(NoticeKind.STALLED, device="") == "as said"


@pytest.mark.usefixtures("german")
def test_what_happens_to_a_source_is_said_in_the_language_of_the_windows():
    for kind in NoticeKind:
        if kind not in (NoticeKind.LOST, NoticeKind.DROPPED, NoticeKind.FAILED):
            said = words(kind)
            assert said != "as said", kind
            assert "istening" not in said, kind
    assert words(NoticeKind.LISTENING) == "Desk mic wird gehört"
    assert "Headset" in words(NoticeKind.STALLED, missed="Headset")
