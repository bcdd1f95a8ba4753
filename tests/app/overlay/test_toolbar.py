import random

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, QSize, Qt
from PySide6.QtGui import QColor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication

from app.captions.line_breaking import Line
from app.config.preferences import PRESETS, CaptionPreferences
from app.main_window.actions import Actions
from app.overlay.text_layout import OverlayView
from app.overlay.themes import theme_of
from app.overlay.toolbar import OverlayToolbar, place_beside
from app.overlay.window import Overlay

AREA = QRect(0, 30, 1280, 690)
COLOURS = theme_of(CaptionPreferences())


@pytest.fixture
def actions(qapp):  # noqa: ARG001  it must be there
    return Actions()


@pytest.fixture
def bar(qtbot, actions):
    overlay = Overlay(CaptionPreferences(smooth=False))
    qtbot.addWidget(overlay)
    made = OverlayToolbar(overlay, actions.for_bar(), actions.lock, COLOURS, inside=False)
    qtbot.addWidget(made)
    overlay.show()
    qtbot.waitExposed(overlay)
    made._leave.setInterval(0)
    return made


def move_mouse(widget, *, over):
    QApplication.sendEvent(widget, QEvent(QEvent.Type.Enter if over else QEvent.Type.Leave))


def shown(bar):
    return [button.text() for button in bar.buttons if button.isVisible()]


def test_the_bar_comes_with_the_mouse_and_goes_once_that_has_left_both(bar, qtbot):
    assert not bar.isVisible()
    move_mouse(bar._overlay, over=True)
    assert shown(bar) == [
        "Pause",
        "Clear the overlay",
        "Smaller text",
        "Larger text",
        "Lock (clicks go through)",
        "Hide overlay",
    ]
    move_mouse(bar._overlay, over=False)
    move_mouse(bar, over=True)
    qtbot.wait(20)
    assert bar.isVisible()
    move_mouse(bar, over=False)
    qtbot.waitUntil(lambda: not bar.isVisible())


@pytest.fixture
def mouse(monkeypatch):
    """Put the mouse somewhere; a locked overlay gets no events of it."""
    point = QPoint(0, 0)
    monkeypatch.setattr("app.overlay.toolbar.QCursor.pos", lambda: QPoint(point))

    def put(at):
        point.setX(at.x())
        point.setY(at.y())

    return put


def test_a_locked_overlay_shows_the_way_back_while_the_mouse_is_at_its_corner(
    bar, actions, mouse, qtbot
):
    bar._look.setInterval(0)
    actions.lock.toggled.connect(lambda locked: bar._overlay.set_locked(locked=locked))
    actions.lock.trigger()
    qtbot.wait(20)
    assert not bar.isVisible()
    place = bar._overlay.box.translated(bar._overlay.pos())
    mouse(place.center())
    qtbot.wait(20)
    assert not bar.isVisible(), "captions are in the middle"
    mouse(place.topRight() + QPoint(-8, 8))
    qtbot.waitUntil(bar.isVisible)
    assert shown(bar) == ["Unlock"]
    assert bar.geometry().bottom() + 1 == place.top()
    assert bar.geometry().right() == max(place.right(), place.left() + bar.width() - 1)
    mouse(QPoint(0, 0))
    qtbot.waitUntil(lambda: not bar.isVisible())
    mouse(place.topRight() + QPoint(-8, 8))
    qtbot.waitUntil(bar.isVisible)
    QTest.mouseClick(bar.way_back, Qt.MouseButton.LeftButton)
    assert not bar._overlay.is_locked
    assert not bar._look.isActive()


def test_it_goes_with_the_overlay_and_does_not_come_back_alone(bar):
    move_mouse(bar._overlay, over=True)
    bar._overlay.hide()
    assert not bar.isVisible()
    bar.settle()
    assert not bar.isVisible()


def test_a_button_is_an_icon_that_is_named_with_its_keys(bar, keeps_parts):
    keeps_parts(bar._overlay, bar)
    move_mouse(bar._overlay, over=True)
    for button in bar.buttons:
        assert button.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
        assert button.accessibleName() == button.text()
        assert button.toolTip().startswith(button.text())
    assert bar.buttons[0].toolTip() == "Pause (Ctrl+P)"
    assert bar.testAttribute(Qt.WidgetAttribute.WA_AlwaysShowToolTips)


def test_during_a_pause_its_first_button_resumes(bar, actions):
    icon = bar.buttons[0].icon().pixmap(20).toImage()
    actions.pause.trigger()
    assert bar.buttons[0].accessibleName() == "Resume"
    assert bar.buttons[0].toolTip() == "Resume (Ctrl+P)"
    assert bar.buttons[0].icon().pixmap(20).toImage() != icon
    QTest.mouseClick(bar.buttons[0], Qt.MouseButton.LeftButton)
    assert not actions.pause.isChecked()
    assert bar.buttons[0].accessibleName() == "Pause"


def test_while_the_bar_is_seen_the_edges_of_the_overlay_are(bar, qtbot):
    overlay = bar._overlay
    overlay.show_view(OverlayView(lines=(Line(text="Ja"),)))
    hugged = overlay.box
    move_mouse(overlay, over=True)
    assert overlay.box == overlay.rect()
    move_mouse(overlay, over=False)
    qtbot.waitUntil(lambda: overlay.box == hugged)


def test_it_follows_the_overlay(bar):
    move_mouse(bar._overlay, over=True)
    bar._overlay.move(-60, 300)
    assert bar.geometry().bottom() + 1 == 300
    assert bar.geometry().right() == bar._overlay.geometry().right()


def test_it_has_the_colours_of_the_captions(bar):
    colours = theme_of(CaptionPreferences(preset=PRESETS[1]))
    bar.show_colours(colours)
    move_mouse(bar._overlay, over=True)
    box = bar.grab().toImage().pixelColor(bar.width() // 2, 1)
    assert box == QColor(*colours.background)


def test_inside_the_overlay_it_lies_in_the_corner_and_is_no_window(qtbot, actions):
    overlay = Overlay(CaptionPreferences(smooth=False))
    qtbot.addWidget(overlay)
    bar = OverlayToolbar(overlay, actions.for_bar(), actions.lock, COLOURS, inside=True)
    overlay.show()
    qtbot.waitExposed(overlay)
    move_mouse(overlay, over=True)
    assert not bar.isWindow()
    assert bar.isVisible()
    assert overlay.rect().contains(bar.geometry())
    move_mouse(overlay, over=False)


def test_the_bar_is_on_the_screen_wherever_the_overlay_is():
    rng = random.Random(0)
    bar = QSize(330, 30)
    for _ in range(500):
        size = QSize(rng.randrange(150, 1280), rng.randrange(40, 690))
        overlay = QRect(QPoint(rng.randrange(-200, 1200), rng.randrange(0, 700)), size)
        place = QRect(place_beside(overlay, bar, AREA), bar)
        assert AREA.contains(place)
        has_room = overlay.top() - 30 >= AREA.top()
        if has_room and overlay.top() <= AREA.bottom() + 1:
            assert place.bottom() + 1 == overlay.top()


@pytest.mark.parametrize(("height", "y"), [(120, 150), (660, 690), (661, 30)])
def test_at_the_top_of_the_screen_the_bar_is_below_if_there_is_room(height, y):
    overlay = QRect(100, 30, 600, height)
    assert place_beside(overlay, QSize(330, 30), AREA) == QPoint(370, y)
