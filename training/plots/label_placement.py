"""Find places for labels beside their points: off marks, off each other, off lines where it can be.

Pure geometry in pixels. Each label tries places around its point, nearer ones first; labels take
the best place in turn, and again until none wants to move.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

_N_DIRECTIONS = 16
_GAPS = (3.0, 8.0, 14.0, 22.0)  # pixels between a mark and its label
_N_ROUNDS = 8
_HIT = 1000.0  # cost of a square pixel shared with a mark or a label, or out of bounds
_CROSSED = 1.0  # cost of a pixel of a line under the label
_AWAY = 1.0  # cost of a pixel of gap
_MISTAKEN = 30.0  # cost of a label that another mark is nearer to than its own


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle, edges parallel to the axes."""

    left: float
    bottom: float
    right: float
    top: float

    @classmethod
    def around(cls, x: float, y: float, width: float, height: float) -> "Box":
        """Make the box of that size and centre."""
        return cls(x - width / 2, y - height / 2, x + width / 2, y + height / 2)

    def distance(self, x: float, y: float) -> float:
        """Compute how far a point is away; 0 within."""
        dx = max(self.left - x, 0, x - self.right)
        dy = max(self.bottom - y, 0, y - self.top)
        return math.hypot(dx, dy)

    @property
    def area(self) -> float:
        """Square pixels."""
        return (self.right - self.left) * (self.top - self.bottom)

    def shared(self, other: "Box") -> float:
        """Compute the area of what lies in both."""
        width = min(self.right, other.right) - max(self.left, other.left)
        height = min(self.top, other.top) - max(self.bottom, other.bottom)
        return max(width, 0) * max(height, 0)


@dataclass(frozen=True, slots=True)
class Segment:
    """A straight line between two points."""

    x0: float
    y0: float
    x1: float
    y1: float

    def length_in(self, box: Box) -> float:
        """Compute how much of it runs through a box (Liang and Barsky 1984)."""
        dx, dy = self.x1 - self.x0, self.y1 - self.y0
        start, end = 0.0, 1.0
        for step, low, high in (
            (dx, box.left - self.x0, box.right - self.x0),
            (dy, box.bottom - self.y0, box.top - self.y0),
        ):
            if step == 0:
                if low > 0 or high < 0:
                    return 0
                continue
            enters, leaves = sorted((low / step, high / step))
            start, end = max(start, enters), min(end, leaves)
        return max(end - start, 0) * math.hypot(dx, dy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What labels must keep off, and where they must stay."""

    bounds: Box
    marks: Sequence[Box]
    lines: Sequence[Segment]


def place(
    points: Sequence[tuple[float, float]],
    sizes: Sequence[tuple[float, float]],
    radius: float,
    scene: Scene,
) -> list[Box]:
    """Place a label beside each point.

    Args:
        points: their x and y.
        sizes: width and height of each label.
        radius: of a mark.
        scene: with the marks of the points among its marks.

    Returns:
        where each label goes.
    """
    choices = [
        _choices(point, size, radius, points, scene)
        for point, size in zip(points, sizes, strict=True)
    ]
    reaches = [_hull([box for box, _ in ways]) for ways in choices]
    chosen = dict[int, Box]()
    for _ in range(_N_ROUNDS):
        before = dict(chosen)
        for index, ways in enumerate(choices):
            others = [box for number, box in chosen.items() if number != index]
            near = [box for box in others if box.shared(reaches[index])]
            costs = [cost + _HIT * sum(box.shared(other) for other in near) for box, cost in ways]
            chosen[index] = ways[costs.index(min(costs))][0]
        if chosen == before:
            break
    return [chosen[index] for index in range(len(points))]


def _choices(
    own: tuple[float, float],
    size: tuple[float, float],
    radius: float,
    points: Sequence[tuple[float, float]],
    scene: Scene,
) -> list[tuple[Box, float]]:
    """List places around a mark, and what each costs but for the other labels."""
    places = list(_around(own, size, radius))
    reach = _hull([box for box, _ in places])
    near = Scene(
        bounds=scene.bounds,
        marks=[mark for mark in scene.marks if mark.shared(reach)],
        lines=[line for line in scene.lines if line.length_in(reach)],
    )
    rivals = [point for point in points if reach.distance(*point) < radius + max(_GAPS)]
    return [(box, _AWAY * gap + _cost(box, own, rivals, near)) for box, gap in places]


def _around(
    point: tuple[float, float], size: tuple[float, float], radius: float
) -> Iterator[tuple[Box, float]]:
    """List boxes around a mark, with the gap between."""
    width, height = size
    for gap in _GAPS:
        for number in range(_N_DIRECTIONS):
            # above comes first: of equal places the first is taken
            angle = math.pi / 2 - 2 * math.pi * number / _N_DIRECTIONS
            x = point[0] + math.cos(angle) * (radius + gap + width / 2)
            y = point[1] + math.sin(angle) * (radius + gap + height / 2)
            yield Box.around(x, y, width, height), gap


def _cost(
    box: Box, own: tuple[float, float], rivals: Sequence[tuple[float, float]], scene: Scene
) -> float:
    outside = box.area - box.shared(scene.bounds)
    hits = sum(box.shared(mark) for mark in scene.marks)
    crossed = sum(line.length_in(box) for line in scene.lines)
    mistaken = min(box.distance(*point) for point in rivals) < box.distance(*own)
    return _HIT * (outside + hits) + _CROSSED * crossed + _MISTAKEN * mistaken


def _hull(boxes: Sequence[Box]) -> Box:
    """Find the smallest box around boxes."""
    return Box(
        min(box.left for box in boxes),
        min(box.bottom for box in boxes),
        max(box.right for box in boxes),
        max(box.top for box in boxes),
    )
