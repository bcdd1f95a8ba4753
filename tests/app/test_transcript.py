import random

import pytest

from app.captions import UtteranceView
from app.transcript import Transcript


@pytest.fixture
def transcript(qtbot):
    widget = Transcript()
    qtbot.addWidget(widget)
    widget.resize(600, 200)
    widget.show()
    return widget


def view(key, source="", caption=""):
    return UtteranceView(key=key, source=source, caption=caption)


def cells(transcript):
    """The texts that stand in the document, row by row."""
    tables = transcript.document().rootFrame().childFrames()
    if not tables:
        return []
    table = tables[0]
    rows = []
    for row in range(table.rows()):
        texts = []
        for column in range(2):
            cell = table.cellAt(row, column)
            cursor = cell.firstCursorPosition()
            end = cell.lastCursorPosition().position()
            cursor.setPosition(end, cursor.MoveMode.KeepAnchor)
            texts.append(cursor.selectedText())
        rows.append(tuple(texts))
    return rows


def test_source_and_caption_stand_side_by_side(transcript):
    transcript.show_views((view(0, "Good morning", "Guten Morgen"), view(1, "Yes", "Ja")))
    assert cells(transcript) == [("Good morning", "Guten Morgen"), ("Yes", "Ja")]


def test_a_growing_caption_touches_nothing_but_its_end(transcript):
    transcript.show_views((view(0, "Good", "Guten 🙂"),))
    changes = []
    transcript.document().contentsChange.connect(lambda *change: changes.append(change))
    transcript.show_views((view(0, "Good", "Guten 🙂 Morgen"),))
    assert [(removed, added) for _, removed, added in changes] == [(0, len(" Morgen"))]


def test_views_that_did_not_change_touch_nothing(transcript):
    views = (view(0, "Good", "Guten"), view(1, "Yes", "Ja"))
    transcript.show_views(views)
    changes = []
    transcript.document().contentsChange.connect(lambda *change: changes.append(change))
    transcript.show_views(views)
    assert changes == []


def test_whatever_changes_the_document_shows_the_views(transcript):
    rng = random.Random(0)
    views, next_key = [], 0
    for _ in range(200):
        kind = rng.random()
        if kind < 0.3 or not views:
            views.insert(rng.randrange(len(views) + 1), view(next_key))
            next_key += 1
        elif kind < 0.45:
            del views[rng.randrange(len(views))]
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
        transcript.show_views(tuple(view(key, "Good morning", "Guten") for key in range(n)))
        assert bar.value() == bar.maximum()
    assert bar.maximum() > 0


def test_who_scrolled_up_to_read_is_left_in_peace_until_typing_goes_on(transcript):
    bar = transcript.verticalScrollBar()
    transcript.show_views(tuple(view(key, "Good", "Guten") for key in range(30)))
    bar.triggerAction(bar.SliderAction.SliderToMinimum)
    transcript.show_views(tuple(view(key, "Good", "Guten") for key in range(31)))
    assert bar.value() == 0
    transcript.follow()
    assert bar.value() == bar.maximum()
    transcript.show_views(tuple(view(key, "Good", "Guten") for key in range(32)))
    assert bar.value() == bar.maximum()
