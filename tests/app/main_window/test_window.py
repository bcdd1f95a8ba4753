"""The parts of the window that need no engine: search, downloads, its place, the menu of a row."""

from itertools import pairwise

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtWidgets import QMenu

from app.captions.model import UtteranceView
from app.main_window.window import _HEIGHT as HEIGHT
from app.main_window.window import _WIDTH as WIDTH


def show_rows(window, *sources):
    views = [
        UtteranceView(key=key, lane="", source=source, caption=f"Satz {key}.", ended=True)
        for key, source in enumerate(sources)
    ]
    window.transcript.show_views(tuple(views))


def test_a_search_tells_where_it_is_and_ends_with_the_cursor_in_the_line(window, qtbot):
    bar = window.find_bar
    show_rows(window, "Good tea", "Milk", "Bad tea")
    bar.open_bar()
    assert window.focusWidget() is bar.line
    assert bar.answer.text() == ""
    steps = []
    bar.wanted.connect(lambda _text, step: steps.append((step, bar.answer.text())))
    for letter in "tea":
        qtbot.keyClick(bar.line, letter)
    qtbot.keyClick(bar.line, Qt.Key.Key_Return)
    bar.up.click()
    bar.down.click()
    assert [step for step, _ in steps] == [0, 0, 0, -1, -1, 1]
    rows = [answer.partition(" of ")[0] for _, answer in steps[2:]]
    assert [answer.endswith(" of 2") for _, answer in steps[2:]] == [True] * 4
    assert [one != other for one, other in pairwise(rows)] == [True] * 3
    bar.line.setText("coffee")
    assert bar.answer.text() == "Not found"
    bar.hide()
    bar.line.setText("Milk")
    bar.open_bar()
    assert (bar.line.selectedText(), bar.answer.text()) == ("Milk", "1 of 1")
    qtbot.keyClick(bar.line, Qt.Key.Key_Escape)
    assert not bar.isVisible()
    assert window.isVisible()
    assert window.focusWidget() is window.typed_line


def test_f6_goes_from_part_to_part_and_round(window, qtbot):
    show_rows(window, "Good tea")
    line, choices = window.typed_line, window.status.choices
    first = window.controls.microphone.button
    stops = [line, choices, first, window.transcript]
    window.activateWindow()
    qtbot.waitUntil(window.isActiveWindow)
    line.setFocus()
    for modifiers, expected in (
        (Qt.KeyboardModifier.NoModifier, [*stops[1:], line]),
        (Qt.KeyboardModifier.ShiftModifier, [window.transcript, first, choices, line]),
    ):
        reached = []
        for _ in stops:
            qtbot.keyClick(window.focusWidget(), Qt.Key.Key_F6, modifiers)
            reached.append(window.focusWidget())
        assert reached == expected
    window.find_bar.open_bar()
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_F6)
    assert window.focusWidget() is window.transcript


def test_a_download_tells_how_much_has_come_and_that_nothing_comes(window):
    bar = window.fetch_bar
    assert not bar.isVisible()
    assert "resume from here" in bar.cancel.toolTip()
    bar.show_progress("some/model", 30_500_000, 60_000_001)
    told = "Downloading some/model from huggingface.co"
    assert bar.sentence.text() == bar.bar.accessibleName() == f"{told}: 30 of 61 MB"
    assert (bar.bar.value(), bar.bar.maximum()) == (508, 1000)
    assert (bar.silence.isActive(), bar.silence.isSingleShot()) == (True, True)
    bar.silence.timeout.emit()
    assert bar.sentence.text() == f"{told}: 30 of 61 MB – nothing arrives at the moment"
    bar.show_progress("some/model", 5, 0)
    assert (bar.sentence.text(), bar.bar.maximum()) == (told, 0)
    for fraction, value, most in ((None, None, 0), (0.25, 250, 1000)):
        bar.show_stage("Loading", fraction)
        assert bar.sentence.text() == "Loading"
        assert bar.bar.maximum() == most
        assert value is None or bar.bar.value() == value
    bar.hide()
    assert not bar.silence.isActive()


@pytest.mark.parametrize(
    ("area", "top"),
    [(QRect(0, 0, 1920, 1080), 900), (QRect(100, 50, 800, 600), 500), (QRect(0, 0, 640, 480), 60)],
)
def test_the_window_makes_room_for_another_one_inside_the_screen(window, area, top):
    window.leave_room_for(QRect(area.left(), top, area.width(), 100), area)
    place = QRect(window.pos(), window.size())
    assert area.contains(place)
    assert abs((place.left() - area.left()) - (area.right() - place.right())) <= 1
    assert place.bottom() < top or place.height() == window.minimumSizeHint().height()
    assert place.width() == min(area.width(), WIDTH)
    assert area.height() < 1000 or place.height() == HEIGHT


def test_what_must_not_be_covered_is_told_in_the_order_of_what_matters(window, qtbot):
    def areas():
        return window.needed_areas()

    def area(part):
        return QRect(part.mapToGlobal(part.rect().topLeft()), part.size())

    empty = areas()
    assert empty[:3] == [area(window.controls), area(window.menuBar()), area(window.typed_line)]
    assert area(window.find_bar) not in empty
    show_rows(window, "One.", "Two.")
    window.find_bar.open_bar()
    qtbot.waitUntil(lambda: not window.transcript.newest_area().isEmpty())
    assert areas()[2:4] == [area(window.typed_line), area(window.find_bar)]
    assert area(window.status) in areas()[4:]
    assert areas()[-1] == window.transcript.newest_area()


def test_the_menu_opens_on_the_row_below_the_mouse_and_selects_it(window, monkeypatch):
    table, made = window.transcript, []
    show_rows(window, "One.", "Two.", "Three.")
    monkeypatch.setattr(QMenu, "popup", lambda *_it: None)
    make = table.make_menu
    monkeypatch.setattr(table, "make_menu", lambda row: (made.append(row), make(row))[1])
    table.selectRow(0)

    def ask(at):
        table.customContextMenuRequested.emit(at)
        return [index.row() for index in table.selectionModel().selectedRows()]

    def middle(row):
        return table.visualRect(table.rows.index(row, 1)).center()

    assert ask(middle(2)) == [2]
    table.selectAll()
    assert ask(middle(1)) == [0, 1, 2]
    ask(QPoint(5, table.viewport().height() + 500))
    assert made == [2, 1]
