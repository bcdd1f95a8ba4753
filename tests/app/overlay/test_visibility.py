import pytest
from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QApplication

from app.captions.line_breaking import Line
from app.config.preferences import CaptionPreferences
from app.overlay.controller import Visibility
from app.overlay.text_layout import OverlayView
from app.overlay.window import Overlay


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
    qtbot.wait(350)  # until it is not dragged, nor just placed
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
