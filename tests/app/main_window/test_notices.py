"""Banner and download come and go without moving the rows of the transcript."""

import pytest
from PySide6.QtCore import QPoint

from app.captions.model import UtteranceView
from app.main_window.window import MainWindow


@pytest.fixture
def window(qtbot):
    window = MainWindow()
    qtbot.addWidget(window)
    window.resize(800, 500)
    window.show()
    return window


def show_rows(qtbot, window, n_rows):
    """Show some rows, and wait until they have their places."""
    views = [
        UtteranceView(key=key, lane="", source=f"Sentence {key}.", caption=f"Satz {key}.")
        for key in range(n_rows)
    ]
    table = window.transcript
    table.show_views(tuple(views))
    bar, header, port = table.verticalScrollBar(), table.verticalHeader(), table.viewport()
    qtbot.waitUntil(lambda: bar.maximum() == max(0, header.length() - port.height()))


def top_of(window, row):
    """Where a row of the transcript begins in the window."""
    table = window.transcript
    corner = table.visualRect(table.rows.index(row, 0)).topLeft()
    return table.viewport().mapTo(window, corner).y()


def covers(bar, table):
    return bar.geometry().intersects(table.parentWidget().geometry())


@pytest.mark.parametrize(("n_rows", "row"), [(3, 0), (3, 2), (60, 59)])
def test_a_notice_moves_no_row_and_covers_none(window, qtbot, n_rows, row):
    table, banner = window.transcript, window.banner
    show_rows(qtbot, window, n_rows)
    assert row in table.visible_rows()
    before, height = top_of(window, row), table.height()
    banner.show_notice("something is to be done")
    qtbot.waitUntil(lambda: table.height() < height and not covers(banner, table))
    qtbot.waitUntil(lambda: top_of(window, row) == before)
    banner.dismiss.click()
    qtbot.waitUntil(lambda: table.height() == height and top_of(window, row) == before)


def test_the_next_notice_stands_above_the_rows_again(window, qtbot):
    banner = window.banner
    show_rows(qtbot, window, 16)
    qtbot.waitUntil(lambda: window.transcript.keeps_its_end)
    for text in ("something is to be done", "and this, too"):
        banner.show_notice(text)
        qtbot.waitUntil(lambda: 0 < banner.geometry().top() < middle_of(window).top())
        banner.dismiss.click()
        assert not banner.isVisible()


@pytest.mark.parametrize("way", ["a higher window", "a new session"])
def test_a_notice_above_the_rows_goes_below_them_once_there_is_room(window, qtbot, way):
    table, banner = window.transcript, window.banner
    show_rows(qtbot, window, 16)
    qtbot.waitUntil(lambda: table.keeps_its_end)
    banner.show_notice("something is to be done")
    window.fetch_bar.show_progress("base.en", 1, 2)
    qtbot.waitUntil(lambda: 0 < banner.geometry().top() < middle_of(window).top())
    if way == "a new session":
        table.show_views(())
    else:
        window.resize(800, 1400)
    bars = banner, window.fetch_bar
    qtbot.waitUntil(lambda: all(one.y() > middle_of(window).bottom() for one in bars))
    assert banner.y() < window.fetch_bar.y() < window.typed_line.y()


def middle_of(window):
    """Where the transcript, or the hint instead of it, stands in the window."""
    return window.transcript.parentWidget().geometry()


def test_a_notice_moves_no_row_where_somebody_reads(window, qtbot):
    table = window.transcript
    show_rows(qtbot, window, 60)
    table.go_to(20)
    qtbot.waitUntil(lambda: 20 in table.visible_rows())
    before, height = top_of(window, 20), table.height()
    window.fetch_bar.show_progress("base.en", 1, 2)
    qtbot.waitUntil(lambda: table.height() < height and not covers(window.fetch_bar, table))
    qtbot.waitUntil(lambda: top_of(window, 20) == before)


def test_a_notice_moves_no_button_of_the_empty_page(window, qtbot):
    page, banner = window.empty_page, window.banner
    page.show_missing("base.en")
    place = QPoint()
    qtbot.waitUntil(lambda: page.download.mapTo(window, place).y() > page.mapTo(window, place).y())
    before, height = page.download.mapTo(window, place), page.height()
    banner.show_notice("something is to be done")
    qtbot.waitUntil(lambda: page.height() < height)
    assert page.download.mapTo(window, place) == before
    window.fetch_bar.show_progress("base.en", 1, 2)
    qtbot.waitUntil(window.fetch_bar.isVisible)
    assert page.download.mapTo(window, place) == before


def test_the_empty_page_says_what_can_be_done_now(window):
    page, controls = window.empty_page, window.controls
    assert page.hint.text() == "Switch on the microphone or computer sound, or type below."
    controls.microphone.show_on(on=True)
    assert page.hint.text() == "Captions appear here as soon as something is said."
    controls.pause.setChecked(True)
    assert page.hint.text() == "Paused. Click Resume to go on."
    controls.pause.setChecked(False)
    controls.microphone.show_on(on=False)
    assert page.hint.text() == "Switch on the microphone or computer sound, or type below."
