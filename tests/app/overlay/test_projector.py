import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.captions.model import UtteranceView
from app.captions.speakers import SpeakerNames
from app.config.modes import BOTH, CAPTIONS_ONLY, TRANSLATE
from app.config.preferences import (
    BOTTOM_STRIP,
    TOP_STRIP,
    WHOLE_SCREEN,
    CaptionPreferences,
    ProjectorPreferences,
)
from app.overlay.projector import ProjectorView

VIEWS = [
    UtteranceView(key=1, source="Good morning.", caption="Guten Morgen.", ended=True),
    UtteranceView(key=2, source="We speak", caption="Wir reden", tail="about"),
]


@pytest.fixture
def screen(qapp):  # noqa: ARG001  it has the screens
    return QGuiApplication.primaryScreen()


@pytest.fixture
def projected(qtbot, screen):
    """Show captions to a room."""
    views = []

    def show(place=WHOLE_SCREEN, letters=6, mode=TRANSLATE):
        view = ProjectorView(screen, SpeakerNames({}))
        views.append(view)
        qtbot.addWidget(view)
        view.dress(
            CaptionPreferences(mode=mode), ProjectorPreferences(place=place, letters=letters)
        )
        view.show_views(VIEWS)
        return view

    return show


def texts(view):
    shown = view._text.view
    return [line.text for line in shown.lines], [line.text for line in shown.source]


def test_it_fills_the_screen_and_escape_leaves(projected, screen, qtbot):
    view = projected()
    assert view.geometry() == screen.geometry()
    assert view.isFullScreen()
    with qtbot.waitSignal(view.closed):
        qtbot.keyClick(view, Qt.Key.Key_Escape)


@pytest.mark.parametrize("place", [TOP_STRIP, BOTTOM_STRIP])
def test_a_strip_stands_at_its_edge_above_the_slides_and_leaves_them_the_keyboard(
    projected, screen, place
):
    view, area = projected(place), screen.geometry()
    assert view.width() == area.width()
    assert view.height() < area.height() / 2
    assert (view.geometry().top() == area.top()) == (place == TOP_STRIP)
    assert (view.geometry().bottom() == area.bottom()) == (place == BOTTOM_STRIP)
    assert view.windowFlags() & Qt.WindowType.WindowStaysOnTopHint
    assert view.windowFlags() & Qt.WindowType.WindowDoesNotAcceptFocus


@pytest.mark.parametrize(
    ("mode", "expected"),
    [
        (TRANSLATE, (["Guten Morgen.", "Wir reden"], [])),
        (BOTH, (["Guten Morgen.", "Wir reden"], ["Good morning.", "We speak about…"])),
        (CAPTIONS_ONLY, (["Good morning.", "We speak about…"], [])),
    ],
)
def test_one_language_or_two_are_shown_as_the_mode_says(projected, mode, expected):
    assert texts(projected(mode=mode)) == expected


def test_letters_follow_the_height_of_the_screen(projected):
    small, large = projected(letters=3), projected(letters=12)
    assert large.grab().toImage() != small.grab().toImage()
    assert large._text.measure("Guten") > 1.5 * small._text.measure("Guten")


def test_the_place_can_change_while_it_is_shown(projected, screen):
    view = projected()
    view.dress(CaptionPreferences(), ProjectorPreferences(place=BOTTOM_STRIP))
    assert view.height() < screen.geometry().height() / 2
    view.dress(CaptionPreferences(), ProjectorPreferences())
    assert view.geometry() == screen.geometry()


def test_it_leaves_with_its_screen(projected, screen, qtbot):
    view = projected()
    with qtbot.waitSignal(view.closed):
        QGuiApplication.instance().screenRemoved.emit(screen)
