import pytest
from PySide6.QtGui import QAccessible

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


def test_what_is_seen_is_said_to_whoever_asks_and_told_to_nobody(meter):
    seen = QAccessible.queryAccessibleInterface(meter)
    for rms_db, peak_db, said in (
        (None, None, "Not listening"),
        (-24, -12, "24 decibels below full scale"),
        (-3, 0, "Too loud: turn it down"),
        (-100, -100, "Silent"),
    ):
        if rms_db is not None:
            meter.show_level(Level(rms_db=rms_db, peak_db=peak_db))
        assert seen.text(QAccessible.Text.Description) == meter.toolTip() == said
        assert not meter.accessibleDescription(), "each change of it is told to screen readers"


def test_silence_is_painted_once(meter, monkeypatch):
    silent = Level(rms_db=-100, peak_db=-100)
    for _ in range(100):  # the mark falls
        meter.show_level(silent)
    updates = []
    monkeypatch.setattr(meter, "update", lambda: updates.append(1))
    for _ in range(100):
        meter.show_level(silent)
    assert not updates
    meter.show_level(Level(rms_db=-30, peak_db=-12))
    assert updates
