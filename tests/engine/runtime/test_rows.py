"""The row book: positions and times of rows, whoever holds their keys."""

import random

import numpy as np
import pytest

from engine.errors import CacheFullError
from engine.layout.planner import Eviction
from engine.layout.rows import NEVER, Row
from engine.runtime.rows import RowBook


def fed(book, *asked):
    found = book.begin(asked)
    book.commit()
    return found


def test_places_are_those_of_the_rows_in_arrival_order():
    book = RowBook(1, 10)
    assert (book.places[1] == NEVER).all()  # a place that was never filled is seen by nobody
    fed(book, (0, [Row(1, 4, 0), Row(2, 9, 0, shift=3)]))
    new, cached = book.begin([(0, [Row(3, 5, 1)])])
    assert new.tolist() == [[[5]], [[1]], [[5]]]
    assert cached.tolist() == [[[4, 9, 5]], [[0, 0, 1]], [[4, 12, 5]]]
    assert book.n_rows == [2]  # the third is not yet valid


def test_lanes_of_a_pass_are_padded_in_front_by_rows_that_nobody_sees():
    book = RowBook(3, 10)
    new, cached = fed(book, (0, [Row(1, 4, 0)]), (2, [Row(2, 5, 1), Row(3, 6, 1)]))
    assert new[0].tolist() == [[0, 4], [5, 6]]
    assert new[1].tolist() == [[NEVER, 0], [1, 1]]
    assert cached[1].tolist() == [[0, NEVER], [1, 1]]
    assert book.n_rows == [1, 0, 2]


def test_a_lane_without_room_is_refused_and_no_other_gets_its_rows():
    book = RowBook(2, 3)
    fed(book, (1, [Row(1, 0, 0), Row(1, 1, 0)]))
    before = book.places.copy()
    with pytest.raises(CacheFullError) as caught:
        book.begin([(0, [Row(1, 0, 0)]), (1, [Row(1, 2, 1), Row(1, 3, 1)])])
    assert (caught.value.capacity, caught.value.wanted) == (3, 4)
    assert np.array_equal(book.places, before)


def test_rows_of_a_pass_that_failed_are_seen_by_none():
    book = RowBook(2, 10)
    book.begin([(0, [Row(1, 0, 0), Row(1, 1, 0), Row(1, 2, 0)])])  # and is never committed
    _, cached = book.begin([(0, [Row(1, 0, 1)]), (1, [Row(1, n, 1) for n in range(3)])])
    assert cached[1, 0].tolist() == [1, NEVER, NEVER]


def test_what_lanes_hold_after_random_passes_is_what_a_list_of_rows_holds():
    rng = random.Random(0)
    book, lists = RowBook(3, 60), [[], [], []]
    for time in range(300):
        lane = rng.randrange(3)
        rows = [Row(0, rng.randrange(99), time, shift=rng.randrange(3)) for _ in range(3)]
        if len(lists[lane]) > 50:
            book.truncate(lane, 20)
            del lists[lane][20:]
        if rng.random() < 0.2 and len(lists[lane]) > 9:
            book.evict(lane, Eviction(start=2, stop=6, distance=4))
            later = [row._replace(position=row.position - 4) for row in lists[lane][6:]]
            lists[lane][2:] = later
        book.begin([(lane, rows)])
        order = rng.sample(range(3), 3)
        book.arrange(lane, order)
        book.commit()
        lists[lane] += [rows[index] for index in order]
        for number, kept in enumerate(lists):
            wanted = [(row.position, row.time, row.position + row.shift) for row in kept]
            assert book.n_rows[number] == len(wanted)
            assert book.places[:, number, : len(kept)].T.tolist() == list(map(list, wanted))
            assert (book.places[1, number, len(kept) :] == NEVER).all()
