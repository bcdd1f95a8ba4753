import itertools
import random
import sys

import pytest
from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget

from app.config import window_system
from app.config.window_system import (
    GeometryFile,
    SavedGeometry,
    ScreenArea,
    ShareGuard,
    WindowGeometry,
    can_hide,
    can_use_xwayland,
    geometry_of,
    hide_from_share,
    platform_wanted,
    restored_geometry,
)

BESIDE = {"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}


def test_xwayland_is_used_where_it_is_chosen_and_there_and_nothing_else_was_said():
    for chosen, wayland, x11, said in itertools.product([False, True], repeat=4):
        environment = (
            ({"WAYLAND_DISPLAY": "wayland-0"} if wayland else {})
            | ({"DISPLAY": ":0"} if x11 else {})
            | ({"QT_QPA_PLATFORM": "wayland"} if said else {})
        )
        wanted = platform_wanted(environment, through_xwayland=chosen)
        assert (wanted is not None) == (chosen and wayland and x11 and not said)


def test_qt_may_still_take_wayland_where_xwayland_does_not_start():
    assert platform_wanted(BESIDE, through_xwayland=True) == "xcb;wayland"
    assert not can_use_xwayland({"DISPLAY": ":0"})


@pytest.fixture
def on_wayland(monkeypatch):
    monkeypatch.setattr("app.controllers.overlay_actions.is_wayland", lambda: True)
    monkeypatch.setattr("app.overlay.controller.is_wayland", lambda: True)


@pytest.mark.usefixtures("on_wayland")
def test_the_window_says_once_what_wayland_keeps_it_from(one):
    banner = one.window.banner
    assert "Wayland" in banner.sentence.text()
    assert not banner.offer.isVisible()
    banner.dismiss.click()
    one.window.controls.overlay.toggle()
    one.window.controls.overlay.toggle()
    assert not banner.isVisible()


@pytest.mark.usefixtures("on_wayland")
def test_what_was_tried_and_did_not_work_is_not_offered_again(program, tmp_path):
    (tmp_path / "settings.toml").write_text(
        "schema_version = 2\n[overlay]\nthrough_xwayland = true\n"
    )
    one = program(can_use_xwayland=True).open().wait_until_ready()
    assert "Wayland" in one.window.banner.sentence.text()
    assert not one.window.banner.offer.isVisible()


@pytest.mark.usefixtures("on_wayland")
def test_it_starts_again_through_xwayland_when_that_is_wanted(program):
    one = program(can_use_xwayland=True).open().wait_until_ready()
    assert one.window.banner.offer.isVisible()
    finished = []
    one.application.finished.connect(lambda: finished.append(True))
    one.window.banner.offer.click()
    assert finished
    assert one.application.overlay_actions.wants_restart
    assert one.stored()["overlay"]["through_xwayland"] is True


@pytest.fixture
def told(monkeypatch):
    told = []
    monkeypatch.setattr(
        window_system, "hide_from_share", lambda window, hidden: told.append((window, hidden))
    )
    return told


@pytest.mark.skipif(sys.platform != "linux", reason="other systems can")
def test_on_linux_nothing_is_promised():
    assert not can_hide()
    assert not hide_from_share(1, hidden=True)


def test_windows_are_kept_out_while_that_is_wanted_also_if_they_are_made_anew(qtbot, told):
    window, guard = QWidget(), ShareGuard()
    qtbot.addWidget(window)
    guard.watch(window)
    window.show()
    assert told == []
    guard.use(hidden=True)
    assert told == [(window.winId(), True)]
    guard.use(hidden=True)
    assert len(told) == 1
    guard.use(hidden=False)
    assert told[-1] == (window.winId(), False)
    window.hide()
    window.show()
    assert len(told) == 2
    window.hide()
    told.clear()
    guard.use(hidden=True)
    assert told == [], "it is not shown"
    window.show()
    assert told[-1] == (window.winId(), True)
    before = len(told)
    window.setWindowOpacity(0.5)
    window.setWindowFlag(window.windowFlags().FramelessWindowHint)
    window.show()
    assert len(told) > before
    assert told[-1] == (window.winId(), True)


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


def test_a_window_on_two_screens_belongs_to_the_one_that_has_more_of_it():
    assert geometry_of(QRect(1270, 100, 100, 100), BOTH).screen == "right"
    assert geometry_of(QRect(1190, 100, 100, 100), BOTH).screen == "left"


def test_places_are_read_again(tmp_path):
    place = SavedGeometry(screen="HDMI-1 äöü", x=0.25, y=1.0, width=16_777_215, height=1)
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
    monkeypatch.setattr(window_system, "is_wayland", lambda: True)
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
