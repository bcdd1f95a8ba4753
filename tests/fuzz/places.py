"""The file that says where windows stood."""

import contextlib

from PySide6.QtCore import QRect, QSize

from app.config.window_system import GeometryFile, ScreenArea, restored_geometry
from tests.fuzz.sentences import text
from tests.fuzz.settings import put_file

_WHOLE = {
    "main": {"screen": "HDMI-1 7", "x": 0.5, "y": 0.25, "width": 800, "height": 600},
    "overlay": {"screen": "", "x": 0.0, "y": 1.0},
}


def _screen(rng):
    area = QRect(rng.randint(-5000, 5000), 0, rng.randint(1, 4000), rng.randint(1, 3000))
    return ScreenArea(name=rng.choice(["HDMI-1 7", "", text(rng)]), area=area)


@contextlib.contextmanager
def prepared(_folder):
    def run(rng, folder, allow):
        path = folder / "data" / "places.toml"
        path.parent.mkdir()
        put_file(rng, path, _WHOLE)
        areas = [_screen(rng) for _ in range(rng.randint(1, 3))]
        allow(path.parent)
        places = GeometryFile(path)
        for name in ("main", "overlay", text(rng)):
            place = places.find(name)
            if place is None:
                continue
            size = QSize(place.width, place.height) if place.width else QSize(800, 600)
            found = restored_geometry(place, size, areas)
            assert any(one.area.contains(found) for one in areas)
            places.save("main", place)
            assert places.find("main") == place

    yield run
