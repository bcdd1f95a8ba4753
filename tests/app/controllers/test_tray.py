import pytest
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QSystemTrayIcon

from app.controllers.tray import Tray
from app.main_window.actions import Actions
from engine.files import ASSETS


@pytest.fixture
def tray(qtbot):
    actions = Actions()
    made = Tray(actions, QIcon(str(ASSETS / "icons" / "surtitle.svg")), actions)
    qtbot.addWidget(made.menu)
    yield made
    made.hide()


def test_where_the_desktop_has_no_tray_there_is_no_icon(tray, monkeypatch):
    monkeypatch.setattr(QSystemTrayIcon, "isSystemTrayAvailable", lambda: False)
    assert not tray.show()


def test_the_tray_offers_the_window_and_the_way_back_from_a_locked_overlay(tray, qtbot):
    texts = [action.text() for action in tray.menu.actions()]
    assert "Show &window" in texts
    lock = next(action for action in tray.menu.actions() if action.text().startswith("Loc&k"))
    with qtbot.waitSignal(lock.toggled):
        lock.trigger()
    with qtbot.waitSignal(tray.window_wanted):
        tray.menu.actions()[0].trigger()


def test_a_click_on_the_icon_asks_for_the_window(tray, qtbot):
    with qtbot.waitSignal(tray.window_wanted):
        tray._icon.activated.emit(QSystemTrayIcon.ActivationReason.Trigger)


def test_the_icon_is_a_picture():
    image = QIcon(str(ASSETS / "icons" / "surtitle.svg")).pixmap(64, 64).toImage()
    assert not image.isNull()
    assert image.pixelColor(32, 20).alpha() == 255
