import random
from dataclasses import replace
from datetime import datetime

import pytest
from PySide6.QtCore import QPoint, QPointF, QRect, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence, QPalette, QWheelEvent
from PySide6.QtWidgets import QLineEdit, QPushButton, QStyleOptionViewItem

from app.captions.model import UtteranceView
from app.config.preferences import MARKED, OFF, SIGN
from app.look.palette import colours_of
from app.main_window.transcript_cell import PADDING
from app.main_window.transcript_model import (
    BELOW_ROLE,
    CAPTION,
    DOUBT_ROLE,
    FOUND_ROLE,
    LANGUAGE_ROLE,
    MOST_SHOWN,
    SOURCE,
    SPEAKER,
    TIME,
)
from app.main_window.transcript_view import Transcript
from tests.support.app.whole_program import cells


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


def test_names_a_second_language_and_a_search_touch_all_rows_and_marks_the_doubtful(transcript):
    rows = transcript.rows
    changes = Changes(rows)

    def change(name, language, needle, mark):
        changes.told.clear()
        rows.name_speakers({"me": name})
        rows.show_second(language)
        rows.search(needle)
        rows.mark_doubt(mark)
        return changes.told

    assert change("Ada", "fr", "a", SIGN) == []
    transcript.show_views([replace(one, doubtful=one.key == 1) for one in many(3)])
    assert change("Bo", "es", "b", OFF) == [(0, 2), (0, 2), (0, 2), (1, 1)]
    assert change("Bo", "es", "", OFF) == [(0, 2)], "what stays the same is not touched"


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


def test_the_newest_row_knows_its_place_on_the_screen(transcript):
    assert transcript.newest_area().isEmpty()
    transcript.show_views(many(40))
    area = transcript.newest_area()
    assert area.height() == transcript.rowHeight(39)
    row = transcript.rowAt(transcript.viewport().mapFromGlobal(area.center()).y())
    assert row == 39
    transcript.scrollToTop()
    assert transcript.newest_area().isEmpty()


def test_who_scrolled_up_is_left_in_peace_until_typing_goes_on_or_the_button_is_pressed(transcript):
    bar = transcript.verticalScrollBar()
    transcript.show_views(many(30))
    for n, follow in ((31, transcript.follow), (33, transcript.to_newest.click)):
        assert not transcript.to_newest.isVisible()
        bar.triggerAction(bar.SliderAction.SliderToMinimum)
        transcript.show_views(many(n))
        assert bar.value() == 0
        assert transcript.to_newest.isVisible()
        follow()
        assert bar.value() == bar.maximum()
        transcript.show_views(many(n + 1))
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


def test_a_row_in_sight_is_as_high_as_its_text(transcript):
    long = "Guten Morgen zusammen und allen hier " * 5
    transcript.show_views((*many(200), view(500, "Good", long), *many(3)[:0]))
    low, high = (transcript.rowHeight(row) for row in (199, 200))
    assert high > 3 * low / 2
    transcript.go_to(100)
    assert 100 in transcript.visible_rows()
    assert transcript.rowHeight(100) == low


def test_no_row_keeps_an_empty_line_when_the_window_becomes_much_larger(transcript):
    long = "Guten Morgen zusammen und allen hier " * 3
    transcript.resize(300, 60)
    transcript.show_views(tuple(view(key, "Good", long) for key in range(60)))
    transcript.go_to(0)
    transcript.follow()
    for row in range(60):
        transcript.resizeRowToContents(row)
    transcript.resize(1400, 700)
    seen = transcript.visible_rows()
    assert len(seen) > 10
    assert {transcript.rowHeight(row) - transcript.sizeHintForRow(row) for row in seen} == {0}


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


def test_bookmarks_are_shown_and_gone_through_in_both_directions(transcript):
    marked = {3, 39, 80}
    views = [replace(one, marked=one.key in marked) for one in many(120)]
    transcript.show_views(views)
    assert transcript.rows.marked_rows == sorted(marked)
    sign = Qt.ItemDataRole.DecorationRole
    assert transcript.rows.index(40, TIME).data(sign) is None
    picture = transcript.rows.index(39, TIME).data(sign).pixmap(24, 24).toImage()
    assert picture.pixelColor(12, 10).name() == colours_of(transcript.palette()).accent, "filled"
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


def test_a_finished_session_has_no_button_to_what_is_new_and_no_bookmarks(qtbot):
    table = Transcript(read_only=True)
    qtbot.addWidget(table)
    table.show()
    table.show_views(many(120))
    table.go_to(3)
    assert not table.to_newest.isVisible()
    assert [action.text() for action in table.make_menu(0).actions()][-1] == "Copy &translation"


def test_a_row_has_a_menu_to_copy_and_to_mark(transcript, keeps_parts):
    told = []
    transcript.mark_wanted.connect(told.append)
    transcript.delete_wanted.connect(told.append)
    transcript.corrected.connect(lambda key, text: told.append((key, text)))
    yes = replace(view(1, "Yes", "Ja"), marked=True, ended=True)
    transcript.show_views((view(0, "Good", "Gut"), yes))
    transcript.selectRow(1)
    menu = transcript.make_menu(1)
    keeps_parts(menu, transcript)
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
        ("Correct", ""),
        ("Remove bookmark", ""),
        ("Delete", ""),
    ]
    assert transcript.findChild(QLineEdit).text() == "Yes", "it is edited in its place"
    assert told == [1, (1,)]
    transcript.selectRow(0)
    assert not transcript.make_menu(0).actions()[-1].isEnabled(), "it is not complete"
    transcript.delete()
    assert told == [1, (1,)]
    transcript.show_mode("captions only", "English", "")
    transcript.copy()
    assert QGuiApplication.clipboard().text() == "Good"
    assert len(transcript.make_menu(0).actions()) == 5


def test_all_rows_are_copied_in_both_languages_or_their_captions_only(transcript):
    clipboard = QGuiApplication.clipboard()
    clipboard.clear()
    transcript.copy_all()
    assert clipboard.text() == ""
    transcript.show_views((view(0, "Good", "Gut"), view(1, "Yes", "Ja"), view(2, "And", "")))
    transcript.selectRow(1)
    transcript.copy_all()
    assert clipboard.text() == "Good\tGut\nYes\tJa\nAnd\t"
    transcript.copy_all_captions()
    assert clipboard.text() == "Gut\nJa"
    transcript.show_mode("captions only", "English", "")
    transcript.copy_all_captions()
    assert clipboard.text() == "Good\nYes\nAnd"


def test_each_row_has_the_mark_of_its_language_where_a_session_has_several(transcript):
    german = replace(view(0, "Good morning", "Guten Morgen " * 40), language="de")
    polish = replace(view(1, "Yes", "Tak"), language="pl")
    rows = transcript.rows

    def marks():
        return [rows.index(row, CAPTION).data(LANGUAGE_ROLE) for row in range(rows.rowCount())]

    transcript.show_views((german,))
    assert marks() == [None]
    one_high = transcript.rowHeight(0)
    transcript.show_views((german, polish))
    assert marks() == ["DE", "PL"]
    described = rows.index(1, CAPTION).data(Qt.ItemDataRole.AccessibleDescriptionRole)
    assert described == "Polish"
    transcript.show_views((german, replace(polish, caption="")))
    assert transcript.rowHeight(0) >= one_high, "the mark has room of its own"
    pictures = []
    for code in ("pl", "fr"):
        transcript.show_views((replace(view(2), language=code), replace(view(3), language="de")))
        pictures.append(picture_of(transcript, CAPTION))
    assert pictures[0] != pictures[1], "the marks are painted"
    transcript.show_views(())
    transcript.show_views((polish,))
    assert marks() == [None]


def test_the_second_language_of_a_row_has_its_mark_on_its_own_line(transcript):
    further = (("es", "Buenos días"), ("pt", "Buenos días"))
    both = replace(view(0, "Good morning", "Bonjour"), language="fr", further=further)
    other = replace(view(1, "Yes", "Ja"), language="de")
    pictures = []
    for code, marks, described in (
        ("", ("FR", ""), "French"),
        ("es", ("FR", "ES"), "French · Spanish"),
        ("pt", ("FR", "PT"), "French · Portuguese"),
    ):
        transcript.show_second(code)
        transcript.show_views((both, other))
        cell = transcript.rows.index(0, CAPTION)
        assert (cell.data(LANGUAGE_ROLE), cell.data(BELOW_ROLE)) == marks
        assert cell.data(Qt.ItemDataRole.AccessibleDescriptionRole) == described
        pictures.append(picture_of(transcript, CAPTION))
    spanish, portuguese = pictures[1:]
    height = spanish.height() // 2
    upper, lower = (QRect(0, top, spanish.width(), height) for top in (0, height))
    assert spanish.copy(upper) == portuguese.copy(upper)
    assert spanish.copy(lower) != portuguese.copy(lower)
    assert transcript.rows.index(1, CAPTION).data(BELOW_ROLE) == "", "it has none"


def test_the_heading_names_each_language_of_the_captions_once(transcript):
    def head(role=Qt.ItemDataRole.DisplayRole):
        return transcript.rows.headerData(CAPTION, Qt.Orientation.Horizontal, role)

    transcript.show_mode("translate", "English", "French")
    transcript.show_second("es")
    german, french = (replace(view(key), language=code) for key, code in enumerate(("de", "fr")))
    transcript.show_views((german, french))
    assert head() == head(Qt.ItemDataRole.ToolTipRole) == "German · French · Spanish"
    transcript.show_second("")
    transcript.show_views(())
    assert head() == "French"


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
    transcript.show_share(80)
    assert header.sectionSize(SOURCE) == pytest.approx(share * whole, abs=3), "it is being changed"
    transcript._settled.stop()
    transcript.show_share(80)
    assert header.sectionSize(SOURCE) == pytest.approx(0.8 * whole, abs=1)
    transcript.show_mode("captions only", "English", "")
    assert transcript.isColumnHidden(CAPTION)
    assert header.sectionSize(SOURCE) == whole


def test_a_row_tells_when_it_began_in_the_time_of_here(transcript):
    begun = datetime(2026, 11, 22, 14, 3, 59).astimezone()
    transcript.show_views((view(0), replace(view(1), begun_s=begun.timestamp())))
    texts = [transcript.rows.index(row, TIME).data() for row in (0, 1)]
    assert texts[0] == ""
    assert texts[1] in ("14:03", "2:03\u202fPM", "2:03 PM")


def test_a_minute_is_shown_once_as_in_chats_and_read_aloud_for_each_row(transcript):
    begun = datetime(2026, 11, 22, 14, 3, 1).astimezone().timestamp()
    views = [replace(view(key), begun_s=begun + 20 * key) for key in range(5)]
    transcript.show_views(views)

    def times(role=Qt.ItemDataRole.DisplayRole):
        rows = range(transcript.rows.rowCount())
        return [str(transcript.rows.index(row, TIME).data(role))[-5:] for row in rows]

    spoken = Qt.ItemDataRole.AccessibleTextRole
    first, second = times(spoken)[0], times(spoken)[3]
    assert first != second
    assert times(spoken) == [first] * 3 + [second] * 2
    assert times() == [first, "", "", second, ""]
    transcript.show_views(views[1:])
    assert times() == [first, "", second, ""]
    waiting = replace(view(9), begun_s=0.0)
    transcript.show_views((waiting, view(10)))
    changes = Changes(transcript.rows)
    transcript.show_views((replace(waiting, begun_s=begun), transcript.rows.views[1]))
    assert changes.told == [(0, 1)], "the time of the row below may be shown no more"


def test_no_time_stands_below_a_later_one_where_two_speak_at_once(transcript):
    begun = datetime(2026, 11, 22, 2, 19, 58).astimezone().timestamp()
    starts = (begun, begun + 5, begun + 1, begun + 6, begun + 70)
    views = [replace(view(key), begun_s=at) for key, at in enumerate(starts)]
    transcript.show_views(views)
    rows = transcript.rows
    times = [rows.index(row, TIME).data() for row in range(5)]
    assert [bool(time) for time in times] == [True, True, False, False, True]
    spoken = rows.index(2, TIME).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken == times[0], "who asks for it hears when it was said"
    changes = Changes(rows)
    transcript.show_views((views[0], replace(views[1], begun_s=begun + 1), *views[2:]))
    assert changes.told[0][1] >= 3, "times of rows below are others, too"


def test_the_captions_lead_and_what_was_said_is_lighter(transcript):
    transcript.show_views((view(0, "Good", "Gut"),))
    quiet = transcript.palette().color(QPalette.ColorRole.PlaceholderText)
    colour = Qt.ItemDataRole.ForegroundRole
    assert transcript.rows.index(0, SOURCE).data(colour) == quiet
    assert transcript.rows.index(0, CAPTION).data(colour) is None
    transcript.show_mode("captions only", "English", "")
    assert transcript.rows.index(0, SOURCE).data(colour) is None


def test_a_selected_row_has_a_bar_and_a_pale_tint(transcript):
    transcript.show_views((view(0, "Good", "Gut"), view(1, "Yes", "Ja")))
    transcript.selectRow(0)
    row = QRect(0, 0, transcript.viewport().width(), transcript.rowHeight(0))
    image, middle = transcript.viewport().grab(row).toImage(), row.height() // 2
    accent = transcript.palette().color(QPalette.ColorRole.Accent).name()
    tint = colours_of(transcript.palette()).tint
    edge = [image.pixelColor(x, middle).name() for x in range(5)]
    assert edge == [accent] * 3 + [tint] * 2
    assert image.pixelColor(row.width() - 3, middle).name() == tint


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


def test_keys_delete_rows_only_where_the_rows_have_the_focus(transcript, qtbot):
    transcript.show_views((replace(view(7, "Yes", "Ja"), ended=True),))
    transcript.selectRow(0)
    button, deleted = QPushButton(transcript), []
    button.show()
    transcript.delete_wanted.connect(deleted.append)
    transcript.activateWindow()
    for widget, expected in ((button, []), (transcript, [(7,)])):
        widget.setFocus()
        qtbot.waitUntil(widget.hasFocus)
        qtbot.keySequence(widget, QKeySequence(QKeySequence.StandardKey.Delete))
        assert deleted == expected


def test_who_speaks_stands_behind_the_time_once_there_are_two(transcript, qtbot):
    spoken = [view(0, "typed", "getippt"), replace(view(1, "Hello", "Hallo"), lane="me")]
    transcript.show_views(spoken)
    assert transcript.isColumnHidden(SPEAKER)
    transcript.show_views([*spoken, replace(view(2, "Yes", "Ja"), lane="them")])
    assert not transcript.isColumnHidden(SPEAKER)
    header = transcript.horizontalHeader()
    order = [header.logicalIndex(place) for place in range(4)]
    assert order == [TIME, SPEAKER, SOURCE, CAPTION]
    qtbot.waitUntil(lambda: header.length() == transcript.viewport().width())
    rows = transcript.rows
    assert [rows.index(row, SPEAKER).data() for row in range(3)] == ["", "Me", "Them"]
    ink = Qt.ItemDataRole.ForegroundRole
    assert rows.index(1, SPEAKER).data(ink) != rows.index(2, SPEAKER).data(ink)


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


def test_words_that_may_change_stand_behind_the_others_in_italics_and_with_dots(transcript):
    transcript.resize(800, 200)
    transcript.show_mode("captions only", "English", "")
    text = "certain words"
    transcript.show_views((view(0, text),))
    solid = picture_of(transcript, SOURCE)
    transcript.show_views((replace(view(0, text), tail="and perhaps these"),))
    assert cells(transcript) == [("certain words and perhaps these…", "")]
    tailed = picture_of(transcript, SOURCE)
    transcript.show_views((view(0, "certain words and perhaps these…"),))
    upright = picture_of(transcript, SOURCE)
    certain = transcript.fontMetrics().horizontalAdvance(text)
    assert part(tailed, certain) == part(solid, certain), "what is certain looks as it does alone"
    assert tailed != upright, "the tail looks otherwise"


def test_end_and_home_lead_to_the_last_and_the_first_row(transcript, qtbot):
    transcript.show_views(many(40))
    transcript.go_to(7)
    assert not transcript.follows
    qtbot.keyClick(transcript, Qt.Key.Key_End)
    assert transcript.currentIndex().row() == 39
    assert transcript.follows
    qtbot.keyClick(transcript, Qt.Key.Key_Home)
    assert transcript.currentIndex().row() == 0
    assert not transcript.follows


def test_marks_of_a_row_are_explained_by_its_tool_tips(transcript):
    rows, tip = transcript.rows, Qt.ItemDataRole.ToolTipRole
    transcript.show_views((replace(view(0, "so", "also"), tail="we", marked=True),))
    assert rows.index(0, SOURCE).data(tip) == "Words in italics may still change"
    assert rows.index(0, TIME).data(tip) == "Bookmark"
    transcript.show_views((replace(view(0, "so"), marked=True, made_by="small · read:2"),))
    assert rows.index(0, TIME).data(tip) == "Bookmark\nsmall · read:2"


def picture_of(transcript, column):
    QGuiApplication.processEvents()
    area = transcript.visualRect(transcript.rows.index(0, column))
    return transcript.viewport().grab(area).toImage()


def part(picture, width):
    return picture.copy(0, 0, width, picture.height())


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


def test_a_doubtful_caption_has_a_mark_before_it_or_a_sign_behind_it_and_is_told_as_such(
    transcript,
):
    doubtful = replace(view(0, "We met", "Wir trafen uns"), doubtful=True)
    transcript.show_views((doubtful, view(1, "Yes", "Ja")))
    plain, cell = picture_of(transcript, CAPTION), transcript.rows.index(0, CAPTION)
    for mark, is_marked, shown in ((MARKED, True, ""), (SIGN, False, " (?)"), (OFF, False, "")):
        transcript.mark_doubt(mark)
        assert bool(cell.data(DOUBT_ROLE)) is is_marked
        assert not transcript.rows.index(1, CAPTION).data(DOUBT_ROLE)
        assert cells(transcript) == [("We met", f"Wir trafen uns{shown}"), ("Yes", "Ja")]
        if mark == OFF:
            continue
        assert cell.data(Qt.ItemDataRole.AccessibleTextRole) == "Wir trafen uns (?)"
        told = cell.data(Qt.ItemDataRole.ToolTipRole)
        assert told == "The model is not sure of this caption"
        picture = picture_of(transcript, CAPTION)
        assert picture != plain
        if mark == MARKED:
            letters = QRect(PADDING + 4, 0, plain.width(), plain.height())
            assert picture.copy(letters) == plain.copy(letters), "its letters stay where they were"


def test_of_a_very_long_text_the_middle_is_not_laid_out_and_all_is_copied(transcript):
    source, caption = "start " + "a " * MOST_SHOWN + "end", "Anfang " + "b " * MOST_SHOWN + "Ende"
    long = UtteranceView(key=0, source=source, caption=caption, doubtful=True, tail="perhaps")
    transcript.mark_doubt(SIGN)
    transcript.show_views((long,))
    shown = cells(transcript)[0]
    assert max(map(len, shown)) < MOST_SHOWN + 10
    assert [text.split()[0] for text in shown] == ["start", "Anfang"]
    assert shown[0].endswith("end perhaps…")
    assert "Ende" in shown[1][-20:]
    transcript.selectRow(0)
    transcript.copy()
    assert QGuiApplication.clipboard().text() == f"{source}\t{caption}"
    assert transcript.find_text("end", 0) == (1, 1)
    place, _ = transcript.rows.index(0, SOURCE).data(FOUND_ROLE)[-1]
    assert shown[0][place:].startswith("end")
