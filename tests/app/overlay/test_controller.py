from dataclasses import replace

import pytest
from PySide6.QtCore import QPoint

from app.captions.model import UtteranceView
from app.config.preferences import CaptionPreferences
from app.config.window_geometry import GeometryFile
from app.overlay.controller import OverlayController

STILL = CaptionPreferences(smooth=False, characters=30)
VIEWS = (
    UtteranceView(key=0, source="Good morning", caption="Guten Morgen"),
    UtteranceView(key=1, source="Today", caption="Heute"),
)


@pytest.fixture
def stages(qtbot, tmp_path):
    def make(choices=STILL):
        stage = OverlayController(choices, GeometryFile(tmp_path / "places.toml"))
        qtbot.addWidget(stage.overlay)
        stage.show_views(VIEWS)
        return stage

    return make


def texts(lines):
    return [line.text for line in lines]


def test_captions_source_or_both_are_shown(stages):
    stage = stages()
    view = stage.overlay._view
    assert (texts(view.lines), texts(view.source)) == (["Guten Morgen", "Heute"], [])
    stage.show_theme(replace(STILL, mode="captions only"))
    view = stage.overlay._view
    assert (texts(view.lines), texts(view.source)) == (["Good morning", "Today"], [])
    stage.show_theme(replace(STILL, mode="both", lines=1))
    view = stage.overlay._view
    assert (texts(view.lines), texts(view.source)) == (["Heute"], ["Today"])


def test_a_hint_stands_where_nothing_was_said(stages):
    stage = stages()
    stage.show_views(())
    assert stage.overlay._view.is_hint
    stage.show_theme(replace(STILL, point_size=40))
    assert stage.overlay._view.is_hint


def test_another_size_of_letters_breaks_lines_anew_and_they_fit(stages):
    stage = stages()
    long = UtteranceView(key=7, caption="Heute wollen wir ausführlich über das Wetter sprechen")
    for point_size in (14, 28, 50):
        stage.show_theme(replace(STILL, point_size=point_size, lines=4))
        stage.show_views((long,))
        overlay = stage.overlay
        shown = texts(overlay._view.lines)
        assert long.caption.endswith(" ".join(shown))
        assert all(overlay.measure(text) <= overlay.line_width for text in shown)


def test_the_overlay_comes_back_where_it_was_dragged(stages):
    stage = stages()
    stage.overlay.move(QPoint(33, 44))
    stage.overlay.moved.emit()
    again = stages()
    assert again.overlay.pos() == QPoint(33, 44)
    again.reset_position()
    assert stages().overlay.pos() == again.overlay.default_position()


def test_the_overlay_never_opens_off_the_screen(stages, tmp_path):
    (tmp_path / "places.toml").write_text('[overlay]\nscreen = "gone"\nx = 9.0\ny = -4.0\n')
    overlay = stages().overlay
    assert overlay.screen().availableGeometry().contains(overlay.geometry())


def test_it_comes_back_when_a_screen_is_gone(stages):
    stage = stages()
    place = stage.overlay.pos()
    stage.overlay.move(QPoint(99_000, 0))
    stage.restore()
    assert stage.overlay.pos() == place


@pytest.mark.parametrize(
    ("preset", "doubt", "shown"),
    [
        ("white on black", "pale", [("Guten Morgen", True), ("Heute", False)]),
        ("white on black", "sign", [("Guten Morgen (?)", False), ("Heute", False)]),
        ("high contrast", "pale", [("Guten Morgen (?)", False), ("Heute", False)]),
        ("white on black", "off", [("Guten Morgen", False), ("Heute", False)]),
    ],
)
def test_a_doubtful_caption_is_marked_as_the_user_chose(stages, preset, doubt, shown):
    stage = stages()
    stage.show_views((replace(VIEWS[0], doubtful=True), VIEWS[1]))
    stage.show_theme(replace(STILL, preset=preset, doubt=doubt))
    assert [(line.text, line.pale) for line in stage.overlay._view.lines] == shown
