"""Test where labels are put: in pixels, on random scenes."""

import math
import random

import pytest

from training.plots.label_placement import Box, Scene, Segment, place

BOUNDS = Box(0, 0, 800, 500)
RADIUS = 5.0


def scene_of(points, lines=()):
    marks = [Box.around(x, y, 2 * RADIUS, 2 * RADIUS) for x, y in points]
    return Scene(bounds=BOUNDS, marks=marks, lines=lines)


def test_labels_keep_off_marks_and_each_other_and_stay_within_bounds():
    rng = random.Random(0)
    for _ in range(10):
        points = [(rng.uniform(40, 760), rng.uniform(40, 460)) for _ in range(24)]
        scene = scene_of(points)
        boxes = place(points, [(26.0, 11.0)] * 24, RADIUS, scene)
        for number, box in enumerate(boxes):
            assert box.shared(BOUNDS) == pytest.approx(box.area)
            assert not any(box.shared(mark) for mark in scene.marks)
            assert not any(box.shared(other) for other in boxes[:number])


def test_a_label_alone_is_just_above_its_mark():
    (box,) = place([(400.0, 250.0)], [(26.0, 11.0)], RADIUS, scene_of([(400.0, 250.0)]))
    assert (box.left + box.right) / 2 == pytest.approx(400)
    assert 250 + RADIUS < box.bottom < 250 + RADIUS + 5


def test_a_label_keeps_off_a_line_where_there_is_room():
    point = (400.0, 250.0)
    line = Segment(400.0, 250.0, 400.0, 500.0)  # straight up, where a label would go
    (box,) = place([point], [(26.0, 11.0)], RADIUS, scene_of([point], [line]))
    assert line.length_in(box) == 0
    assert box.distance(*point) < 12


def test_of_two_marks_the_nearer_one_is_that_of_the_label():
    points = [(400.0, 250.0), (414.0, 256.0)]
    boxes = place(points, [(26.0, 11.0)] * 2, RADIUS, scene_of(points))
    for own, box in zip(points, boxes, strict=True):
        assert box.distance(*own) == min(box.distance(*point) for point in points)


def test_the_length_in_a_box_is_that_of_many_small_steps():
    rng = random.Random(1)
    for _ in range(50):
        box = Box.around(rng.uniform(0, 10), rng.uniform(0, 10), 4, 3)
        line = Segment(*(rng.choice([rng.uniform(0, 10), 5.0]) for _ in range(4)))
        steps = 2000
        inside = 0
        for step in range(steps):
            part = (step + 0.5) / steps
            x = line.x0 + part * (line.x1 - line.x0)
            y = line.y0 + part * (line.y1 - line.y0)
            inside += box.distance(x, y) == 0
        length = math.hypot(line.x1 - line.x0, line.y1 - line.y0)
        assert line.length_in(box) == pytest.approx(length * inside / steps, abs=0.02)
