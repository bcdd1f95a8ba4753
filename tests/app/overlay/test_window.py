import random
from dataclasses import replace

import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, QPointF, QRect, QSize, Qt
from PySide6.QtGui import (
    QColor,
    QFontDatabase,
    QMouseEvent,
)
from PySide6.QtTest import QTest

from app.captions.line_breaking import Line, runs_right_to_left
from app.config.preferences import PRESETS, CaptionPreferences
from app.overlay.text_layout import OverlayView
from app.overlay.themes import theme_of
from app.overlay.window import (
    NO_EDGE,
    Drag,
    Overlay,
    best_place,
    clear_place,
    edges_at,
    moved_inside,
)

STILL = CaptionPreferences(smooth=False, lines=2)
LEFT, RIGHT = Qt.Edge.LeftEdge, Qt.Edge.RightEdge
TOP, BOTTOM = Qt.Edge.TopEdge, Qt.Edge.BottomEdge


@pytest.fixture
def overlay(qtbot):
    widget = Overlay(STILL)
    qtbot.addWidget(widget)
    return widget


def lines(*texts, right_to_left=False):
    return tuple(Line(text=text, right_to_left=right_to_left) for text in texts)


def shown(*texts, **others):
    return OverlayView(lines=lines(*texts), **others)


def places_of(overlay, least, most):
    image = picture(overlay)
    return {
        (x, y)
        for y in range(image.height())
        for x in range(0, image.width(), 2)
        if least <= image.pixelColor(x, y).lightness() <= most
    }


def white_places(overlay):
    """Where the picture has white text in it."""
    return places_of(overlay, 241, 255)


def upper_places(overlay):
    return {(x, y) for x, y in white_places(overlay) if y < overlay.height() // 2}


def white_rows(overlay):
    return {y for _, y in white_places(overlay)}


def picture(overlay):
    return overlay.grab().toImage()


def test_without_text_there_is_only_the_dark_background(overlay):
    assert white_rows(overlay) == set()
    middle = picture(overlay).pixelColor(overlay.rect().center())
    assert (middle.alpha(), middle.lightness()) == (178, 0)
    assert picture(overlay).pixelColor(0, 0).alpha() == 0  # the corner is round


def test_a_line_stands_at_the_lower_edge_and_moves_up_for_the_next_one(overlay):
    half = overlay.height() // 2
    overlay.show_view(shown("Guten Morgen"))
    first = white_rows(overlay)
    assert min(first) >= half
    overlay.show_view(shown("Guten Morgen", "zusammen"))
    both = white_rows(overlay)
    line = overlay.height() // 2 - 9
    assert {row - line for row in first} <= both | {row - 1 for row in both}
    assert max(both) >= half


def test_the_box_is_as_wide_as_a_line_may_be_and_grows_upward(overlay):
    bottom = overlay.rect().bottom()
    boxes = []
    for texts in (["Guten"], ["Guten Morgen"], ["Guten Morgen", "zusammen"]):
        overlay.show_view(shown(*texts))
        boxes.append(overlay.box)
        assert overlay.box.bottom() == bottom
        assert (overlay.mask().boundingRect() or overlay.rect()) == overlay.box
        image = picture(overlay)
        above = QPoint(overlay.box.center().x(), overlay.box.top() - 2)
        assert not overlay.rect().contains(above) or image.pixelColor(above).alpha() == 0
        assert image.pixelColor(overlay.box.center()).alpha() > 0
    assert boxes[0] == boxes[1]
    assert boxes[0].height() < boxes[2].height() == overlay.height()
    assert {box.width() for box in boxes} == {overlay.width()}, "it would jump with every word"


@pytest.mark.parametrize("right_to_left", [False, True])
def test_a_hint_is_hugged_and_captions_have_the_whole_width_whichever_way_they_run(
    overlay, right_to_left
):
    overlay.show_view(shown("Captions appear here.", is_hint=True))
    assert overlay.box.width() < overlay.width()
    overlay.show_view(OverlayView(lines=lines("صباح", right_to_left=right_to_left)))
    assert overlay.box.width() == overlay.width()


def test_while_a_burst_comes_lines_have_room_above_and_nothing_else_moves(overlay):
    overlay.show()
    place, line = overlay.geometry(), overlay.text.line_height
    default = overlay.default_position()
    overlay.show_view(shown("eins", "zwei"))
    before = white_rows(overlay)
    assert overlay.n_extra == 2
    overlay.show_view(shown("eins", "zwei", "drei", "vier", "fünf"))
    assert overlay.geometry() == place.adjusted(0, -2 * line, 0, 0)
    assert overlay.home == place
    assert overlay.n_lines == 2
    assert overlay.height() == place.height() + 2 * line
    assert overlay.height() - overlay.box.height() in range(4)  # heights of lines are rounded
    assert len(white_rows(overlay)) > len(before)
    assert overlay.default_position() == default
    overlay.show_view(shown("vier", "fünf"))
    assert overlay.geometry() == place


def test_no_more_lines_have_room_where_the_screen_ends_or_something_is_needed(overlay):
    area, line = overlay.screen().availableGeometry(), overlay.text.line_height
    overlay.put(area.topLeft() + QPoint(0, line + line // 2))
    assert overlay.n_extra == 1
    overlay.show_view(shown("eins", "zwei", "drei", "vier"))
    assert area.contains(overlay.geometry())
    overlay.put(overlay.default_position())
    overlay.show_view(shown("eins"))
    above = QRect(overlay.geometry().topLeft() - QPoint(0, line + 10), QSize(40, 20))
    overlay.keep_off([above])
    assert overlay.n_extra == 0
    overlay.show_view(shown("eins", "zwei", "drei"))
    assert not overlay.geometry().intersects(above)


def test_a_drag_takes_the_usual_lines_alone_and_no_other_size_is_wanted(overlay, qtbot):
    overlay.show()
    qtbot.waitExposed(overlay)
    sizes = []
    overlay.size_wanted.connect(lambda *size: sizes.append(size))
    overlay.show_view(shown("eins", "zwei", "drei"))
    size = overlay.home.size()
    middle = overlay.rect().center()
    with qtbot.waitSignal(overlay.moved):
        mouse(overlay, QEvent.Type.MouseButtonPress, middle)
        mouse(overlay, QEvent.Type.MouseMove, middle + QPoint(0, -40))
        assert overlay.size() == size
        overlay.show_view(shown("eins", "zwei", "drei", "vier"))
        assert overlay.size() == size
        mouse(overlay, QEvent.Type.MouseButtonRelease, middle)
    assert not sizes


@pytest.mark.parametrize("point_size", [14, 28, 96])
@pytest.mark.parametrize("mode", ["translate", "both"])
def test_the_box_has_all_of_the_text_in_it(overlay, point_size, mode):
    overlay.show_theme(replace(STILL, point_size=point_size, mode=mode, characters=20))
    for n in range(1, 4):
        texts = lines(*["gÄpf"] * n)
        overlay.show_view(OverlayView(lines=texts, source=texts[1:]))
        for x, y in white_places(overlay):
            assert overlay.box.adjusted(9, 4, -9, -4).contains(x, y)


def test_a_hint_is_paler_and_has_smaller_letters_where_it_is_wider_than_a_line(overlay):
    hint = shown("Captions appear here.", "Drag them anywhere.", is_hint=True)
    for view in (hint, OverlayView(lines=(Line(text="Paused", is_quiet=True),))):
        overlay.show_view(view)
        assert white_rows(overlay) == set()
        assert QColor(*theme_of(STILL).quiet).rgba() in colours_of(overlay)
    overlay.show_theme(replace(STILL, point_size=96, characters=20))
    overlay.show_view(hint)
    font, metrics = overlay.text.caption_letters()
    assert metrics.horizontalAdvance("Captions appear here.") <= overlay.text.line_width
    assert font.pointSizeF() > 30
    overlay.show_theme(STILL)
    assert overlay.text.caption_letters()[0].pointSizeF() == STILL.point_size


def test_letters_have_an_outline_where_the_box_alone_would_not_do(overlay):
    overlay.show_view(shown("IIIIII"))
    assert not has_opaque_black(overlay), "it makes letters on a dark box fuzzy"
    overlay.show_theme(replace(STILL, opacity=0.2))
    overlay.show_view(shown("IIIIIII"))
    assert has_opaque_black(overlay)
    overlay.show_theme(replace(STILL, opacity=0.2, outline=False))
    assert not has_opaque_black(overlay)


def has_opaque_black(overlay):
    image, black = picture(overlay), QColor(0, 0, 0, 255)
    return any(
        image.pixelColor(x, y) == black for y in range(image.height()) for x in range(image.width())
    )


OWN = {"text_colour": "#00ff00", "background_colour": "#400000", "opacity": 0.5}


@pytest.mark.parametrize("choices", [*({"preset": one} for one in PRESETS), OWN])
def test_a_preset_or_a_persons_own_colours_are_those_of_box_and_letters(overlay, choices):
    choices = replace(STILL, **choices)
    theme = theme_of(choices)
    overlay.show_theme(choices)
    box = picture(overlay).pixelColor(overlay.rect().center())
    assert box.alpha() == theme.opacity
    wanted = QColor(*theme.background).getRgb()[:3]
    assert box.getRgb()[:3] == pytest.approx(wanted, abs=1)
    overlay.show_view(shown("IIIIIIIIII"))
    assert QColor(*theme.text).rgba() in colours_of(overlay)


def test_a_persons_own_font_is_used_where_there_is_one(overlay):
    families = {"DejaVu Sans Mono", "DejaVu Serif", "Liberation Mono"} & {*QFontDatabase.families()}
    width = overlay.text.measure("Good morning")
    for family in sorted(families):
        overlay.show_theme(replace(STILL, font=family))
        assert overlay.text.measure("Good morning") != width
    overlay.show_theme(replace(STILL, font="No such font"))
    assert overlay.text.measure("Good morning") > 0


def test_the_source_stands_above_captions_in_smaller_letters(overlay):
    small = overlay.height()
    overlay.show_theme(replace(STILL, mode="both"))
    assert overlay.height() > small
    overlay.show_view(OverlayView(lines=lines("Guten Morgen")))
    captions = white_rows(overlay)
    overlay.show_view(OverlayView(lines=lines("Guten Morgen"), source=lines("Good morning")))
    assert white_rows(overlay) == captions  # the source is not white
    assert min(captions) > overlay.height() // 3
    assert overlay.text.measure_source("Good morning") < overlay.text.measure("Good morning")


def test_a_line_from_right_to_left_ends_at_the_right_edge(overlay):
    overlay.show_view(OverlayView(lines=lines("صباح الخير", right_to_left=True)))
    columns = {x for x, _ in white_places(overlay)}
    assert min(columns) > overlay.width() // 2
    assert max(columns) <= overlay.width() - 18 + 2


def test_lines_glide_from_where_they_were_and_come_to_rest_where_they_belong(
    overlay, qtbot, monkeypatch
):
    monkeypatch.setattr("app.overlay.window._QUICK_S", 60.0)  # also on a busy machine
    overlay.show_view(shown("zwei", "drei"))
    rest = picture(overlay)
    overlay.show_theme(replace(STILL, smooth=True))
    overlay.show_view(shown("eins", "zwei"))
    before = upper_places(overlay)
    overlay.show_view(shown("zwei", "drei"))
    assert upper_places(overlay) == before != set(), "also the one that leaves"
    qtbot.waitUntil(lambda: picture(overlay) == rest)


@pytest.mark.parametrize(
    "change",
    [
        lambda overlay, _theme: overlay.show_view(shown("vier", "acht")),
        lambda overlay, theme: overlay.show_theme(replace(theme, point_size=20)),
    ],
)
def test_another_text_and_other_letters_end_a_glide(overlay, monkeypatch, change):
    monkeypatch.setattr("app.overlay.window._QUICK_S", 60.0)
    places = []
    for theme in (STILL, replace(STILL, smooth=True)):
        overlay.show_theme(theme)
        overlay.show_view(shown("eins", "zwei"))
        overlay.show_view(shown("zwei", "drei"))
        change(overlay, theme)
        places.append(white_places(overlay))
    assert places[0] == places[1]


@pytest.mark.parametrize(
    ("name", "value"),
    [("text_layout.Block._wants_motion", lambda _block: False), ("window._QUICK_S", 0.0)],
    ids=["no motion is wanted", "painting is slow"],
)
def test_lines_jump_where_no_motion_is_wanted_or_painting_is_slow(
    overlay, monkeypatch, name, value
):
    overlay.show_view(shown("zwei", "drei"))
    rest = picture(overlay)
    monkeypatch.setattr(f"app.overlay.{name}", value)
    overlay.show_theme(replace(STILL, smooth=True))
    overlay.show_view(shown("eins", "zwei"))
    overlay.show_view(shown("zwei", "drei"))
    assert picture(overlay) == rest


def test_locked_it_lets_clicks_through_and_stays_where_it_is(overlay, qtbot):
    overlay.show()
    qtbot.waitExposed(overlay)
    place = overlay.geometry()
    overlay.set_locked(locked=True)
    assert overlay.windowFlags() & Qt.WindowType.WindowTransparentForInput
    assert overlay.isVisible()
    overlay.set_locked(locked=False)
    assert not overlay.windowFlags() & Qt.WindowType.WindowTransparentForInput
    assert overlay.isVisible()
    assert overlay.geometry() == place


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


def drag(overlay, by):
    place = QPoint(60, 60)
    mouse(overlay, QEvent.Type.MouseButtonPress, place)
    mouse(overlay, QEvent.Type.MouseMove, place + by)
    mouse(overlay, QEvent.Type.MouseButtonRelease, place)


def test_it_is_dragged_by_hand_where_the_window_system_does_not_help_and_stays_on_the_screen(
    overlay, qtbot
):
    overlay.show_theme(replace(STILL, characters=30))
    overlay.show()  # the offscreen platform knows no system move
    qtbot.waitExposed(overlay)
    before = overlay.pos()
    with qtbot.waitSignal(overlay.moved):
        drag(overlay, QPoint(-5, -10))
    assert overlay.pos() == before + QPoint(-5, -10)
    mouse(overlay, QEvent.Type.MouseMove, QPoint(60, 60))
    assert overlay.pos() == before + QPoint(-5, -10)
    with qtbot.waitSignal(overlay.moved):
        drag(overlay, QPoint(-900, 200))
    assert overlay.screen().availableGeometry().contains(overlay.geometry())


def test_the_edge_that_was_not_dragged_stays_when_the_size_is_rounded(overlay, qtbot):
    def take(characters, n_lines):
        overlay.show_theme(replace(STILL, characters=characters, lines=n_lines))

    take(30, 2)
    overlay.size_wanted.connect(take)
    overlay.put(QPoint(60, 200))
    overlay.show()
    qtbot.waitExposed(overlay)
    left, bottom = overlay.geometry().left(), overlay.geometry().bottom()
    for by in (-77, 31, -18):
        edge = QPoint(overlay.width() - 3, overlay.height() // 2)
        with qtbot.waitSignal(overlay.moved):
            mouse(overlay, QEvent.Type.MouseButtonPress, edge)
            mouse(overlay, QEvent.Type.MouseMove, edge + QPoint(by, 0))
            mouse(overlay, QEvent.Type.MouseButtonRelease, edge)
        assert (overlay.geometry().left(), overlay.geometry().bottom()) == (left, bottom)


def test_other_letters_leave_it_on_the_screen_and_the_old_ones_where_it_was(overlay, qtbot):
    area = overlay.screen().availableGeometry()
    overlay.show()
    qtbot.waitExposed(overlay)
    narrow = replace(STILL, characters=30)
    for corner in (QPoint(area.right() - 330, 9), overlay.default_position(), QPoint(0, 400)):
        overlay.show_theme(narrow)
        overlay.put(corner)
        before = overlay.geometry()
        for point_size in (96, 28, 60, 30, 28):
            overlay.show_theme(replace(narrow, point_size=point_size))
            assert area.contains(overlay.geometry())
        overlay.show_theme(narrow)
        assert overlay.geometry() == before


def test_edges_are_where_the_frame_would_be():
    size = QSize(300, 100)
    assert edges_at(QPoint(150, 50), size) == NO_EDGE
    assert edges_at(QPoint(3, 50), size) == LEFT
    assert edges_at(QPoint(297, 50), size) == RIGHT
    assert edges_at(QPoint(150, 2), size) == TOP
    assert edges_at(QPoint(150, 98), size) == BOTTOM
    assert edges_at(QPoint(2, 20), size) == LEFT | TOP
    assert edges_at(QPoint(299, 80), size) == RIGHT | BOTTOM


def test_the_edges_that_are_not_dragged_stay():
    rng = random.Random(0)
    before = QRect(200, 300, 400, 100)
    for _ in range(300):
        edges = rng.choice([LEFT, RIGHT, TOP, BOTTOM, LEFT | TOP, RIGHT | BOTTOM, RIGHT | TOP])
        by = QPoint(rng.randrange(-600, 600), rng.randrange(-600, 600))
        drag = Drag(QPoint(10, 10), before, edges)
        after = drag.geometry(QPoint(10, 10) + by, QSize(100, 50), QSize(800, 200))
        for edge, side in (
            (LEFT, QRect.left),
            (RIGHT, QRect.right),
            (TOP, QRect.top),
            (BOTTOM, QRect.bottom),
        ):
            if not edges & edge:
                opposite = {LEFT: RIGHT, RIGHT: LEFT, TOP: BOTTOM, BOTTOM: TOP}[edge]
                assert side(after) == side(before) or not edges & opposite
        assert 100 <= after.width() <= 800
        assert 50 <= after.height() <= 200


@pytest.mark.parametrize(
    ("whole", "certain"),
    [("Heute wollen wir", "Heute wollen"), ("اليوم نريد أن نتحدث", "اليوم نريد")],
)
def test_words_that_may_change_are_paler_and_move_nothing_before_them(overlay, whole, certain):
    right_to_left = runs_right_to_left(whole)
    overlay.show_view(OverlayView(lines=lines(certain, right_to_left=right_to_left)))
    alone = white_places(overlay)
    n_tail = len(whole) - len(certain)
    line = Line(text=whole, right_to_left=right_to_left, n_tail=n_tail)
    overlay.show_view(OverlayView(lines=(line,)))
    assert white_places(overlay) == alone
    pale = places_of(overlay, 90, 240)
    overlay.show_view(OverlayView(lines=lines(whole, right_to_left=right_to_left)))
    beyond = white_places(overlay) - alone
    assert len(beyond) > 50
    near = {(x + dx, y + dy) for x, y in pale for dx in (-2, 0, 2) for dy in (-1, 0, 1)}
    assert len(beyond - near) <= 0.05 * len(beyond), "it stands where it will stand"


@pytest.mark.parametrize("text", ["Heute wollen wir", "صباح الخير"])
def test_a_doubtful_line_has_a_mark_before_letters_that_stand_where_others_do(overlay, text):
    line = Line(text=text, right_to_left=text[0] == "ص")
    overlay.show_view(OverlayView(lines=(line,)))
    solid, plain = white_places(overlay), picture(overlay)
    overlay.show_view(OverlayView(lines=(replace(line, doubtful=True),)))
    marked = picture(overlay)
    assert solid <= white_places(overlay)
    mark = {
        x
        for x in range(marked.width())
        for y in range(marked.height())
        if marked.pixelColor(x, y).lightness() > plain.pixelColor(x, y).lightness() + 60
    }
    letters = [x for x, _ in solid]
    assert mark
    if line.right_to_left:
        assert max(letters) < min(mark) <= max(mark) < overlay.width()
    else:
        assert 0 < min(mark) <= max(mark) < min(letters)


def colours_of(overlay):
    image = overlay.grab().toImage()
    return {image.pixel(x, y) for y in range(image.height()) for x in range(image.width())}


def test_a_speaker_has_a_name_and_a_bar_in_his_colour_and_the_words_that_of_the_text(overlay):
    colours = theme_of(STILL)
    lane = QColor(*colours.lanes["them"]).rgba()
    white = QColor(*colours.text).rgba()
    overlay.show_view(OverlayView(lines=(Line(text="III IIII"),)))
    assert lane not in colours_of(overlay)
    overlay.show_view(OverlayView(lines=(Line(text="III IIII", lane="them", n_label=3),)))
    image = overlay.grab().toImage()
    rows = range(image.height())
    columns = {x for x in range(image.width()) for y in rows if image.pixel(x, y) == lane}
    bar = {x for x in columns if x < 18}
    assert len(bar) == 4
    name = columns - bar
    words = {x for x in range(image.width()) for y in rows if image.pixel(x, y) == white}
    assert name
    assert max(name) < min(words)


def test_the_bar_of_lines_from_right_to_left_is_at_their_right(overlay):
    line = Line(text="صباح", lane="me", right_to_left=True)
    overlay.show_view(OverlayView(lines=(line,)))
    image, lane = overlay.grab().toImage(), QColor(*theme_of(STILL).lanes["me"]).rgba()
    rows = range(image.height())
    columns = {x for x in range(image.width()) for y in rows if image.pixel(x, y) == lane}
    assert min(columns) >= overlay.width() - 18


def test_it_steps_aside_and_comes_back_to_where_it_was_put(overlay):
    area = overlay.screen().availableGeometry()
    home = overlay.geometry()
    line = QRect(area.left(), home.top() + 20, area.width(), 30)
    overlay.keep_off([line])
    assert not overlay.geometry().intersects(line)
    assert area.contains(overlay.geometry())
    assert overlay.home == home
    overlay.show_theme(replace(STILL, point_size=30))
    assert not overlay.geometry().intersects(line)
    overlay.show_theme(STILL)
    overlay.keep_off([])
    assert overlay.geometry() == home


def test_without_room_for_all_lines_it_has_fewer_but_two_and_covers_what_matters_least(overlay):
    overlay.show_theme(replace(STILL, lines=3))
    area = overlay.screen().availableGeometry()
    height = overlay.height()
    needed = [area.adjusted(0, 0, 0, 10 - height)]
    overlay.keep_off(needed)
    assert overlay.n_lines == 2
    assert not overlay.geometry().intersects(needed[0])
    two = overlay.height()
    first, last = area.adjusted(0, 0, 0, -two - 40), area.adjusted(0, area.height() - 60, 0, 0)
    overlay.keep_off([first, last])
    assert overlay.n_lines == 2
    assert not overlay.geometry().intersects(first)
    assert overlay.geometry().intersects(last)
    overlay.keep_off([area])
    assert overlay.geometry().bottom() == area.bottom()
    overlay.keep_off([])
    assert overlay.n_lines == 3
    overlay.show_theme(replace(STILL, lines=1))
    overlay.keep_off([area])
    assert overlay.n_lines == 1


class Painted(QObject):
    """Counts how often a window is painted."""

    def __init__(self, window):
        super().__init__(window)
        self.n = 0
        window.installEventFilter(self)

    def eventFilter(self, _window, event):  # noqa: N802  Qt's name
        self.n += event.type() == QEvent.Type.Paint
        return False


def test_a_new_text_and_another_box_are_painted_at_once(overlay, qtbot):
    overlay.show()
    overlay.show_view(shown("Guten Morgen"))
    painted = Painted(overlay)
    qtbot.waitUntil(lambda: painted.n > 0)
    for change in (
        lambda: overlay.show_view(shown("Guten Abend, zusammen")),
        lambda: overlay.show_whole(whole=True),
        lambda: overlay.show_whole(whole=False),
    ):
        QTest.qWait(0)
        before = painted.n
        change()
        qtbot.waitUntil(lambda before=before: painted.n > before)


AREA = QRect(100, 50, 800, 600)


def drawn(rng, width, height):
    left, top = rng.randrange(0, 1000), rng.randrange(0, 700)
    return QRect(left, top, width, height)


def test_a_window_is_moved_inside_and_not_farther_than_needed():
    assert moved_inside(QRect(150, 60, 300, 80), AREA) == QRect(150, 60, 300, 80)
    assert moved_inside(QRect(0, 0, 300, 80), AREA) == QRect(100, 50, 300, 80)
    assert moved_inside(QRect(850, 640, 300, 80), AREA) == QRect(600, 570, 300, 80)
    rng = random.Random(0)
    for _ in range(200):
        window = drawn(rng, 300, 80)
        moved = moved_inside(window, AREA)
        assert AREA.contains(moved)
        assert moved.size() == window.size()
        assert moved == window or not AREA.contains(window)


def test_of_all_clear_places_the_nearest_is_taken_and_only_up_or_down():
    rng = random.Random(1)
    n_clear = 0
    for _ in range(200):
        home = moved_inside(drawn(rng, 300, 80), AREA)
        needed = [moved_inside(drawn(rng, 200, rng.randrange(20, 300)), AREA) for _ in range(3)]
        by_hand = [
            QRect(home.left(), top, 300, 80)
            for top in range(AREA.top(), AREA.bottom() + 2 - 80)
            if not any(QRect(home.left(), top, 300, 80).intersects(one) for one in needed)
        ]
        place = clear_place(home, needed, AREA)
        assert (place is None) == (not by_hand)
        if place is not None:
            n_clear += 1
            assert place in by_hand
            nearest = min(abs(one.top() - home.top()) for one in by_hand)
            assert abs(place.top() - home.top()) == nearest
    assert n_clear > 50


def test_without_a_clear_place_what_matters_least_is_covered():
    home = QRect(200, 300, 300, 80)
    line, rest = QRect(100, 280, 800, 40), QRect(100, 50, 800, 600)
    assert clear_place(home, [line, rest], AREA) is None
    assert best_place(home, [line, rest], AREA) == QRect(200, 320, 300, 80)
    assert best_place(home, [rest], AREA) is None
    assert best_place(home, [], AREA) == home
