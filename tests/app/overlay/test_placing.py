import random

from PySide6.QtCore import QRect

from app.overlay.window import best_place, clear_place, moved_inside

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
