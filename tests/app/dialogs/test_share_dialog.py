from types import SimpleNamespace

import pytest
import segno
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtNetwork import QHostAddress, QNetworkInterface
from PySide6.QtWidgets import QLabel, QMenu

from app.dialogs.networks import Network, is_here, networks
from app.dialogs.share_dialog import FURTHER, QrCode, ShareChoice, ShareDialog
from app.sharing.access import LOOPBACK
from app.sharing.room_feed import CAPTION, SOURCE

HOUSE = [
    Network("192.168.2.3", "wlan0", is_wireless=True),
    Network("10.0.0.2", "eth0"),
    Network("10.0.0.3"),
]
BOTH = {SOURCE: "en", CAPTION: "de"}


@pytest.fixture
def dialog(qtbot):
    one = ShareDialog()
    qtbot.addWidget(one)
    one.offer(HOUSE, BOTH)
    one.show()
    one.told = []
    one.start_wanted.connect(one.told.append)
    one.stop_wanted.connect(lambda: one.told.append("stop"))
    return one


def shown(dialog):
    return {name: it.text() for name, it in dialog.offers.items() if it.isVisible()}


def ticked(dialog):
    return [name for name, it in dialog.offers.items() if it.isChecked()]


def test_networks_are_named_and_this_computer_alone_comes_last(dialog):
    names = [dialog.network.itemText(row) for row in range(dialog.network.count())]
    assert names == [
        "Wi-Fi wlan0, 192.168.2.3",
        "Network eth0, 10.0.0.2",
        "Network, 10.0.0.3",
        "This computer only, to try it",
    ]
    assert (dialog.network.currentIndex(), dialog.network.itemData(3)) == (0, LOOPBACK)
    dialog.network.setCurrentIndex(1)
    dialog.offer([*HOUSE[1:], HOUSE[0]], BOTH)
    assert dialog.network.currentData() == "10.0.0.2"
    dialog.offer(HOUSE[:1], BOTH)
    assert dialog.network.currentIndex() == 0


def test_what_was_ticked_stays_and_what_is_new_is_ticked(dialog):
    assert shown(dialog) == {SOURCE: "English (as it is said)", CAPTION: "German (translated)"}
    assert ticked(dialog) == [SOURCE, CAPTION]
    dialog.offers[CAPTION].setChecked(False)
    dialog.offer(HOUSE, BOTH, ("pl", "fr"))
    assert ticked(dialog) == [SOURCE, FURTHER]
    assert shown(dialog)[FURTHER] == "2 further languages, if a reader chooses one"
    assert "French, Polish" in dialog.offers[FURTHER].toolTip()
    dialog.offer(HOUSE, {SOURCE: "en"})
    assert list(shown(dialog)) == ticked(dialog) == [SOURCE]
    dialog.offer(HOUSE, BOTH)
    assert ticked(dialog) == [SOURCE, CAPTION]
    for offer in dialog.offers.values():
        offer.setChecked(False)
    assert not dialog.start.isEnabled()
    dialog.offers[SOURCE].setChecked(True)
    assert dialog.start.isEnabled()


def test_the_choices_are_told_when_sharing_starts(dialog):
    assert dialog.by_link.isChecked()
    assert not dialog.keep_code.isChecked()
    dialog.keep_code.setChecked(True)
    dialog.start.click()
    dialog.by_pin.setChecked(True)
    dialog.offers[SOURCE].setChecked(False)
    dialog.network.setCurrentIndex(3)
    dialog.start.click()
    assert dialog.told == [
        ShareChoice(
            address="192.168.2.3", with_pin=False, keeps_code=True, offered=(SOURCE, CAPTION)
        ),
        ShareChoice(address=LOOPBACK, with_pin=True, keeps_code=False, offered=(CAPTION,)),
    ]


def test_the_networks_of_this_computer_are_listed_without_its_loopback(monkeypatch):
    assert all(is_here(one.address) and not one.address.startswith("127.") for one in networks())
    assert is_here(LOOPBACK)

    def interface(name, kind, *addresses):
        entries = [SimpleNamespace(ip=lambda it=it: QHostAddress(it)) for it in addresses]
        told = {"humanReadableName": name, "type": kind, "addressEntries": entries}
        return SimpleNamespace(**{key: lambda it=it: it for key, it in told.items()})

    kinds = QNetworkInterface.InterfaceType
    found = [
        interface("lo", kinds.Loopback, "127.0.0.1", "::1"),
        interface("eth0", kinds.Ethernet, "10.0.0.9", "fe80::1", "10.0.0.7"),
        interface("wlan0", kinds.Wifi, "192.168.2.3"),
    ]
    monkeypatch.setattr(QNetworkInterface, "allInterfaces", lambda: found)
    assert networks() == [
        Network("192.168.2.3", "wlan0", is_wireless=True),
        Network("10.0.0.7", "eth0"),
        Network("10.0.0.9", "eth0"),
    ]


@pytest.mark.parametrize(("address", "warns"), [("8.8.8.8", True), ("172.16.0.1", False)])
def test_an_address_of_the_internet_is_warned_of(dialog, address, warns):
    dialog.offer([Network(address)], BOTH)
    assert dialog.warning.isVisible() is warns
    assert ("anybody in the world" in dialog.warning.text()) is warns


def test_that_no_phone_can_read_along_is_told_before_and_while_captions_are_shared(dialog):
    assert not dialog.warning.isVisible()
    dialog.network.setCurrentIndex(3)
    assert "no phone. Choose the network" in dialog.warning.text()
    dialog.offer([], BOTH)
    assert "in no network: connect it" in dialog.warning.text()
    dialog.show_shared(f"http://{LOOPBACK}:1/#key", f"http://{LOOPBACK}:1/", "")
    dialog.offer(HOUSE, BOTH)
    assert dialog.warning.text().endswith("can open this address, no phone.")
    ways = dialog.warning, dialog.address, dialog.code, dialog.readers, dialog.fill
    assert [way.isVisible() for way in ways] == [True, True, False, False, False]
    dialog.show_stopped()
    dialog.offer(HOUSE, BOTH)
    dialog.network.setCurrentIndex(0)
    assert not dialog.warning.isVisible()


def test_the_window_has_room_for_choices_and_warning(qtbot):
    one = ShareDialog()
    qtbot.addWidget(one)
    one.offer([], BOTH)
    one.show()
    assert one.warning.isVisible()
    assert one._pages[0].verticalScrollBar().maximum() == 0


def test_while_captions_are_shared_the_way_to_them_is_shown(dialog):
    dialog.show_failure("no such network")
    assert (dialog.warning.text(), dialog.warning.isVisible()) == ("no such network", True)
    dialog.start.setFocus()
    dialog.show_shared("http://10.0.0.2:1/r/key", "http://10.0.0.2:1/", "1234")
    assert dialog.focusWidget() is dialog.copy, "a second Enter stops nothing"
    assert dialog.address.text() == "http://10.0.0.2:1/"
    code = dialog.code.grab().toImage()
    assert dialog.pin.text() == "PIN: 1234"
    assert dialog.pin.isVisible()
    assert dialog.readers.text().startswith("No phone reads along yet: it must be in this")
    dialog.show_readers(1)
    assert dialog.readers.text() == "1 phone reads along"
    buttons = dialog.start, dialog.stop, dialog.fill
    parts = *buttons, dialog.code, dialog.network, dialog.warning
    assert [part.isVisible() for part in parts] == [False, True, True, True, False, False]
    dialog.copy.click()
    assert QGuiApplication.clipboard().text() == "http://10.0.0.2:1/r/key"
    dialog.stop.click()
    dialog.show_stopped()
    assert dialog.told == ["stop"]
    assert [part.isVisible() for part in parts] == [True, False, False, False, True, False]
    dialog.show_shared("http://10.0.0.2:1/r/other", "http://10.0.0.2:1/", "")
    assert dialog.address.text() == "http://10.0.0.2:1/r/other"
    assert dialog.code.grab().toImage() != code
    assert not dialog.pin.isVisible()


@pytest.fixture
def on_the_wall(dialog):
    """The code on the only screen, in some languages."""

    def show(*languages, pin="1234"):
        dialog.show_shared("http://10.0.0.2:1/#key", "http://10.0.0.2:1/", pin, languages)
        dialog.fill.click()
        return dialog.wall

    return show


def texts_of(wall):
    return [label.text() for label in wall.findChildren(QLabel)]


def test_the_code_fills_a_screen_and_says_in_each_language_what_it_is_for(on_the_wall):
    wall = on_the_wall("en", "de", "xx", "ar", "fr", "it")
    assert wall.isFullScreen()
    assert texts_of(wall) == [
        "Captions on your phone",
        "Untertitel auf Ihrem Handy",
        "الترجمة على هاتفك",
        "Les sous-titres sur votre téléphone",
        "http://10.0.0.2:1/",
        "PIN: 1234",
    ]
    assert texts_of(on_the_wall("de", pin=""))[-1] == "http://10.0.0.2:1/#key"


def test_escape_leaves_the_wall_alone_and_so_do_the_end_of_sharing_and_of_its_screen(
    on_the_wall, dialog, qtbot
):
    qtbot.keyClick(on_the_wall("de"), Qt.Key.Key_Escape)
    assert dialog.isVisible()
    qtbot.waitUntil(lambda: dialog.wall is None)
    assert on_the_wall("de").isVisible()
    dialog.show_stopped()
    assert dialog.wall is None
    wall = on_the_wall("de")
    with qtbot.waitSignal(wall.destroyed):
        QGuiApplication.instance().screenRemoved.emit(QGuiApplication.primaryScreen())


def test_of_several_screens_one_is_chosen(on_the_wall, dialog, monkeypatch):
    screen = QGuiApplication.primaryScreen()
    monkeypatch.setattr(QGuiApplication, "screens", lambda: [screen, screen])
    assert on_the_wall("de") is None
    (menu,) = dialog.fill.findChildren(QMenu)
    first, second = menu.actions()
    assert first.text().startswith("Screen &1")
    second.trigger()
    assert dialog.wall.isFullScreen()
    menu.close()


LINK = "http://192.0.2.7:8753/r/abcdefgh"


@pytest.mark.parametrize("size", [(140, 140), (300, 203)])
def test_a_code_has_its_squares_and_a_light_border_whatever_the_place(qtbot, size):
    code = QrCode()
    qtbot.addWidget(code)
    code.resize(*size)
    code.show_text("something before")
    code.show_text(LINK)
    squares = list(segno.make(LINK, error="m", micro=False).matrix_iter(border=4))
    side = min(size) // len(squares)
    left, top = ((one - side * len(squares)) // 2 + side // 2 for one in size)
    image = code.grab().toImage()
    for y, row in enumerate(squares):
        shades = [image.pixelColor(left + side * x, top + side * y) for x in range(len(row))]
        assert [one.lightness() < 128 for one in shades] == list(map(bool, row))
