import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication

from app.captions.model import SpeakerNames, UtteranceView
from app.config.preferences import (
    BOTH,
    BOTTOM_STRIP,
    CAPTIONS_ONLY,
    TOP_STRIP,
    TRANSLATE,
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
    view.dress(CaptionPreferences(), ProjectorPreferences())
    assert view.geometry() == area, "the place may change while it is shown"


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


def bright_rows(view):
    """The rows of pixels that have letters, bright ones and dim ones, and the columns with any."""
    image = view.grab().toImage()
    found = {True: set(), False: set()}
    columns = set()
    for y in range(0, image.height(), 2):
        for x in range(0, image.width(), 3):
            light = image.pixelColor(x, y).lightness()
            if light > 60:
                columns.add(x)
                found[light > 220].add(y)
    return found[True], found[False], columns


def test_a_room_reads_few_lines_above_the_heads_and_within_margins(projected, screen):
    view, area = projected(letters=4), screen.geometry()
    many = [
        UtteranceView(key=n, caption=f"Satz {n} ist ein langer Satz für den Saal.", doubtful=True)
        for n in range(30)
    ]
    view.show_views(many)
    assert 3 <= len(view._text.view.lines) <= 5
    bright, dim, columns = bright_rows(view)
    assert max(bright) <= 0.7 * area.height()
    assert min(bright | dim) > area.height() / 4
    assert min(columns) >= 0.05 * area.width()
    assert max(columns) <= 0.95 * area.width()


def test_old_sentences_are_dimmed_and_parted_from_the_newest(projected):
    view = projected(letters=4)
    view.show_views(
        [UtteranceView(key=7, caption="Alt gesagt."), UtteranceView(key=8, caption="Neu")]
    )
    assert [line.is_quiet for line in view._text.view.lines] == [True, False]
    bright, dim, _ = bright_rows(view)
    line = view._text.line_height
    assert min(bright) > min(dim) + 1.2 * line


def test_an_audience_sees_no_dots(projected):
    view = projected()
    view.show_views([UtteranceView(key=0, caption="Vielleicht.", doubtful=True, ended=True)])
    assert not any(line.doubtful or "(?)" in line.text for line in view._text.view.lines)


def test_words_flow_there_as_well(projected, qtbot):
    view = projected()
    longer = UtteranceView(key=3, caption="Und wir gehen")
    view.show_views([*VIEWS, longer])
    assert texts(view)[0][-1] == "Und"
    qtbot.waitUntil(lambda: texts(view)[0][-1] == longer.caption)
