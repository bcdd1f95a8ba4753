"""The legend of a figure, a table below its axes, and the colour of its letters."""

import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

INK = "#444444"
_NAME_LETTERS = 40


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


def _shortened(name: str) -> str:
    half = _NAME_LETTERS // 2
    return name if len(name) <= _NAME_LETTERS else f"{name[:half]}…{name[-half + 1 :]}"
