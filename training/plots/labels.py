"""Letter a picture: a label beside each point, and the legend, a table below the axes."""

import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING

from training.plots.label_placement import Box, Scene, Segment, place

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.text import Annotation

INK = "#444444"
MARK = 6.5
"""Diameter of a mark in points, 72 to an inch."""

_NAME_LETTERS = 40
_FAR = 6  # pixels from a mark, from where on a thin line joins label and mark


def add_label(
    axes: "Axes", text: str, at: tuple[float, float], ink: tuple[float, ...]
) -> "Annotation":
    """Put a label on a point; ``place_labels`` moves it beside it."""
    from matplotlib.patheffects import withStroke  # noqa: PLC0415  an extra

    return axes.annotate(
        text,
        at,
        xytext=(0, 0),
        textcoords="offset pixels",
        ha="center",
        va="center",
        fontsize=8,
        color=ink,
        zorder=5,
        parse_math=False,
        path_effects=[withStroke(linewidth=2, foreground="white")],
        arrowprops={
            "arrowstyle": "-",
            "color": ink,
            "linewidth": 0.6,
            "shrinkA": 0,
            "shrinkB": MARK / 2 + 1,
        },
    )


def place_labels(figure: "Figure", axes: "Axes", labels: "Sequence[Annotation]") -> None:
    """Move the labels off the marks, the lines and each other; the layout must be done."""
    from matplotlib.text import Text  # noqa: PLC0415  an extra

    points = [_pixels(axes.transData.transform(label.xy)) for label in labels]
    lines = list[Segment]()
    for line in axes.get_lines():
        ends = [_pixels(end) for end in line.get_transform().transform(line.get_xydata())]
        lines += [Segment(*start, *end) for start, end in pairwise(ends)]
    radius = MARK * figure.dpi / 72 / 2 + 1  # pixels
    scene = Scene(
        bounds=Box(*map(float, axes.get_window_extent().extents)),
        marks=[Box.around(x, y, 2 * radius, 2 * radius) for x, y in points],
        lines=lines,
    )
    extents = [Text.get_window_extent(label) for label in labels]  # an Annotation adds its arrow
    boxes = place(points, [(one.width, one.height) for one in extents], radius, scene)
    for label, (x, y), box in zip(labels, points, boxes, strict=True):
        label.set_position(((box.left + box.right) / 2 - x, (box.bottom + box.top) / 2 - y))
        if label.arrow_patch is not None:
            label.arrow_patch.set_visible(box.distance(x, y) > radius + _FAR)


def add_legend(
    figure: "Figure", names: Sequence[str], rows: "Sequence[Mapping[str, Line2D]]"
) -> None:
    """Set the legend: a row for each system, a column for each family.

    Args:
        figure: gets it below the axes.
        names: of the systems; a long one loses its middle.
        rows: for each system a sample of each family, with its text as label.
    """
    from matplotlib.lines import Line2D  # noqa: PLC0415  an extra

    nothing = Line2D([], [], linestyle="none", label="")
    columns = [[(nothing, _shortened(name)) for name in names]]
    longest_first = sorted(rows, key=len, reverse=True)  # its order of families counts
    for family in dict.fromkeys(family for row in longest_first for family in row):
        lines = [row.get(family, nothing) for row in rows]
        columns.append([(line, str(line.get_label())) for line in lines])
    entries = [entry for column in columns for entry in column]
    legend = figure.legend(
        [line for line, _ in entries],
        [text for _, text in entries],
        loc="outside lower center",
        ncols=len(columns),
        frameon=False,
        fontsize=9,
        labelcolor=INK,
        handlelength=3,
    )
    for text in legend.get_texts():
        text.set_parse_math(False)


@contextmanager
def any_script() -> Iterator[None]:
    """Draw letters that the font lacks as boxes, without a warning: the rest can be read."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def _pixels(pair: Iterable[float]) -> tuple[float, float]:
    x, y = pair
    return float(x), float(y)


def _shortened(name: str) -> str:
    half = _NAME_LETTERS // 2
    return name if len(name) <= _NAME_LETTERS else f"{name[:half]}…{name[-half + 1 :]}"
