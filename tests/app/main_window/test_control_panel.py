import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QVBoxLayout, QWidget

from app.controllers.listening_controller import SourceNotices
from app.look.icons import icon
from app.main_window.banner import Banner
from app.main_window.control_panel import ControlPanel
from app.main_window.window import EmptyPage
from engine.audio.devices import AudioNotice, DeviceKind, Level, NoticeKind
from engine.messages import Code
from tests.support.app.fake_speech_engine import DEVICES


@pytest.fixture
def bar(qtbot):
    window = QWidget()
    qtbot.addWidget(window)
    bar = ControlPanel()
    bar.setParent(window)
    window.show()
    bar.show()
    yield bar
    window.close()


def test_each_source_offers_its_own_devices_behind_the_default(bar):
    bar.show_devices(DEVICES)
    assert bar.microphone.devices.entries == [
        ("Default microphone", ""),
        ("Desk mic", "mic1"),
        ("Headset (muted)", "mic2"),
    ]
    assert bar.system.devices.entries == [("Default output", ""), ("Speakers", "out1")]


@pytest.mark.parametrize("name", ["microphone", "system"])
def test_a_source_can_be_pressed_by_other_programs_and_its_devices_opened_by_keys(bar, name):
    source = getattr(bar, name)
    told = []
    bar.wanted_changed.connect(lambda: told.append(source.button.isChecked()))
    seen = QAccessible.queryAccessibleInterface(source.button)
    assert seen.role() == QAccessible.Role.CheckBox
    assert {"Toggle", "Press"} <= set(seen.actionInterface().actionNames())
    for action in ("Toggle", "Press"):
        seen.actionInterface().doAction(action)
    assert told == [True, False]
    QTest.keyClick(source.button, Qt.Key.Key_Down)
    assert source.devices.isVisible()
    assert source.devices.activeAction().data() == ""
    source.devices.hide()


def test_a_chosen_device_stays_chosen_while_it_is_gone(bar):
    devices = bar.microphone.devices
    assert devices.value == ""
    bar.show_devices(DEVICES)
    assert devices.text == "Default microphone"
    bar.microphone.show_device("mic2")
    bar.show_devices(())
    assert (devices.value, devices.text) == ("mic2", "Headset (muted)")
    bar.show_devices(DEVICES)
    assert devices.value == "mic2"
    assert len(devices.entries) == 3


@pytest.mark.parametrize("name", ["overlay", "pause"])
def test_a_button_shows_what_it_is_or_does_now(bar, name):
    button = getattr(bar, name)
    names = {"overlay": ("captions-off", "captions"), "pause": ("pause", "play")}[name]
    for is_on, wanted in zip((True, False, True), (names[1], *names), strict=True):
        button.setChecked(is_on)
        pictures = [
            one.pixmap(20, 20).toImage() for one in (button.icon(), icon(wanted, before_text=True))
        ]
        assert pictures[0] == pictures[1]


def test_a_click_tells_that_something_else_is_wanted_and_showing_does_not(bar):
    told = []
    bar.wanted_changed.connect(lambda: told.append([one.kind for one in bar.on]))
    bar.microphone.button.click()
    bar.system.button.click()
    bar.microphone.show_on(on=False)
    assert told == [[DeviceKind.MICROPHONE], [DeviceKind.MICROPHONE, DeviceKind.SYSTEM]]
    assert bar.on == (bar.system,)


def test_nothing_moves_when_a_source_is_clicked(bar):
    places = [one.geometry() for one in (bar.microphone, bar.system)]
    size = bar.microphone.button.size()
    bar.microphone.button.click()
    bar.microphone.meter.show_level(Level(rms_db=-20.0, peak_db=-12.0))
    assert [one.geometry() for one in (bar.microphone, bar.system)] == places
    assert bar.microphone.button.size() == size


def test_texts_that_have_no_room_leave_their_icons_that_of_the_overlay_first(bar):
    whole, least = bar.sizeHint().width(), bar.minimumSizeHint().width()
    buttons = (bar.overlay, bar.pause, bar.system.button, bar.microphone.button)
    shown = []
    for width in (whole, whole - 1, least, whole):
        bar.resize(width, bar.height())
        QApplication.processEvents()
        styles = [one.toolButtonStyle() for one in buttons]
        shown.append([style == Qt.ToolButtonStyle.ToolButtonTextBesideIcon for style in styles])
        assert bar.pause.geometry().right() < width
    assert shown == [[True] * 4, [False, True, True, True], [False] * 4, [True] * 4]
    assert all(one.accessibleName() and one.toolTip() for one in buttons)


def test_the_first_step_is_told_and_a_missing_speech_model_offered_with_its_size(qtbot):
    page = EmptyPage()
    qtbot.addWidget(page)
    page.show()
    assert "Switch on the microphone" in page.hint.text()
    assert not page.offer.isVisible()
    page.show_missing("base.en")
    assert page.offer.isVisible()
    assert page.need.text() == "To caption speech, Surtitle needs a speech model (148 MB, once)."
    page.show_missing("ada/whisper")
    assert "the speech model ada/whisper" in page.need.text()
    page.show_missing("")
    assert not page.offer.isVisible()


@pytest.fixture
def notices(qtbot):
    window = QWidget()
    column = QVBoxLayout(window)
    line, banner = QLineEdit(), Banner()
    column.addWidget(line)
    column.addWidget(banner)
    line.setFocus()
    qtbot.addWidget(window)
    window.show()
    made = SourceNotices(banner)
    made.banner = banner
    yield made
    window.close()


def notice(kind, code, device="Desk mic", **values):
    return AudioNotice(kind=kind, device=device, message=code(device=device, **values))


def test_good_news_go_by_themselves_and_bad_ones_stay(notices, qtbot, monkeypatch):
    monkeypatch.setattr("app.main_window.banner._PASSING_MS", 0)
    banner = notices.banner
    notices.take("me", notice(NoticeKind.HEARD, Code.HEARD))
    qtbot.waitUntil(banner.isHidden)
    notices.take("them", notice(NoticeKind.MUTED, Code.MUTED, "Speakers"))
    qtbot.wait(1)
    assert banner.sentence.text() == "Speakers is muted: please switch it on."
    banner.dismiss.click()
    notices.take("me", notice(NoticeKind.NO_SERVER, Code.NO_SERVER, ""))
    notices.take("me", notice(NoticeKind.LISTENING, Code.LISTENING))
    assert not notices.banner.isVisible()
