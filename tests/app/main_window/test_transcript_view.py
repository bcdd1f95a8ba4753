import random
from dataclasses import replace

import pytest
from PySide6.QtCore import QRect, Qt
from PySide6.QtGui import QGuiApplication, QKeySequence
from PySide6.QtWidgets import QStyleOptionViewItem

from app.captions.model import UtteranceView
from app.main_window.transcript_model import CAPTION, SOURCE, SPEAKER, TAIL_ROLE, TranscriptModel
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
    assert transcript.find_text("tea", 1)
    assert transcript.currentIndex().row() == 0
    transcript.find_text("TEE", 1)
    assert transcript.currentIndex().row() == 2
    transcript.find_text("tee", 1)
    assert transcript.currentIndex().row() == 0
    transcript.find_text("tee", -1)
    assert transcript.currentIndex().row() == 2
    transcript.find_text("strasse", -1)
    assert transcript.currentIndex().row() == 1
    assert not transcript.find_text("coffee", 1)
    assert not transcript.find_text("", 1)


def test_search_from_a_fresh_transcript_up_begins_with_the_newest(transcript):
    transcript.show_views(many(50))
    transcript.find_text("Good", -1)
    assert transcript.currentIndex().row() == 49


def test_the_mark_stays_with_its_row_and_is_found_again(transcript):
    assert transcript.mark_newest() is None
    transcript.show_views(many(40))
    assert transcript.mark_newest() == 39
    marked = transcript.rows.index(39, 0)
    assert transcript.rows.data(marked, Qt.ItemDataRole.BackgroundRole) is not None
    transcript.show_views((view(900, "first", ""), *many(120)))
    transcript.go_to_mark()
    assert transcript.currentIndex().row() == 40
    assert 40 in transcript.visible_rows()
    transcript.show_views(many(10))
    assert transcript.rows.marked_row is None


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


def test_who_speaks_stands_first_once_somebody_does(transcript):
    transcript.show_views((view(0, "typed", "getippt"),))
    assert transcript.isColumnHidden(SPEAKER)
    spoken = replace(view(1, "Hello", "Hallo"), lane="me")
    transcript.show_views((view(0, "typed", "getippt"), spoken))
    assert not transcript.isColumnHidden(SPEAKER)
    assert transcript.horizontalHeader().visualIndex(SPEAKER) == 0
    rows = transcript.rows
    assert [rows.index(row, SPEAKER).data() for row in range(2)] == ["", "Me"]
    colours = {rows_of(lane).data(Qt.ItemDataRole.ForegroundRole).name() for lane in ("me", "them")}
    assert len(colours) == 2


def rows_of(lane):
    model = TranscriptModel()
    model.show_views((replace(view(0), lane=lane),))
    rows_of.kept = model
    return model.index(0, SPEAKER)


def test_words_that_may_change_stand_behind_the_others_paler_and_with_dots(transcript):
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
            monkeypatch.setattr("app.main_window.transcript_view._PADDING", padding)
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
    transcript.mark_row(0)
    assert cell(transcript, Qt.ItemDataRole.ToolTipRole) == "Your mark"
    assert cell(transcript, Qt.ItemDataRole.BackgroundRole) is not None


def test_the_letters_of_a_doubtful_caption_are_paler(transcript):
    transcript.show_views((replace(DOUBTFUL, source=DOUBTFUL.caption),))
    transcript.mark_doubt("pale")
    source, caption = ink(transcript, SOURCE), ink(transcript, CAPTION)
    assert caption[1] == pytest.approx(source[1], abs=2)
    assert caption[0] < source[0] / 2
