import pytest

from app.application.lag_text import lag_text, lag_tip
from app.application.source_notices import SourceNotices
from app.look.contrast import contrast
from app.main_window.banner import Banner
from app.main_window.download_bar import DownloadBar
from app.main_window.source_bar import SourceBar
from app.widgets.lane_style import lane_colour, lane_name
from app.widgets.speech_indicator import SpeechIndicator
from engine.audio.devices import AudioNotice, DeviceKind, NoticeKind
from engine.messages import Code
from engine.metrics.word_lags import StageTime
from tests.support.app.fake_speech_engine import DEVICES


@pytest.fixture
def bar(qtbot):
    bar = SourceBar()
    qtbot.addWidget(bar)
    bar.show()
    return bar


def entries(devices):
    return [(devices.itemText(i), devices.itemData(i)) for i in range(devices.count())]


def test_each_source_offers_its_own_devices_behind_the_default(bar):
    bar.show_devices(DEVICES)
    assert entries(bar.microphone.devices) == [
        ("Default microphone", ""),
        ("Desk mic", "mic1"),
        ("Headset (muted)", "mic2"),
    ]
    assert entries(bar.system.devices) == [("Default output", ""), ("Speakers", "out1")]


def test_a_chosen_device_stays_chosen_while_it_is_gone(bar):
    devices = bar.microphone.devices
    bar.show_devices(DEVICES)
    devices.show_device("mic2")
    bar.show_devices(())
    assert devices.currentData() == "mic2"
    assert devices.currentText() == "Headset (muted)"
    bar.show_devices(DEVICES)
    assert devices.currentData() == "mic2"
    assert devices.count() == 3


def test_a_click_tells_that_something_else_is_wanted_and_showing_does_not(bar):
    told = []
    bar.wanted_changed.connect(lambda: told.append([one.kind for one in bar.on]))
    bar.microphone.button.click()
    bar.system.button.click()
    bar.microphone.show_on(on=False)
    assert told == [[DeviceKind.MICROPHONE], [DeviceKind.MICROPHONE, DeviceKind.SYSTEM]]
    assert bar.on == (bar.system,)


def test_nothing_moves_when_a_source_is_clicked(bar):
    bar.microphone.lamp.show_speech(speaks=False)
    places = [one.geometry() for one in (bar.microphone, bar.system)]
    size = bar.microphone.button.size()
    bar.microphone.button.click()
    bar.microphone.lamp.show_speech(speaks=True)
    assert [one.geometry() for one in (bar.microphone, bar.system)] == places
    assert bar.microphone.button.size() == size


def test_devices_are_asked_for_when_the_list_opens(bar, qtbot):
    with qtbot.waitSignal(bar.devices_wanted):
        bar.system.devices.showPopup()
    bar.system.devices.hidePopup()


def test_the_lamp_says_it_by_shape_word_and_name(qtbot):
    lamp = SpeechIndicator()
    qtbot.addWidget(lamp)
    lamp.resize(lamp.sizeHint())
    dark = grey(lamp)
    lamp.show_speech(speaks=True)
    assert lamp.accessibleDescription() == "Speech detected"
    lit = grey(lamp)
    assert len(lit - dark) > 30, "it is seen without colours"
    lamp.show_speech(speaks=False)
    assert lamp.accessibleDescription() == "No speech"
    assert grey(lamp) == dark


def grey(widget):
    """Places and lightness of pixels that are not the ground."""
    picture = widget.grab().toImage()
    pixels = {
        (x, y, picture.pixelColor(x, y).lightness() // 16)
        for x in range(picture.width())
        for y in range(picture.height())
    }
    ground = picture.pixelColor(picture.width() - 1, 0).lightness() // 16
    return {pixel for pixel in pixels if pixel[2] != ground}


def test_a_fetch_is_told_in_megabytes_once_they_are_known(qtbot):
    bar = DownloadBar()
    qtbot.addWidget(bar)
    bar.show_progress("base.en", 0, 0)
    assert bar.sentence.text() == "Downloading base.en from huggingface.co"
    assert bar.bar.maximum() == 0
    bar.show_progress("base.en", 61_000_000, 145_200_000)
    assert bar.sentence.text() == "Downloading base.en from huggingface.co: 61 of 146 MB"
    assert bar.bar.value() == 420
    with qtbot.waitSignal(bar.cancelled):
        bar.cancel.click()


def lag(stage, median_s):
    return StageTime(stage=stage, n_words=20, median_s=median_s, p95_s=2 * median_s)


def test_the_lag_is_that_of_the_whole_way_or_of_what_is_known_of_it():
    stages = [lag("recognised", 1.0), lag("translated", 0.5)]
    assert lag_text(stages, 0) == "lag 1.5 s  ·  0.00 s of sound lost"
    whole = [*stages, lag("shown", 0.1), lag("whole", 1.7)]
    assert lag_text(whole, 24_000) == "lag 1.7 s  ·  1.50 s of sound lost"
    assert lag_tip(whole).splitlines() == [
        "spoken to certain: 1.00 s (95 % within 2.00 s)",
        "certain to translated: 0.50 s (95 % within 1.00 s)",
        "translated to painted: 0.10 s (95 % within 0.20 s)",
        "spoken to painted: 1.70 s (95 % within 3.40 s)",
    ]


def test_lanes_have_names_and_colours_that_can_be_read(qapp):
    assert [lane_name(lane) for lane in ("me", "them", "", "Ada")] == ["Me", "Them", "", "Ada"]
    assert lane_colour("") is None
    ground = qapp.palette().base().color()
    for lane in ("me", "them"):
        assert contrast(lane_colour(lane).getRgb()[:3], ground.getRgb()[:3]) >= 4.5


@pytest.fixture
def notices(qtbot):
    banner = Banner()
    qtbot.addWidget(banner)
    made = SourceNotices(banner)
    made.banner = banner
    yield made
    made.close()


def notice(kind, code, device="Desk mic", **values):
    return AudioNotice(kind=kind, device=device, message=code(device=device, **values))


def test_of_each_source_the_newest_sentence_stands_in_the_banner(notices):
    banner = notices.banner
    notices.take("me", notice(NoticeKind.LOST, Code.GONE, "Headset", missed="Desk mic"))
    notices.take("them", notice(NoticeKind.MUTED, Code.MUTED, "Speakers"))
    notices.take("me", notice(NoticeKind.RETURNED, Code.BACK))
    assert banner.sentence.text() == "Desk mic is back: listening to it again."
    assert notices.devices == ("Desk mic",)
    banner.dismiss.click()
    assert banner.sentence.text() == "Speakers is muted: please switch it on."
    banner.dismiss.click()
    assert not banner.isVisible()


def test_good_news_go_by_themselves_and_bad_ones_stay(notices):
    banner = notices.banner
    notices.take("them", notice(NoticeKind.MUTED, Code.MUTED, "Speakers"))
    notices.take("me", notice(NoticeKind.HEARD, Code.HEARD))
    notices._forget.timeout.emit()
    assert banner.sentence.text() == "Speakers is muted: please switch it on."
    banner.dismiss.click()
    assert not banner.isVisible()


def test_what_was_wrong_goes_when_the_device_is_listened_to_again(notices):
    notices.take("me", notice(NoticeKind.NO_SERVER, Code.NO_SERVER, ""))
    notices.take("me", notice(NoticeKind.LISTENING, Code.LISTENING))
    assert not notices.banner.isVisible()
