import pytest
from PySide6.QtCore import QEvent, QPoint, QPointF, Qt
from PySide6.QtGui import QColor, QMouseEvent, QPainterPath

from app.overlay import Overlay, OverlayView


@pytest.fixture
def overlay(qtbot):
    widget = Overlay()
    qtbot.addWidget(widget)
    return widget


def white_rows(overlay):
    """Rows of the picture that have white text in them."""
    image = overlay.grab().toImage()
    return {
        y
        for y in range(image.height())
        for x in range(0, image.width(), 2)
        if image.pixelColor(x, y).lightness() > 240
    }


def test_without_text_there_is_only_the_dark_background(overlay):
    assert white_rows(overlay) == set()
    middle = overlay.grab().toImage().pixelColor(overlay.rect().center())
    assert (middle.alpha(), middle.lightness()) == (178, 0)
    assert overlay.grab().toImage().pixelColor(0, 0).alpha() == 0  # the corner is round


def test_two_lines_are_painted_one_above_the_other(overlay):
    half = overlay.height() // 2
    overlay.show_view(OverlayView(lines=("Guten Morgen",)))
    first = white_rows(overlay)
    assert first
    assert max(first) < half + 6
    overlay.show_view(OverlayView(lines=("Guten Morgen", "zusammen")))
    assert first < white_rows(overlay)
    assert max(white_rows(overlay)) > half + 6


def test_of_more_lines_the_last_two_are_painted(overlay):
    overlay.show_view(OverlayView(lines=("eins", "zwei", "drei")))
    picture = overlay.grab().toImage()
    overlay.show_view(OverlayView(lines=("zwei", "drei")))
    assert overlay.grab().toImage() == picture


def test_text_has_a_black_outline_on_any_background(overlay):
    overlay.show_view(OverlayView(lines=("IIIIII",)))
    image = overlay.grab().toImage()
    opaque_black = QColor(0, 0, 0, 255)
    assert any(
        image.pixelColor(x, y) == opaque_black
        for y in range(image.height())
        for x in range(image.width())
    )


def test_a_hint_is_not_as_bright_as_a_caption(overlay):
    overlay.show_view(OverlayView(lines=("Captions appear here.",), is_hint=True))
    assert white_rows(overlay) == set()


def test_the_same_view_is_not_painted_again(overlay, monkeypatch):
    overlay.show_view(OverlayView(lines=("eins",)))
    updates = []
    monkeypatch.setattr(overlay, "update", lambda: updates.append(1))
    overlay.show_view(OverlayView(lines=("eins",)))
    assert updates == []


def test_a_line_has_room_for_a_line_of_subtitles_and_the_box_for_the_line(overlay):
    assert overlay.measure("Heute wollen wir über das Wetter") <= overlay.line_width
    assert overlay.line_width < overlay.width() <= overlay.screen().availableGeometry().width()


def test_it_stays_above_others_and_takes_no_focus(overlay):
    flags = overlay.windowFlags()
    for flag in (
        Qt.WindowType.FramelessWindowHint,
        Qt.WindowType.WindowStaysOnTopHint,
        Qt.WindowType.WindowDoesNotAcceptFocus,
    ):
        assert flags & flag
    assert flags & Qt.WindowType.Tool == Qt.WindowType.Tool
    assert overlay.testAttribute(Qt.WidgetAttribute.WA_ShowWithoutActivating)
    assert overlay.testAttribute(Qt.WidgetAttribute.WA_TranslucentBackground)


def test_it_opens_inside_the_screen(overlay):
    assert overlay.screen().availableGeometry().contains(overlay.geometry())


def mouse(overlay, kind, place):
    button = Qt.MouseButton.LeftButton
    event = QMouseEvent(
        kind,
        QPointF(place),
        QPointF(overlay.mapToGlobal(place)),
        button,
        button,
        Qt.KeyboardModifier.NoModifier,
    )
    {
        QEvent.Type.MouseButtonPress: overlay.mousePressEvent,
        QEvent.Type.MouseMove: overlay.mouseMoveEvent,
        QEvent.Type.MouseButtonRelease: overlay.mouseReleaseEvent,
    }[kind](event)


def test_it_is_dragged_by_hand_where_the_window_system_does_not_help(overlay, qtbot):
    overlay.show()  # the offscreen platform knows no system move
    qtbot.waitExposed(overlay)
    before = overlay.pos()
    mouse(overlay, QEvent.Type.MouseButtonPress, QPoint(20, 20))
    mouse(overlay, QEvent.Type.MouseMove, QPoint(15, 10))
    mouse(overlay, QEvent.Type.MouseButtonRelease, QPoint(20, 20))
    assert overlay.pos() == before + QPoint(-5, -10)
    mouse(overlay, QEvent.Type.MouseMove, QPoint(60, 60))
    assert overlay.pos() == before + QPoint(-5, -10)


def test_20_000_qt_calls_without_result_survive():
    """PySide6 6.12.0 aborts Python 3.11 here: each such call loses a reference to None."""
    path = QPainterPath()
    for _ in range(20_000):
        path.moveTo(0.0, 0.0)
