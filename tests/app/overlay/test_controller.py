from dataclasses import replace
from types import SimpleNamespace

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QFont, QGuiApplication, QScreen
from PySide6.QtWidgets import QApplication

from app.captions.line_breaking import Line
from app.captions.model import UtteranceView
from app.config.preferences import PRESETS, CaptionPreferences
from app.config.window_system import GeometryFile, ScreenArea
from app.overlay.controller import OverlayController, Visibility
from app.overlay.text_layout import OverlayView
from app.overlay.themes import theme_of
from app.overlay.window import Overlay

STILL = CaptionPreferences(smooth=False, characters=30)
VIEWS = (
    UtteranceView(key=0, source="Good morning", caption="Guten Morgen"),
    UtteranceView(key=1, source="Today", caption="Heute"),
)


@pytest.fixture
def stages(qtbot, tmp_path):
    kept = []  # until its windows are closed

    def make(choices=STILL):
        stage = OverlayController(choices, GeometryFile(tmp_path / "places.toml"))
        kept.append(stage)
        qtbot.addWidget(stage.overlay)
        stage.show_views(VIEWS)
        return stage

    return make


def texts(lines):
    return [line.text for line in lines]


def test_captions_source_or_both_are_shown(stages):
    stage = stages()
    view = stage.overlay.view
    assert (texts(view.lines), texts(view.source)) == (["Guten Morgen", "Heute"], [])
    stage.show_theme(replace(STILL, mode="captions only"))
    view = stage.overlay.view
    assert (texts(view.lines), texts(view.source)) == (["Good morning", "Today"], [])
    stage.show_theme(replace(STILL, mode="both", lines=1))
    view = stage.overlay.view
    assert (texts(view.lines), texts(view.source)) == (["Heute"], ["Today"])
    stage.visibility.hide_after(5)
    stage.visibility.want(wanted=True)
    assert stage.visibility._silence.isActive()  # begun by the captions


def test_captions_that_were_painted_are_told_and_the_source_alone_is_not(stages):
    stage, told = stages(), []
    stage.painted.connect(told.append)
    stage.overlay.grab()
    assert told == [(1, 0)]
    stage.show_theme(replace(STILL, mode="captions only"))
    stage.overlay.grab()
    assert told == [(1, 0)]


def test_what_was_cleared_stays_away_and_what_comes_after_it_is_shown(stages):
    stage = stages()
    ended = UtteranceView(key=0, source="Good morning", caption="Guten Morgen", ended=True)
    begun = UtteranceView(key=1, source="Today", caption="Heute", further=(("pl", "Dzisiaj"),))
    stage.show_views((ended, begun))
    stage.clear()
    assert stage.overlay.view.is_hint
    assert list(stage.fresh_views) == []
    more = ("Today we go", "Heute gehen wir", (("pl", "Dzisiaj idziemy"), ("fr", "")))
    longer = UtteranceView(key=1, source=more[0], caption=more[1], further=more[2])
    new = UtteranceView(key=2, source="Yes", caption="Ja")
    rest = UtteranceView(key=1, source="we go", caption="gehen wir", further=(("pl", "idziemy"),))
    stage.show_views((ended, longer, new))
    assert list(stage.fresh_views) == [rest, new]
    assert texts(stage.overlay.view.lines) == ["gehen wir", "Ja"]
    stage.clear()
    stage.show_views((ended, replace(longer, ended=True), new))
    assert stage.overlay.view.is_hint


def test_its_toolbar_has_its_colours_and_is_seen_for_a_moment_once_unlocked(stages):
    stage, told = stages(), []
    stage.bar = SimpleNamespace(linger=lambda: told.append("seen"), show_colours=told.append)
    stage.set_locked(locked=True)
    assert told == []
    stage.set_locked(locked=False)
    other = replace(STILL, preset=PRESETS[1])
    stage.show_theme(other)
    assert told == ["seen", theme_of(other)]
    assert theme_of(other) != theme_of(STILL)
    stage.overlay.show()
    stage.close()
    assert not stage.overlay.isVisible()


def test_both_languages_show_the_same_sentences_and_what_lags_stays_until_more_comes(stages):
    stage = stages(replace(STILL, second="fr", lines=2))
    long = "Heute wollen wir über das Wetter sprechen"
    first = UtteranceView(key=0, caption="Guten Morgen", further=(("fr", "Bonjour"),))
    for further, below in ((), ["Bonjour"]), ((("fr", "Parlons"),), ["Bonjour", "Parlons"]):
        stage.show_views((first, UtteranceView(key=1, caption=long, further=further)))
        view = stage.overlay.view
        assert " ".join(texts(view.lines)) == f"Guten Morgen {long}"
        assert texts(view.second) == below
    short = UtteranceView(key=2, caption="Ja", further=(("fr", "Oui"),))
    stage.show_views((first, short))
    view = stage.overlay.view
    assert (texts(view.lines), texts(view.second)) == (["Guten Morgen", "Ja"], ["Bonjour", "Oui"])


def test_the_source_is_broken_by_the_letters_that_it_has_large_alone_small_beside(stages):
    long = UtteranceView(key=7, source="Today we want to speak about the weather and " * 2)
    stage = stages(replace(STILL, mode="captions only", lines=4))
    stage.show_views((long,))
    overlay = stage.overlay
    alone = texts(overlay.view.lines)
    assert max(map(overlay.text.measure, alone)) <= overlay.text.line_width
    stage.show_theme(replace(STILL, mode="both", lines=4))
    beside = texts(overlay.view.source)
    assert max(map(overlay.text.measure_source, beside)) <= overlay.text.line_width
    assert max(map(len, beside)) > max(map(len, alone))


def test_the_overlay_comes_back_where_it_was_dragged(stages, monkeypatch):
    stage = stages()
    stage.overlay.move(QPoint(33, 44))
    stage.overlay.moved.emit()
    again = stages()
    assert again.overlay.pos() == QPoint(33, 44)
    woken = []
    monkeypatch.setattr(again.visibility, "wake", lambda: woken.append("shown"))
    again.reset_position()
    assert woken == ["shown"]
    assert stages().overlay.pos() == again.overlay.default_position()


def test_the_overlay_never_opens_off_the_screen(stages, tmp_path):
    (tmp_path / "places.toml").write_text('[overlay]\nscreen = "gone"\nx = 9.0\ny = -4.0\n')
    overlay = stages().overlay
    assert overlay.screen().availableGeometry().contains(overlay.geometry())


def test_it_comes_back_when_a_screen_is_gone(stages, monkeypatch):
    stage = stages()
    place = stage.overlay.pos()
    stage.overlay.move(QPoint(99_000, 0))
    stage.restore()
    assert stage.overlay.pos() == place
    monkeypatch.setattr("app.overlay.controller.screens", list)  # the last one is gone too
    stage.overlay.move(QPoint(33, 44))
    stage.overlay.moved.emit()
    stage.restore()
    assert stage.overlay.pos() == QPoint(33, 44)
    monkeypatch.undo()
    assert stages().overlay.pos() == place, "no place was stored"


@pytest.fixture
def two_screens(monkeypatch):
    """A wide screen, and beside it one that is narrow since its letters are twice as large."""
    wide, narrow = QRect(0, 0, 2560, 1440), QRect(2560, 0, 960, 540)
    areas = [ScreenArea(name=name, area=area) for name, area in (("A", wide), ("B", narrow))]
    monkeypatch.setattr("app.overlay.controller.screens", lambda: areas)
    monkeypatch.setattr(
        Overlay, "_screen_area", lambda one: narrow if narrow.contains(one._anchor) else wide
    )
    return wide, narrow


def test_it_comes_back_to_its_place_on_a_narrow_screen_which_its_lines_fit(
    stages, tmp_path, two_screens
):
    (tmp_path / "places.toml").write_text('[overlay]\nscreen = "B"\nx = 0.25\ny = 0.5\n')
    overlay, narrow = stages(replace(STILL, point_size=24, characters=60)).overlay, two_screens[1]
    room, offset = narrow.size() - overlay.size(), overlay.pos() - narrow.topLeft()
    assert abs(offset.x() - room.width() / 4) <= 1
    assert abs(offset.y() - room.height() / 2) <= 1
    stage = stages(replace(STILL, point_size=60, characters=42))
    stage.show_views((UtteranceView(key=7, caption="Heute wollen wir über das Wetter sprechen"),))
    text = stage.overlay.text
    assert narrow.contains(stage.overlay.geometry())
    assert max(map(text.measure, texts(stage.overlay.view.lines))) <= text.line_width < 960


@pytest.mark.parametrize(
    ("doubt", "shown"),
    [
        ("mark", [("Guten Morgen", True), ("Heute", False)]),
        ("sign", [("Guten Morgen (?)", False), ("Heute", False)]),
        ("off", [("Guten Morgen", False), ("Heute", False)]),
    ],
)
def test_a_doubtful_caption_is_marked_as_the_user_chose(stages, doubt, shown):
    stage = stages()
    stage.show_views((replace(VIEWS[0], doubtful=True), VIEWS[1]))
    stage.show_theme(replace(STILL, doubt=doubt))
    assert [(line.text, line.doubtful) for line in stage.overlay.view.lines] == shown


def heard(*pairs):
    return [
        UtteranceView(key=key, lane=lane, source=text.upper(), caption=text)
        for key, (lane, text) in enumerate(pairs, start=10)
    ]


@pytest.mark.parametrize("mode", ["translate", "captions only", "both"])
def test_two_speakers_are_told_apart_in_every_mode(stages, mode):
    stage = stages(replace(STILL, mode=mode, name_them="Ada"))
    stage.speakers.hear(["me", "them"])
    stage.show_views(heard(("me", "Eins"), ("them", "Zwei")))
    view = stage.overlay.view
    said = ["ME: EINS", "ADA: ZWEI"]
    assert [text.upper() for text in texts(view.lines)] == said
    assert [line.lane for line in view.lines] == ["me", "them"]
    assert [text.upper() for text in texts(view.source)] == (said if mode == "both" else [])


@pytest.mark.parametrize(
    ("act", "is_on", "note"),
    [("pause", "paused", "Paused"), ("catch_up", "catches_up", "Catching up…")],
)
def test_a_pause_and_sound_that_waits_are_told_below_the_captions(stages, act, is_on, note):
    stage = stages()
    getattr(stage, act)(**{is_on: True})
    view = stage.overlay.view
    assert texts(view.lines) == ["Guten Morgen", "Heute", note]
    assert [line.is_quiet for line in view.lines] == [False, False, True]
    stage.show_views((*VIEWS, UtteranceView(key=2, caption="Noch eins")))
    assert texts(stage.overlay.view.lines)[-2:] == ["Noch eins", note]
    assert note not in texts(stage.lines.lines)
    stage.pause(paused=True)
    assert texts(stage.overlay.view.lines)[-1] == "Paused", "it comes before the other"
    stage.pause(paused=False)
    getattr(stage, act)(**{is_on: False})
    assert texts(stage.overlay.view.lines)[-1] == "Noch eins"


def test_another_font_of_the_application_breaks_lines_anew(stages, qapp, qtbot):
    stage = stages(replace(STILL, lines=4))
    long = UtteranceView(key=7, caption="Heute wollen wir ausführlich über das Wetter sprechen")
    stage.show_views((long,))
    before, own = stage.overlay.text.line_width, QFont(qapp.font())
    wide = QFont(own)
    wide.setBold(True)
    try:
        qapp.setFont(wide)
        overlay = stage.overlay
        qtbot.waitUntil(lambda: overlay.text.line_width > before)
        assert all(
            overlay.text.measure(one) <= overlay.text.line_width
            for one in texts(overlay.view.lines)
        )
        assert overlay.screen().availableGeometry().contains(overlay.geometry())
    finally:
        qapp.setFont(own)


@pytest.mark.parametrize("told", ["availableGeometryChanged", "logicalDotsPerInchChanged"])
def test_it_fits_a_screen_that_becomes_smaller(stages, monkeypatch, told):
    stage = stages(replace(STILL, characters=68))
    stage.show_views((UtteranceView(key=7, caption="Heute wollen wir über das Wetter sprechen"),))
    small = QRect(0, 0, 400, 240)
    monkeypatch.setattr(QScreen, "availableGeometry", lambda _screen: small)
    signal = getattr(QGuiApplication.primaryScreen(), told)
    signal.emit(small if told == "availableGeometryChanged" else 192.0)
    overlay = stage.overlay
    assert small.contains(overlay.geometry())
    assert all(
        overlay.text.measure(text) <= overlay.text.line_width for text in texts(overlay.view.lines)
    )


def test_words_flow_by_the_clock_and_are_painted_once_they_are_there(stages, qtbot):
    stage, told = stages(replace(STILL, smooth=True)), []
    stage.overlay.grab()
    stage.painted.connect(lambda keys: told.append(keys) if 2 in keys else None)
    long = UtteranceView(key=2, caption="Wir gehen bald")
    stage.show_views((*VIEWS, long))
    assert texts(stage.overlay.view.lines)[-1] == "Wir"
    stage.overlay.grab()
    assert not told
    qtbot.waitUntil(lambda: texts(stage.overlay.view.lines)[-1] == long.caption)
    stage.overlay.grab()
    assert told


def test_after_a_silence_the_overlay_comes_back_with_what_is_new_alone(stages):
    stage = stages()
    stage.visibility.hide_after(5)
    stage.visibility.want(wanted=True)
    stage.visibility.take_caption()
    stage.overlay._settled.stop()  # it was placed a moment ago
    stage.visibility._hide_in_silence()
    assert not stage.overlay.isVisible()
    stage.show_views((*VIEWS, UtteranceView(key=2, caption="Noch eins")))
    assert stage.overlay.isVisible()
    assert texts(stage.overlay.view.lines) == ["Noch eins"]
    stage.overlay._settled.stop()
    stage.visibility._hide_in_silence()
    stage.catch_up(catches_up=True)
    assert texts(stage.overlay.view.lines) == ["Catching up…"]


@pytest.fixture
def overlay(qtbot):
    widget = Overlay(CaptionPreferences(smooth=False))
    qtbot.addWidget(widget)
    return widget


@pytest.fixture
def hovered():
    return []


@pytest.fixture
def visibility(overlay, hovered, qtbot):
    made = Visibility(overlay, lambda: bool(hovered))
    made.hide_after(10)
    made.want(wanted=True)
    qtbot.waitExposed(overlay)
    qtbot.waitUntil(lambda: not overlay.is_dragged)  # nor just placed
    return made


def end_wait(visibility):
    """End the silence at once; return whether it was waited for."""
    silence = visibility._silence
    was_active = silence.isActive()
    silence.stop()
    if was_active:
        silence.timeout.emit()
    return was_active


def test_it_hides_after_silence_and_comes_back_with_the_next_caption(visibility, overlay):
    visibility.take_caption()
    assert visibility._silence.interval() == 10_000
    assert end_wait(visibility)
    assert not overlay.isVisible()
    visibility.take_caption()
    assert overlay.isVisible()
    assert visibility._silence.isActive()


def test_it_waits_for_nothing_before_the_first_caption_in_a_pause_and_if_not_wanted(
    visibility, overlay
):
    assert not end_wait(visibility)
    visibility.take_caption()
    visibility.pause(paused=True)
    assert not end_wait(visibility)
    visibility.pause(paused=False)
    assert visibility._silence.isActive()
    visibility.hide_after(0)
    assert not end_wait(visibility)
    assert overlay.isVisible()


def test_it_stays_while_the_mouse_is_on_it_and_waits_anew_after_that(
    visibility, overlay, hovered, qtbot
):
    visibility.take_caption()
    hovered.append(True)
    assert end_wait(visibility)
    assert overlay.isVisible()
    assert visibility._silence.isActive()
    hovered.clear()
    silence = visibility._silence
    silence.setTimerType(Qt.TimerType.PreciseTimer)
    silence.start()
    qtbot.wait(50)
    before_ms = silence.remainingTime()
    QApplication.sendEvent(overlay, QEvent(QEvent.Type.Leave))
    assert silence.remainingTime() > before_ms
    assert end_wait(visibility)
    assert not overlay.isVisible()


def test_it_stays_while_it_is_dragged(visibility, overlay):
    visibility.take_caption()
    overlay.move(overlay.pos().x() + 5, overlay.pos().y())
    assert overlay.is_dragged
    assert end_wait(visibility)
    assert overlay.isVisible()


def test_a_caption_shows_no_overlay_that_is_not_wanted_or_put_aside(visibility, overlay):
    visibility.put_aside(aside=True)
    visibility.take_caption()
    assert not overlay.isVisible()
    visibility.put_aside(aside=False)
    assert overlay.isVisible()
    visibility.want(wanted=False)
    visibility.take_caption()
    visibility.put_aside(aside=False)
    assert not overlay.isVisible()
    assert not visibility._silence.isActive()


def test_a_hint_that_would_cover_what_is_read_waits_for_the_first_caption(visibility, overlay):
    overlay.show_view(OverlayView(lines=(Line(text="Captions appear here."),), is_hint=True))
    area = overlay.screen().availableGeometry()
    overlay.keep_off([area])
    assert not overlay.isVisible()
    overlay.keep_off([])
    assert overlay.isVisible()
    overlay.keep_off([area])
    overlay.show_view(OverlayView(lines=(Line(text="Guten Morgen"),)))
    visibility.take_caption()
    assert overlay.isVisible()
    overlay.show_view(OverlayView(lines=(Line(text="Captions appear here."),), is_hint=True))
    assert not overlay.isVisible(), "cleared"


def test_it_stays_and_comes_back_while_sound_waits_for_its_captions(visibility, overlay):
    visibility.take_caption()
    assert end_wait(visibility)
    assert not overlay.isVisible()
    visibility.keep(waits=True)
    assert overlay.isVisible()
    visibility.take_caption()
    assert not end_wait(visibility)
    visibility.keep(waits=False)
    assert end_wait(visibility)
    assert not overlay.isVisible()
