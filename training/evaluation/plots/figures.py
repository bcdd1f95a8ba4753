"""Figures of matplotlib without its global state: made, dressed alike, saved as PNG."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from training.data.corpus import replacing
from training.errors import TrainingError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

INK = "#444444"
_SPINE = "#BBBBBB"
_DPI = 100
_NAME_LETTERS = 40


def new_figure(width: float, height: float) -> "Figure":
    """Make an empty figure; sizes in inches of 100 pixels."""
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  an extra
        from matplotlib.figure import Figure  # noqa: PLC0415
        from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415
    except ImportError as error:
        msg = "a picture needs matplotlib: install it with pip install 'surtitle[evaluate]'"
        raise TrainingError(msg) from error
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1)
    figure = Figure((width, height), dpi=_DPI, layout=layout)
    FigureCanvasAgg(figure)
    return figure


def save(figure: "Figure", path: Path) -> None:
    """Write a PNG; equal figures give equal bytes. Letters that the font lacks become boxes.

    Raises:
        CorpusError: the file cannot be written.
    """
    with replacing(path) as partial, warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(
            partial,
            format="png",
            dpi=_DPI,
            metadata={"Software": None},
            pil_kwargs={"optimize": True},
        )


def dress(axes: "Axes", x_label: str, y_label: str, title: str) -> None:
    """Set labels, title, ticks and spines in the style of all figures."""
    axes.set_xlabel(x_label, color=INK, fontsize=10)
    axes.set_ylabel(y_label, color=INK, fontsize=10)
    axes.set_title(title, color=INK, fontsize=11, parse_math=False)
    axes.tick_params(colors=INK, labelsize=9, length=0)
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(_SPINE)


def add_legend(
    figure: "Figure", names: Sequence[str], rows: "Sequence[Mapping[str, Line2D]]"
) -> None:
    """Draw the legend as a table below the axes: a row for each system, a column for each family.

    Args:
        figure: the figure.
        names: of the systems; a long name loses its middle.
        rows: for each system a sample line of each family, with its text as label.
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


def _shortened(name: str) -> str:
    half = _NAME_LETTERS // 2
    return name if len(name) <= _NAME_LETTERS else f"{name[:half]}…{name[-half + 1 :]}"
