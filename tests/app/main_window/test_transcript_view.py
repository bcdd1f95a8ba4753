import random
from dataclasses import replace
from datetime import datetime

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QWheelEvent
from PySide6.QtWidgets import QStyleOptionViewItem

from app.captions.model import UtteranceView
from app.main_window.transcript_model import (
    CAPTION,
    FOUND_ROLE,
    SOURCE,
    SPEAKER,
    TAIL_ROLE,
    TIME,
    TranscriptModel,
)
from app.main_window.transcript_view import Transcript
from tests.support.app.whole_program import cells

MANY = 10_000


@pytest.fixture
def transcript(qtbot):
    widget = Transcript()
    qtbot.addWidget(widget)
    widget.resize(600, 200)
    widget.show()
    return widget


def view(key, source="", caption=""):
    return UtteranceView(key=key, source=source, caption=caption)


def many(count, caption="Guten Morgen"):
    return tuple(view(key, f"Good morning {key}", caption) for key in range(count))


class Changes:
    """Counts what the model tells."""

    def __init__(self, rows):
        self.told = []
        rows.dataChanged.connect(lambda first, last: self.told.append((first.row(), last.row())))
        rows.rowsInserted.connect(lambda _p, first, last: self.told.append(("in", first, last)))
        rows.rowsRemoved.connect(lambda _p, first, last: self.told.append(("out", first, last)))


def test_source_and_caption_stand_side_by_side(transcript):
    transcript.show_views((view(0, "Good morning", "Guten Morgen"), view(1, "Yes", "Ja")))
    assert cells(transcript) == [("Good morning", "Guten Morgen"), ("Yes", "Ja")]


def test_a_growing_caption_touches_nothing_but_its_row(transcript):
    first = view(0, "Yes", "Ja")
    transcript.show_views((first, view(1, "Good", "Guten 🙂")))
    changes = Changes(transcript.rows)
    transcript.show_views((first, view(1, "Good", "Guten 🙂 Morgen")))
    assert changes.told == [(1, 1)]


def test_views_that_did_not_change_touch_nothing(transcript):
    views = (view(0, "Good", "Guten"), view(1, "Yes", "Ja"))
    transcript.show_views(views)
    changes = Changes(transcript.rows)
    transcript.show_views(views)
    assert changes.told == []


def test_whatever_changes_the_table_shows_the_views(transcript):
    rng = random.Random(0)
    views, next_key = [], 0
    for _ in range(300):
        kind = rng.random()
        if kind < 0.3 or not views:
            views.insert(rng.randrange(len(views) + 1), view(next_key))
            next_key += 1
        elif kind < 0.45:
            first = rng.randrange(len(views))
            del views[first : first + rng.randrange(1, 4)]
        else:
            place = rng.randrange(len(views))
            old = views[place]
            kept = rng.randrange(len(old.caption) + 1)
            caption = old.caption[:kept] + "".join(rng.choice("aé漢🙂 ") for _ in range(3))
            views[place] = view(old.key, old.source + "s", caption)
        transcript.show_views(tuple(views))
        assert cells(transcript) == [(v.source, v.caption) for v in views]


def test_the_newest_row_is_in_sight_at_once(transcript):
    bar = transcript.verticalScrollBar()
    for n in range(1, 30):
        transcript.show_views(many(n, "Guten Morgen zusammen und allen hier " * 3))
        assert bar.value() == bar.maximum()
        assert transcript.visible_rows()[-1] == n - 1
    assert bar.maximum() > 0


def test_who_scrolled_up_to_read_is_left_in_peace_until_typing_goes_on(transcript):
    bar = transcript.verticalScrollBar()
    transcript.show_views(many(30))
    bar.triggerAction(bar.SliderAction.SliderToMinimum)
    transcript.show_views(many(31))
    assert bar.value() == 0
    transcript.follow()
    assert bar.value() == bar.maximum()
    transcript.show_views(many(32))
    assert bar.value() == bar.maximum()


def test_while_many_rows_wait_the_newest_caption_is_in_sight(transcript):
    bar = transcript.verticalScrollBar()
    waiting = tuple(view(key, f"Good morning {key}") for key in range(100))
    transcript.show_views(waiting)
    assert bar.value() == 0, "the first caption will be there"
    for n in (20, 50):
        transcript.show_views(many(n) + waiting[n:])
        assert {n - 1, n} <= set(transcript.visible_rows()[:-1])
    bar.triggerAction(bar.SliderAction.SliderToMinimum)
    transcript.show_views(many(60) + waiting[60:])
    assert bar.value() == 0
    transcript.to_newest.click()
    assert 59 in transcript.visible_rows()
    transcript.show_views(many(100))
    assert bar.value() == bar.maximum()


def test_of_many_rows_only_those_in_sight_are_measured(transcript, monkeypatch):
    transcript.show_views(many(MANY))
    fitted = []
    resize = transcript.resizeRowToContents
    monkeypatch.setattr(
        transcript, "resizeRowToContents", lambda row: (fitted.append(row), resize(row))
    )
    grown = (*many(MANY)[:-1], view(MANY - 1, "Good morning", "Guten Morgen allerseits"))
    transcript.show_views(grown)
    assert set(fitted) <= set(range(MANY - 30, MANY))
    assert len(fitted) < 60


def test_a_row_in_sight_is_as_high_as_its_text(transcript):
    long = "Guten Morgen zusammen und allen hier " * 5
    transcript.show_views((*many(200), view(500, "Good", long), *many(3)[:0]))
    low, high = (transcript.rowHeight(row) for row in (199, 200))
    assert high > 3 * low / 2
    transcript.go_to(100)
    assert 100 in transcript.visible_rows()
    assert transcript.rowHeight(100) == low


def test_text_from_right_to_left_begins_on_the_right(transcript):
    transcript.show_views((view(0, "Good morning", "صباح الخير Surtitle."),))
    delegate, rows = transcript.itemDelegate(), transcript.rows
    option = QStyleOptionViewItem()
    option.rect = QRect(0, 0, 300, 40)
    delegate.initStyleOption(option, rows.index(0, CAPTION))
    assert option.direction == Qt.LayoutDirection.RightToLeft
    assert option.displayAlignment & Qt.AlignmentFlag.AlignRight
    delegate.initStyleOption(option, rows.index(0, SOURCE))
    assert option.displayAlignment & Qt.AlignmentFlag.AlignLeft


def test_search_goes_round_and_ignores_case(transcript):
    transcript.show_views(
        (view(0, "Tea", "Tee"), view(1, "Good", "GROSSE Straße"), view(2, "Tea too", "Auch Tee"))
    )
    for text, step, row, told in (
        ("tea", 1, 0, (1, 2)),
        ("TEE", 1, 2, (2, 2)),
        ("tee", 1, 0, (1, 2)),
        ("tee", -1, 2, (2, 2)),
        ("tee", 0, 2, (2, 2)),
        ("strasse", -1, 1, (1, 1)),
        ("tea", 0, 2, (2, 2)),
        ("coffee", 1, 2, (0, 0)),
        ("", 1, 2, (0, 0)),
    ):
        assert transcript.find_text(text, step) == told
        assert transcript.currentIndex().row() == row


def test_what_is_found_is_highlighted_until_the_search_ends(transcript):
    transcript.show_views((view(0, "Tea and TEA", "Tee (zwei)"),))
    rows = transcript.rows

    def found():
        return [rows.index(0, column).data(FOUND_ROLE) for column in (SOURCE, CAPTION)]

    transcript.find_text("te", 0)
    assert found() == [[(0, 2), (8, 2)], [(0, 2)]]
    transcript.find_text("(z", 0)
    assert found() == [[], [(4, 2)]]
    lit = transcript.viewport().grab().toImage()
    transcript.find_text("", 0)
    assert found() == [[], []]
    assert transcript.viewport().grab().toImage() != lit


def test_search_from_a_fresh_transcript_up_begins_with_the_newest(transcript):
    transcript.show_views(many(50))
    transcript.find_text("Good", -1)
    assert transcript.currentIndex().row() == 49


def test_bookmarks_are_shown_and_gone_through_in_both_directions(transcript):
    marked = {3, 39, 80}
    views = [replace(one, marked=one.key in marked) for one in many(120)]
    transcript.show_views(views)
    assert transcript.rows.marked_rows == sorted(marked)
    for column, role in (
        (0, Qt.ItemDataRole.BackgroundRole),
        (TIME, Qt.ItemDataRole.DecorationRole),
    ):
        assert transcript.rows.index(39, column).data(role) is not None
        assert transcript.rows.index(40, column).data(role) is None
    for step, row in ((1, 3), (1, 39), (1, 80), (1, 3), (-1, 80), (-1, 39)):
        transcript.go_to_mark(step)
        assert transcript.currentIndex().row() == row
        assert row in transcript.visible_rows()
    transcript.show_views(views[90:])
    transcript.go_to_mark()
    assert transcript.rows.marked_rows == []


def test_the_selected_row_is_marked_while_it_is_seen_else_the_newest(transcript):
    told = []
    transcript.mark_wanted.connect(told.append)
    transcript.mark()
    transcript.show_views(many(120))
    transcript.mark()
    transcript.go_to(30)
    transcript.mark()
    transcript.follow()
    transcript.mark()
    assert told == [119, 30, 119]


def test_a_button_leads_back_to_the_newest_row(transcript, qtbot):
    transcript.show_views(many(120))
    assert not transcript.to_newest.isVisible()
    transcript.go_to(3)
    assert transcript.to_newest.isVisible()
    qtbot.mouseClick(transcript.to_newest, Qt.MouseButton.LeftButton)
    assert transcript.follows
    assert transcript.visible_rows()[-1] == 119
    assert not transcript.to_newest.isVisible()


def test_a_row_has_a_menu_to_copy_and_to_mark(transcript):
    told = []
    transcript.mark_wanted.connect(told.append)
    transcript.delete_wanted.connect(told.append)
    yes = replace(view(1, "Yes", "Ja"), marked=True, ended=True)
    transcript.show_views((view(0, "Good", "Gut"), yes))
    transcript.selectRow(1)
    menu = transcript.make_menu(1)
    copied = []
    for action in menu.actions():
        QGuiApplication.clipboard().clear()
        action.trigger()
        copied.append((action.text().replace("&", ""), QGuiApplication.clipboard().text()))
    assert copied == [
        ("Copy", "Yes\tJa"),
        ("Copy original", "Yes"),
        ("Copy translation", "Ja"),
        ("", ""),
        ("Remove bookmark", ""),
        ("Delete", ""),
    ]
    assert told == [1, (1,)]
    transcript.selectRow(0)
    assert not transcript.make_menu(0).actions()[-1].isEnabled(), "it is not complete"
    transcript.delete()
    assert told == [1, (1,)]
    transcript.show_mode("captions only", "English", "")
    transcript.copy()
    assert QGuiApplication.clipboard().text() == "Good"
    assert len(transcript.make_menu(0).actions()) == 4


def test_a_past_session_offers_no_bookmark(qtbot):
    widget = Transcript(read_only=True)
    qtbot.addWidget(widget)
    widget.show_views((view(0, "Good", "Gut"),))
    assert [action.text() for action in widget.make_menu(0).actions()][-1] == "Copy &translation"


def test_columns_are_named_by_languages_and_keep_the_share_that_was_chosen(transcript):
    transcript.show_mode("translate", "English", "German")
    titles = [transcript.rows.headerData(one, Qt.Orientation.Horizontal) for one in range(4)]
    assert titles == ["English", "German", "Speaker", "Time"]
    transcript.show_views(many(3))
    header = transcript.horizontalHeader()
    assert header.sectionSize(SOURCE) == pytest.approx(header.sectionSize(CAPTION), abs=2)
    header.resizeSection(SOURCE, 100)
    share = 100 / (header.sectionSize(CAPTION) + 100)
    transcript.resize(1200, 200)
    whole = header.sectionSize(CAPTION) + header.sectionSize(SOURCE)
    assert header.sectionSize(SOURCE) == pytest.approx(share * whole, abs=3)
    transcript.show_mode("captions only", "English", "")
    assert transcript.isColumnHidden(CAPTION)
    assert header.sectionSize(SOURCE) == whole


def test_a_row_tells_when_it_began_in_the_time_of_here(transcript):
    begun = datetime(2026, 11, 22, 14, 3, 59).astimezone()
    transcript.show_views((view(0), replace(view(1), begun_s=begun.timestamp())))
    texts = [transcript.rows.index(row, TIME).data() for row in (0, 1)]
    assert texts[0] == ""
    assert texts[1] in ("14:03", "2:03\u202fPM", "2:03 PM")


def test_text_is_made_larger_and_rows_with_it(transcript, qtbot):
    transcript.show_views(many(5))
    height, points = transcript.rowHeight(4), transcript.font().pointSizeF()
    transcript.show_size(200)
    assert transcript.font().pointSizeF() == 2 * points
    assert transcript.rowHeight(4) > 1.5 * height
    with qtbot.waitSignal(transcript.size_wanted) as told:
        wheel = QWheelEvent(
            QPointF(9, 9),
            QPointF(9, 9),
            QPoint(),
            QPoint(0, -120),
            Qt.MouseButton.NoButton,
            Qt.KeyboardModifier.ControlModifier,
            Qt.ScrollPhase.NoScrollPhase,
            False,
        )
        transcript.wheelEvent(wheel)
    assert told.args == [-10]


def test_selected_rows_are_copied_line_by_line(transcript, qtbot):
    transcript.show_views((view(0, "Yes", "Ja"), view(1, "No", "Nein"), view(2, "So", "So")))
    transcript.selectRow(0)
    transcript.selectionModel().select(
        transcript.rows.index(2, 0),
        transcript.selectionModel().SelectionFlag.Select
        | transcript.selectionModel().SelectionFlag.Rows,
    )
    transcript.setFocus()
    transcript.activateWindow()
    qtbot.waitUntil(transcript.hasFocus)
    qtbot.keySequence(transcript, QKeySequence(QKeySequence.StandardKey.Copy))
    assert QGuiApplication.clipboard().text() == "Yes\tJa\nSo\tSo"


def test_who_speaks_stands_behind_the_time_once_there_are_two(transcript):
    spoken = [view(0, "typed", "getippt"), replace(view(1, "Hello", "Hallo"), lane="me")]
    transcript.show_views(spoken)
    assert transcript.isColumnHidden(SPEAKER)
    transcript.show_views([*spoken, replace(view(2, "Yes", "Ja"), lane="them")])
    assert not transcript.isColumnHidden(SPEAKER)
    header = transcript.horizontalHeader()
    order = [header.logicalIndex(place) for place in range(4)]
    assert order == [TIME, SPEAKER, SOURCE, CAPTION]
    rows = transcript.rows
    assert [rows.index(row, SPEAKER).data() for row in range(3)] == ["", "Me", "Them"]
    colours = {rows_of(lane).data(Qt.ItemDataRole.ForegroundRole).name() for lane in ("me", "them")}
    assert len(colours) == 2


def test_speakers_have_the_names_that_were_given(transcript):
    transcript.show_views((replace(view(0, "Hello", "Hallo"), lane="me"),))
    assert transcript.isColumnHidden(SPEAKER)
    usual = transcript.columnWidth(SPEAKER)
    transcript.name_speakers({"me": "Professor Lovelace"})
    assert not transcript.isColumnHidden(SPEAKER)
    assert transcript.rows.index(0, SPEAKER).data() == "Professor Lovelace"
    assert transcript.columnWidth(SPEAKER) > usual
    transcript.name_speakers({})
    assert transcript.rows.index(0, SPEAKER).data() == "Me"


def rows_of(lane):
    model = TranscriptModel()
    model.show_views((replace(view(0), lane=lane),))
    rows_of.kept = model
    return model.index(0, SPEAKER)


def test_words_that_may_change_stand_behind_the_others_paler_and_with_dots(transcript):
    transcript.resize(800, 200)
    text = "certain words"
    transcript.show_views((view(0, text),))
    solid = ink(transcript)
    transcript.show_views((replace(view(0, text), tail="and perhaps these"),))
    assert cells(transcript) == [("certain words and perhaps these…", "")]
    tailed = ink(transcript)
    transcript.show_views((view(0, "certain words and perhaps these…"),))
    whole = ink(transcript)
    assert solid[0] > 0
    assert tailed[0] == solid[0], "what is certain looks as it does alone"
    assert tailed[1] == pytest.approx(whole[1], abs=2), "the tail is there"
    assert solid[1] < tailed[1] / 2
    assert tailed[0] < whole[0], "and paler than what is certain"


def ink(transcript, column=SOURCE):
    """Count dark pixels of a cell, and all that are not the ground."""
    QGuiApplication.processEvents()
    picture = (
        transcript.viewport()
        .grab(transcript.visualRect(transcript.rows.index(0, column)))
        .toImage()
    )
    lightness = [
        picture.pixelColor(x, y).lightness()
        for y in range(picture.height())
        for x in range(picture.width())
    ]
    ground = max(set(lightness), key=lightness.count)
    return sum(one < 60 for one in lightness), _reach(picture, ground)


def _reach(picture, ground):
    """Tell how far to the right there is anything."""
    columns = [
        x
        for x in range(picture.width() - 2)
        if any(picture.pixelColor(x, y).lightness() < ground - 20 for y in range(picture.height()))
    ]
    return max(columns)


def test_a_long_tail_is_broken_as_other_text_is(transcript):
    transcript.resize(300, 200)
    text = "We all went to the old house by the river and then it began to rain"
    transcript.show_views((view(0, text + "…"),))
    height = transcript.rowHeight(0)
    transcript.show_views((replace(view(0, text[:-13]), tail=text[-12:]),))
    assert transcript.rowHeight(0) == height > transcript.fontMetrics().lineSpacing() * 2


def test_what_is_painted_is_told_by_its_keys(transcript, qtbot):
    told = []
    transcript.painted.connect(told.append)
    transcript.show_views(many(500))
    qtbot.waitUntil(lambda: bool(told) and 499 in told[-1])
    assert 0 not in told[-1], "rows that nobody sees are not painted"


def ink_of(transcript):
    """How much is painted of the captions' letters."""
    image = transcript.viewport().grab().toImage()
    left = transcript.columnViewportPosition(CAPTION)
    return sum(
        255 - image.pixelColor(x, y).lightness()
        for y in range(image.height())
        for x in range(left + 2, image.width())
        if image.pixelColor(x, y).lightness() < 230
    )


@pytest.mark.parametrize("text", ["أمطرت إلى آخر الليل", "Übergröße, gjpqy", "Ếch Ǻ"])
def test_no_letter_is_cut_off_by_its_row(qtbot, monkeypatch, text):
    inks = []
    for padding in (None, 60):
        if padding is not None:
            monkeypatch.setattr("app.main_window.transcript_cell.PADDING", padding)
        widget = Transcript()
        qtbot.addWidget(widget)
        widget.resize(600, 200)
        widget.show()
        widget.show_views([view(0, "", text)])
        inks.append(ink_of(widget))
    assert inks[0] == inks[1] > 0


DOUBTFUL = UtteranceView(key=0, source="We met", caption="Wir trafen uns", doubtful=True)


def cell(transcript, role, column=CAPTION):
    return transcript.rows.index(0, column).data(role)


def test_a_doubtful_caption_is_as_any_other_until_marks_are_wanted(transcript):
    transcript.show_views((DOUBTFUL,))
    assert cell(transcript, TAIL_ROLE) == 0
    assert cell(transcript, Qt.ItemDataRole.ToolTipRole) is None
    assert cells(transcript) == [("We met", "Wir trafen uns")]


def test_a_doubtful_caption_is_pale_or_has_a_sign(transcript):
    transcript.show_views((DOUBTFUL, view(1, "Yes", "Ja")))
    changes = Changes(transcript.rows)
    transcript.mark_doubt("pale")
    assert changes.told == [(0, 0)]
    assert cell(transcript, TAIL_ROLE) == len("Wir trafen uns")
    assert cells(transcript) == [("We met", "Wir trafen uns"), ("Yes", "Ja")]
    transcript.mark_doubt("sign")
    assert cell(transcript, TAIL_ROLE) == 0
    assert cells(transcript) == [("We met", "Wir trafen uns (?)"), ("Yes", "Ja")]
    transcript.mark_doubt("off")
    assert cells(transcript) == [("We met", "Wir trafen uns"), ("Yes", "Ja")]


@pytest.mark.parametrize("mark", ["pale", "sign"])
def test_a_screen_reader_and_a_tool_tip_name_the_doubt_whatever_the_eye_gets(transcript, mark):
    transcript.show_views((DOUBTFUL,))
    transcript.mark_doubt(mark)
    assert cell(transcript, Qt.ItemDataRole.AccessibleTextRole) == "Wir trafen uns (?)"
    assert "not sure" in cell(transcript, Qt.ItemDataRole.ToolTipRole)
    assert cell(transcript, Qt.ItemDataRole.ToolTipRole, SOURCE) is None
    transcript.show_views((replace(DOUBTFUL, marked=True),))
    assert cell(transcript, Qt.ItemDataRole.ToolTipRole) == "Bookmark"
    assert cell(transcript, Qt.ItemDataRole.BackgroundRole) is not None


def test_the_letters_of_a_doubtful_caption_are_paler(transcript):
    transcript.show_views((replace(DOUBTFUL, source=DOUBTFUL.caption),))
    transcript.mark_doubt("pale")
    source, caption = ink(transcript, SOURCE), ink(transcript, CAPTION)
    assert caption[1] == pytest.approx(source[1], abs=2)
    assert caption[0] < source[0] / 2
