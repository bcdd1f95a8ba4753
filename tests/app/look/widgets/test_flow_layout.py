import itertools
import random

import pytest
from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtWidgets import QLabel, QWidget

from app.main_window.control_panel import FlowLayout


class Box(QWidget):
    def __init__(self, width, height):
        super().__init__()
        self._size = QSize(width, height)

    def sizeHint(self):  # noqa: N802  Qt's name
        return self._size

    minimumSizeHint = sizeHint  # noqa: N815


@pytest.fixture
def rows(qtbot):
    def make(sizes, gap=None):
        widget = QWidget()
        qtbot.addWidget(widget)
        row = FlowLayout(widget)
        row.setSpacing(5)
        boxes = [Box(*size) for size in sizes]
        for number, box in enumerate(boxes):
            if number == gap:
                row.add_gap()
            row.addWidget(box)
        return widget, row, boxes

    return make


def test_all_stand_in_one_line_where_there_is_room(rows):
    _, row, boxes = rows([(100, 20), (50, 30), (80, 20)], gap=2)
    row.setGeometry(QRect(0, 0, 400, 30))
    assert [box.geometry().left() for box in boxes] == [0, 105, 320]
    assert [box.geometry().top() for box in boxes] == [5, 0, 5]


def test_what_is_aligned_to_the_top_stands_there(rows):
    _, row, boxes = rows([(100, 20), (50, 30)])
    row.setAlignment(boxes[0], Qt.AlignmentFlag.AlignTop)
    row.setGeometry(QRect(0, 0, 400, 30))
    assert [box.geometry().top() for box in boxes] == [0, 0]


def test_what_has_no_room_goes_on_in_the_next_line(rows):
    _, row, boxes = rows([(100, 20), (50, 30), (80, 20)], gap=2)
    row.setGeometry(QRect(0, 0, 160, 60))
    assert [(box.geometry().left(), box.geometry().top()) for box in boxes] == [
        (0, 5),
        (105, 0),
        (0, 35),
    ]
    assert row.heightForWidth(160) == 55


def test_nothing_overlaps_is_cut_or_out_of_order_at_any_width(rows):
    rng = random.Random(0)
    for _ in range(100):
        sizes = [(rng.randrange(20, 150), rng.randrange(10, 40)) for _ in range(8)]
        _, row, boxes = rows(sizes, gap=rng.randrange(9))
        width = rng.randrange(max(width for width, _ in sizes), 900)
        height = row.heightForWidth(width)
        place = QRect(7, 9, width, height)
        row.setGeometry(place)
        places = [box.geometry() for box in boxes]
        assert all(place.contains(one) for one in places)
        assert [one.size() for one in places] == [QSize(*size) for size in sizes]
        for before, after in itertools.pairwise(places):
            assert after.left() > before.right() or after.top() > before.top()
        assert not any(
            one.intersects(other) for n, one in enumerate(places) for other in places[:n]
        )


def test_what_is_hidden_takes_no_room(rows):
    widget, row, boxes = rows([(100, 20), (50, 20), (80, 20)])
    widget.show()
    boxes[0].hide()
    assert row.sizeHint() == QSize(135, 20)
    row.setGeometry(QRect(0, 0, 400, 20))
    assert boxes[1].geometry().left() == 0
    widget.hide()


def test_a_label_without_text_leaves_no_gap_until_it_has_one(qtbot):
    widget = QWidget()
    qtbot.addWidget(widget)
    row, label, box = FlowLayout(widget), QLabel(), Box(50, 20)
    row.add_gap()
    row.addWidget(box)
    row.addWidget(label)
    widget.resize(400, 40)
    widget.show()
    qtbot.waitExposed(widget)
    assert box.geometry().right() + 1 == 400
    label.setText("said")
    qtbot.waitUntil(lambda: label.geometry().right() + 1 == 400)
    assert label.geometry().left() > box.geometry().right() > 200
    widget.hide()
