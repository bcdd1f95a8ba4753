import random

import pytest
from PySide6.QtCore import QRect, QSize

from app.config.window_geometry import Place, PlacesFile, ScreenArea, place_of, stood_at

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
        assert stood_at(place_of(window, BOTH), size, BOTH) == window


def test_a_window_is_always_inside_a_screen():
    rng = random.Random(1)
    for _ in range(500):
        place = Place(
            screen=rng.choice(["left", "right", "gone"]),
            x=rng.choice([rng.uniform(-3, 3), float("nan"), float("inf")]),
            y=rng.uniform(-3, 3),
        )
        size = QSize(rng.randrange(1, 4000), rng.randrange(1, 3000))
        areas = rng.choice([[LEFT], [RIGHT], BOTH])
        came = stood_at(place, size, areas)
        assert any(one.area.contains(came) for one in areas)


def test_a_screen_that_is_gone_gives_way_to_the_first_one():
    place = place_of(QRect(1300, 900, 400, 100), BOTH)
    assert place.screen == "right"
    assert LEFT.area.contains(stood_at(place, QSize(400, 100), [LEFT]))


def test_a_window_on_two_screens_belongs_to_the_one_that_has_more_of_it():
    assert place_of(QRect(1270, 100, 100, 100), BOTH).screen == "right"
    assert place_of(QRect(1190, 100, 100, 100), BOTH).screen == "left"


def test_at_the_edge_of_a_screen_it_stays_at_the_edge_when_the_screen_grows():
    place = place_of(QRect(880, 620, 400, 100), [LEFT])
    larger = ScreenArea(name="left", area=QRect(0, 0, 2560, 1440))
    assert stood_at(place, QSize(400, 100), [larger]) == QRect(2160, 1340, 400, 100)


def test_places_are_read_again(tmp_path):
    place = Place(screen="HDMI-1 äöü", x=0.25, y=1.0, width=300, height=200)
    PlacesFile(tmp_path / "places.toml").remember("overlay", place)
    file = PlacesFile(tmp_path / "places.toml")
    assert file.find("overlay") == place
    assert file.find("window") is None
    file.forget()
    assert PlacesFile(tmp_path / "places.toml").find("overlay") is None


@pytest.mark.parametrize(
    "text", ["[[[", "overlay = 3", '[overlay]\nscreen = "x"\nx = "far"\ny = 1.0\n']
)
def test_damaged_places_are_forgotten(tmp_path, text):
    (tmp_path / "places.toml").write_text(text)
    assert PlacesFile(tmp_path / "places.toml").find("overlay") is None
