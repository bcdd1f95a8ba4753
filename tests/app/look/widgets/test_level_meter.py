import pytest

from app.look.widgets.level_meter import LevelMeter
from engine.audio.devices import Level


@pytest.fixture
def meter(qtbot):
    meter = LevelMeter()
    qtbot.addWidget(meter)
    meter.resize(200, 14)
    meter.show()
    return meter


def painted(meter, x):
    return meter.grab().toImage().pixelColor(x, 7)


def test_the_bar_is_longer_the_louder_it_is(meter):
    lengths = []
    for loudness in (-100, -60, -50, -30, -10, 0):
        meter.show_level(Level(rms_db=loudness, peak_db=loudness))
        lengths.append(meter.filled)
    assert lengths == sorted(lengths)
    assert (lengths[0], lengths[1], lengths[-1]) == (0, 0, 1)


def test_the_bar_is_painted_as_far_as_it_is_filled(meter):
    empty = painted(meter, 50)
    meter.show_level(Level(rms_db=-30, peak_db=-30))
    assert painted(meter, 50) != empty
    assert painted(meter, 190) == empty
    meter.show_nothing()
    assert painted(meter, 50) == empty


def test_the_mark_of_the_loudest_falls_slowly_and_rises_at_once(meter):
    meter.show_level(Level(rms_db=-30, peak_db=-12))
    groove = painted(meter, 120)
    x = round(198 * (1 - 12 / 60)) + 1
    assert painted(meter, x) != groove
    meter.show_level(Level(rms_db=-60, peak_db=-60))
    assert painted(meter, x - 5) != groove  # a little lower, not gone


def test_what_is_seen_is_also_said(meter):
    assert meter.accessibleDescription() == "Not listening"
    meter.show_level(Level(rms_db=-24, peak_db=-12))
    assert meter.accessibleDescription() == meter.toolTip() == "24 decibels below full scale"
    meter.show_level(Level(rms_db=-3, peak_db=0))
    assert "Too loud" in meter.accessibleDescription()
    meter.show_level(Level(rms_db=-100, peak_db=-100))
    assert meter.accessibleDescription() == "Silent"
