import itertools
import random

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QVBoxLayout, QWidget

from app.controllers.listening_controller import SourceNotices
from app.look.icons import icon
from app.main_window.banner import Banner
from app.main_window.control_panel import ControlPanel, FlowLayout
from app.main_window.empty_page import EmptyPage
from engine.audio.devices import AudioNotice, DeviceKind, Level, NoticeKind
from engine.messages import Code
from tests.support.app.fake_speech_engine import DEVICES


@pytest.fixture
def bar(qtbot):
    bar = ControlPanel()
    qtbot.addWidget(bar)
    bar.show()
    return bar


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


def test_overlay_and_pause_lose_their_text_before_they_take_a_row_of_their_own(bar):
    bar.overlay.setChecked(True)
    whole, high = bar._row.sizeHint().width(), bar.height()
    buttons, shown = (bar.overlay, bar.pause), []
    for width in (whole, whole - 1, whole - bar.overlay.width() - 1, bar.system.width(), whole):
        bar.resize(width, high)
        QApplication.processEvents()
        styles = [one.toolButtonStyle() for one in buttons]
        texts = [style == Qt.ToolButtonStyle.ToolButtonTextBesideIcon for style in styles]
        shown.append((*texts, bar.layout().heightForWidth(width) <= high))
    assert shown == [
        (True, True, True),
        (False, True, True),
        (False, False, True),
        (True, True, False),
        (True, True, True),
    ]
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
    for button, signal in (
        (page.download, page.download_clicked),
        (page.others, page.others_clicked),
    ):
        with qtbot.waitSignal(signal):
            button.click()
    for is_on in (True, False):
        page.show_offered_elsewhere(is_elsewhere=is_on)
        assert page.offer.isVisible() == (not is_on)
        page.show_fetching(is_on=is_on)
        assert page.download.isEnabled() == (not is_on)
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


class Box(QWidget):
    def __init__(self, width, height):
        super().__init__()
        self._size = QSize(width, height)

    def sizeHint(self):  # noqa: N802  Qt's name
        return self._size

    minimumSizeHint = sizeHint  # noqa: N815


@pytest.fixture
def rows(qtbot):
    def make(sizes, gap=None):
        widget = QWidget()
        qtbot.addWidget(widget)
        row = FlowLayout(widget)
        row.setSpacing(5)
        boxes = [Box(*size) for size in sizes]
        for number, box in enumerate(boxes):
            if number == gap:
                row.add_gap()
            row.addWidget(box)
        return widget, row, boxes

    return make


def test_all_stand_in_one_line_where_there_is_room(rows):
    _, row, boxes = rows([(100, 20), (50, 30), (80, 20)], gap=2)
    row.setGeometry(QRect(0, 0, 400, 30))
    assert [box.geometry().left() for box in boxes] == [0, 105, 320]
    assert [box.geometry().top() for box in boxes] == [5, 0, 5]


def test_what_is_aligned_to_the_top_stands_there(rows):
    _, row, boxes = rows([(100, 20), (50, 30)])
    row.setAlignment(boxes[0], Qt.AlignmentFlag.AlignTop)
    row.setGeometry(QRect(0, 0, 400, 30))
    assert [box.geometry().top() for box in boxes] == [0, 0]


def test_what_has_no_room_goes_on_in_the_next_line(rows):
    _, row, boxes = rows([(100, 20), (50, 30), (80, 20)], gap=2)
    row.setGeometry(QRect(0, 0, 160, 60))
    assert [(box.geometry().left(), box.geometry().top()) for box in boxes] == [
        (0, 5),
        (105, 0),
        (0, 35),
    ]
    assert row.heightForWidth(160) == 55


def test_nothing_overlaps_is_cut_or_out_of_order_at_any_width(rows):
    rng = random.Random(0)
    for _ in range(100):
        sizes = [(rng.randrange(20, 150), rng.randrange(10, 40)) for _ in range(8)]
        _, row, boxes = rows(sizes, gap=rng.randrange(9))
        width = rng.randrange(max(width for width, _ in sizes), 900)
        height = row.heightForWidth(width)
        place = QRect(7, 9, width, height)
        row.setGeometry(place)
        places = [box.geometry() for box in boxes]
        assert all(place.contains(one) for one in places)
        assert [one.size() for one in places] == [QSize(*size) for size in sizes]
        for before, after in itertools.pairwise(places):
            assert after.left() > before.right() or after.top() > before.top()
        assert not any(
            one.intersects(other) for n, one in enumerate(places) for other in places[:n]
        )


def test_what_is_hidden_takes_no_room(rows):
    widget, row, boxes = rows([(100, 20), (50, 20), (80, 20)])
    widget.show()
    boxes[0].hide()
    assert row.sizeHint() == QSize(135, 20)
    row.setGeometry(QRect(0, 0, 400, 20))
    assert boxes[1].geometry().left() == 0
    widget.hide()


def test_a_label_without_text_leaves_no_gap_until_it_has_one(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    row, label, box = FlowLayout(widget), QLabel(), Box(50, 20)
    row.add_gap()
    row.addWidget(box)
    row.addWidget(label)
    widget.resize(400, 40)
    widget.show()
    qtbot.waitExposed(widget)
    assert box.geometry().right() + 1 == 400
    label.setText("said")
    qtbot.waitUntil(lambda: label.geometry().right() + 1 == 400)
    assert label.geometry().left() > box.geometry().right() > 200
    widget.hide()
