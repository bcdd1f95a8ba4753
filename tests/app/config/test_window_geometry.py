import random

import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.config import window_geometry
from app.config.window_geometry import (
    GeometryFile,
    SavedGeometry,
    ScreenArea,
    WindowGeometry,
    geometry_of,
    restored_geometry,
)

LEFT = ScreenArea(name="left", area=QRect(0, 30, 1280, 690))
RIGHT = ScreenArea(name="right", area=QRect(1280, 0, 1920, 1080))
BOTH = [LEFT, RIGHT]


def test_a_window_comes_back_where_it_stood():
    rng = random.Random(0)
    for _ in range(200):
        area = rng.choice(BOTH).area
        size = QSize(rng.randrange(50, 900), rng.randrange(50, 600))
        left = area.left() + rng.randrange(area.width() - size.width())
        top = area.top() + rng.randrange(area.height() - size.height())
        window = QRect(left, top, size.width(), size.height())
        assert restored_geometry(geometry_of(window, BOTH), size, BOTH) == window


def test_a_window_is_always_inside_a_screen():
    rng = random.Random(1)
    for _ in range(500):
        place = SavedGeometry(
            screen=rng.choice(["left", "right", "gone"]),
            x=rng.choice([rng.uniform(-3, 3), float("nan"), float("inf")]),
            y=rng.uniform(-3, 3),
        )
        size = QSize(rng.randrange(1, 4000), rng.randrange(1, 3000))
        areas = rng.choice([[LEFT], [RIGHT], BOTH])
        came = restored_geometry(place, size, areas)
        assert any(one.area.contains(came) for one in areas)


def test_a_screen_that_is_gone_gives_way_to_the_first_one():
    place = geometry_of(QRect(1300, 900, 400, 100), BOTH)
    assert place.screen == "right"
    assert LEFT.area.contains(restored_geometry(place, QSize(400, 100), [LEFT]))


def test_a_window_on_two_screens_belongs_to_the_one_that_has_more_of_it():
    assert geometry_of(QRect(1270, 100, 100, 100), BOTH).screen == "right"
    assert geometry_of(QRect(1190, 100, 100, 100), BOTH).screen == "left"


def test_at_the_edge_of_a_screen_it_stays_at_the_edge_when_the_screen_grows():
    place = geometry_of(QRect(880, 620, 400, 100), [LEFT])
    larger = ScreenArea(name="left", area=QRect(0, 0, 2560, 1440))
    assert restored_geometry(place, QSize(400, 100), [larger]) == QRect(2160, 1340, 400, 100)


def test_places_are_read_again(tmp_path):
    place = SavedGeometry(screen="HDMI-1 äöü", x=0.25, y=1.0, width=300, height=200)
    GeometryFile(tmp_path / "places.toml").save("overlay", place)
    file = GeometryFile(tmp_path / "places.toml")
    assert file.find("overlay") == place
    assert file.find("window") is None
    file.forget()
    assert GeometryFile(tmp_path / "places.toml").find("overlay") is None


@pytest.mark.parametrize(
    "text", ["[[[", "overlay = 3", '[overlay]\nscreen = "x"\nx = "far"\ny = 1.0\n']
)
def test_damaged_places_are_forgotten(tmp_path, text):
    (tmp_path / "places.toml").write_text(text)
    assert GeometryFile(tmp_path / "places.toml").find("overlay") is None


@pytest.fixture
def windows(qtbot, tmp_path):
    def make():
        window = QWidget()
        window.setMinimumSize(60, 40)
        qtbot.addWidget(window)
        return window, WindowGeometry(window, GeometryFile(tmp_path / "places.toml"), "window")

    return make


def test_a_window_comes_back_with_its_place_and_size(windows, qtbot):
    window, place = windows()
    assert not place.restore()
    window.setGeometry(40, 50, 300, 200)
    window.show()
    qtbot.waitExposed(window)
    before = (window.pos(), window.size())
    window.close()
    again, place = windows()
    assert place.restore()
    assert again.size() == before[1]
    assert (again.pos() - before[0]).manhattanLength() <= 1


def test_it_is_kept_when_the_person_has_let_go_also_without_closing(windows, qtbot):
    window, place = windows()
    place._settled.setInterval(0)
    window.show()
    qtbot.waitExposed(window)
    window.setGeometry(10, 60, 222, 111)
    qtbot.waitUntil(lambda: windows()[1].restore())  # noqa: PLW0108  a new one each time
    again, place = windows()
    place.restore()
    assert again.size() == QSize(222, 111)


def test_a_window_never_comes_back_off_the_screen(windows, monkeypatch):
    rng = random.Random(0)
    for _ in range(30):
        window, place = windows()
        area = QGuiApplication.primaryScreen().availableGeometry()
        far = ScreenArea(name="far", area=QRect(5000, 3000, 1920, 1080))
        monkeypatch.setattr(window_geometry, "screens", lambda far=far: [far])
        window.setGeometry(
            rng.randrange(4000, 7000),
            rng.randrange(2000, 4000),
            rng.randrange(60, 3000),
            rng.randrange(40, 2000),
        )
        window.show()
        place.save()
        window.hide()
        monkeypatch.undo()
        again, place = windows()
        assert place.restore()
        assert area.contains(QRect(again.pos(), again.size()))


def test_the_size_of_a_maximised_window_is_not_kept(windows, qtbot):
    window, place = windows()
    window.showMaximized()
    qtbot.waitExposed(window)
    place.save()
    assert not windows()[1].restore()


def test_on_wayland_the_size_alone_comes_back(windows, qtbot, monkeypatch):
    window, _ = windows()
    window.setGeometry(90, 80, 300, 200)
    window.show()
    qtbot.waitExposed(window)
    window.close()
    monkeypatch.setattr(window_geometry, "is_wayland", lambda: True)
    again, place = windows()
    before = again.pos()
    assert place.restore()
    assert (again.pos(), again.size()) == (before, QSize(300, 200))


def test_where_screens_have_unequal_scales_a_window_gets_its_size_again(windows, qtbot):
    window, geometry = windows()
    window.resize(500, 300)
    window.show()
    geometry.save()
    QGuiApplication.instance().screenRemoved.emit(window.screen())
    qtbot.waitUntil(geometry._scaled.isActive)
    window.resize(250, 150)  # as a window of the same pixels at twice the scale
    told = []
    window.resizeEvent = lambda event: told.append(event.size().toTuple())
    qtbot.waitUntil(lambda: bool(told))
    assert told == [(501, 301), (500, 300)], "the system is told, whatever it had"
    assert window.size().toTuple() == (500, 300)


def test_the_main_window_comes_back_and_keeps_settings_apart(program, tmp_path):
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
