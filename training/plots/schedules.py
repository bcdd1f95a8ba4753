"""Draw the schedules of read-n data: how much source each part of a target waits for, and the runs.

On the left, a column is a part of the target sentence; the darker a cell, the more of the words
there wait for a source word at that height. The dashed line is a source read in step with the
target, the full one the mean. On the right are the words that are read, and written, at a stretch.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from training.data.corpus import replacing
from training.data.schedule_statistics import BINS, ScheduleStatistics
from training.errors import TrainingError
from training.plots.legend import INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_DPI = 100
_WIDTH, _HEIGHT = 9.0, 4.2  # inches
_LONGEST = 10  # words of a run; longer ones stand in the last bar
_READ, _WRITE = "#0072B2", "#D55E00"  # Okabe and Ito's, which most people can tell apart
_PAPER, _SPINE = "#FFFFFF", "#BBBBBB"
_BAR = 0.4  # of the room of one length


def draw(statistics: ScheduleStatistics, path: Path) -> None:
    """Write the picture as a PNG, 900 pixels wide; the same statistics give the same bytes.

    Raises:
        CorpusError: the file cannot be written.
        TrainingError: matplotlib is not installed, or there is no schedule to draw.
    """
    figure = make_figure(statistics)
    with replacing(path) as partial:
        figure.savefig(
            partial,
            format="png",
            dpi=_DPI,
            metadata={"Software": None},
            pil_kwargs={"optimize": True},
        )


def make_figure(statistics: ScheduleStatistics) -> "Figure":
    """Lay the picture out.

    Raises:
        TrainingError: matplotlib is not installed, or there is no schedule to draw.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  an extra
        from matplotlib.figure import Figure  # noqa: PLC0415
        from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415
    except ImportError as error:
        msg = "a picture needs matplotlib: install it with pip install 'surtitle[evaluate]'"
        raise TrainingError(msg) from error
    if not statistics.n_pairs:
        msg = "a picture needs a schedule and no pair has one: lower --min-agreement or use --ratio"
        raise TrainingError(msg)
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1)
    figure = Figure((_WIDTH, _HEIGHT), dpi=_DPI, layout=layout)
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1, 1.15))
    _draw_needs(left, statistics)
    _draw_runs(right, statistics)
    return figure


def _draw_needs(axes: "Axes", statistics: ScheduleStatistics) -> None:
    from matplotlib.colors import LinearSegmentedColormap  # noqa: PLC0415  an extra

    columns = statistics.grid * BINS / statistics.n_pairs  # each adds up to 1
    colours = LinearSegmentedColormap.from_list("read", (_PAPER, _READ))
    axes.imshow(columns.T, origin="lower", extent=(0, 1, 0, 1), cmap=colours, vmin=0)
    middles = (np.arange(BINS) + 0.5) / BINS
    axes.plot((0, 1), (0, 1), color=INK, linewidth=1, linestyle=(0, (5, 3)), label="in step")
    axes.plot(middles, columns @ middles, color=_WRITE, linewidth=1.8, label="mean")
    axes.set_xlabel("place of the target word", color=INK, fontsize=10)
    axes.set_ylabel("place of the last source word it waits for", color=INK, fontsize=10)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    _finish(axes, f"{statistics.n_pairs:,} schedules", "lower right")


def _draw_runs(axes: "Axes", statistics: ScheduleStatistics) -> None:
    for name, runs, colour, side in (
        ("read", statistics.read_runs, _READ, -1),
        ("written", statistics.write_runs, _WRITE, 1),
    ):
        heights = _shares(runs)
        places = [length + side * _BAR / 2 for length in range(len(heights))]
        axes.bar(places, heights, _BAR, color=colour, label=name)
    axes.set_xticks(range(_LONGEST + 1), [*map(str, range(_LONGEST)), f"{_LONGEST}+"])
    axes.set_xlabel("words at a stretch", color=INK, fontsize=10)
    axes.set_ylabel("share of runs", color=INK, fontsize=10)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")
    _finish(axes, "minimal runs", "upper right")


def _shares(runs: Counter[int]) -> Sequence[float]:
    """Tell which share of runs has 0, 1, ... words."""
    heights = [0.0] * (_LONGEST + 1)
    for n_words, n_runs in runs.items():
        heights[min(n_words, _LONGEST)] += n_runs / runs.total()
    return heights


def _finish(axes: "Axes", title: str, corner: Literal["lower right", "upper right"]) -> None:
    axes.set_title(title, color=INK, fontsize=11)
    axes.legend(loc=corner, frameon=False, fontsize=9, labelcolor=INK)
    axes.tick_params(colors=INK, labelsize=9, length=0)
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(_SPINE)
