import random

import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.config import window_place
from app.config.window_geometry import PlacesFile, ScreenArea
from app.config.window_place import WindowPlace
from tests.app.application.test_application import program  # noqa: F401  a fixture


@pytest.fixture
def windows(qtbot, tmp_path):
    def make():
        window = QWidget()
        window.setMinimumSize(60, 40)
        qtbot.addWidget(window)
        return window, WindowPlace(window, PlacesFile(tmp_path / "places.toml"), "window")

    return make


def test_a_window_comes_back_with_its_place_and_size(windows, qtbot):
    window, place = windows()
    assert not place.come_back()
    window.setGeometry(40, 50, 300, 200)
    window.show()
    qtbot.waitExposed(window)
    before = (window.pos(), window.size())
    window.close()
    again, place = windows()
    assert place.come_back()
    assert again.size() == before[1]
    assert (again.pos() - before[0]).manhattanLength() <= 1


def test_it_is_kept_when_the_person_has_let_go_also_without_closing(windows, qtbot):
    window, place = windows()
    place._settled.setInterval(0)
    window.show()
    qtbot.waitExposed(window)
    window.setGeometry(10, 60, 222, 111)
    qtbot.waitUntil(lambda: windows()[1].come_back())  # noqa: PLW0108  a new one each time
    again, place = windows()
    place.come_back()
    assert again.size() == QSize(222, 111)


def test_a_window_never_comes_back_off_the_screen(windows, monkeypatch):
    rng = random.Random(0)
    for _ in range(30):
        window, place = windows()
        area = QGuiApplication.primaryScreen().availableGeometry()
        far = ScreenArea(name="far", area=QRect(5000, 3000, 1920, 1080))
        monkeypatch.setattr(window_place, "screens", lambda far=far: [far])
        window.setGeometry(
            rng.randrange(4000, 7000),
            rng.randrange(2000, 4000),
            rng.randrange(60, 3000),
            rng.randrange(40, 2000),
        )
        window.show()
        place.remember()
        window.hide()
        monkeypatch.undo()
        again, place = windows()
        assert place.come_back()
        assert area.contains(QRect(again.pos(), again.size()))


def test_the_size_of_a_maximised_window_is_not_kept(windows, qtbot):
    window, place = windows()
    window.showMaximized()
    qtbot.waitExposed(window)
    place.remember()
    assert not windows()[1].come_back()


def test_on_wayland_the_size_alone_comes_back(windows, qtbot, monkeypatch):
    window, _ = windows()
    window.setGeometry(90, 80, 300, 200)
    window.show()
    qtbot.waitExposed(window)
    window.close()
    monkeypatch.setattr(window_place, "is_wayland", lambda: True)
    again, place = windows()
    before = again.pos()
    assert place.come_back()
    assert (again.pos(), again.size()) == (before, QSize(300, 200))


def test_the_main_window_comes_back_and_keeps_settings_apart(program, tmp_path):  # noqa: F811
    one = program().open()
    one.window.setGeometry(20, 30, 700, 400)
    one.wait(lambda: one.window.size() == QSize(700, 400))
    stood = one.window.pos()
    one.window.close()
    assert "window" in (tmp_path / "places.toml").read_text()
    settings = tmp_path / "settings.toml"
    assert not settings.exists() or "width" not in settings.read_text()
    again = program().open()
    assert again.window.size() == QSize(700, 400)
    assert (again.window.pos() - stood).manhattanLength() <= 1
    other = program(forget_places=True).open()
    assert other.window.size() != QSize(700, 400)
