"""Draw the schedules of read-n data: how much source each part of a target waits for, and the runs.

On the left, a column is a part of the target sentence; the darker a cell, the more of the words
there wait for a source word at that height. The dashed line is a source read in step with the
target, the solid line the mean. On the right are the lengths of runs of reads and of writes.
"""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from training.data.schedule_statistics import BINS, ScheduleStatistics
from training.errors import TrainingError
from training.evaluation.plots.figures import INK, dress, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WIDTH, _HEIGHT = 9.0, 4.2  # inches
_LONGEST = 10  # words of a run; longer ones are in the last bar
_READ, _WRITE = "#0072B2", "#D55E00"  # Okabe and Ito's, which most people can tell apart
_PAPER = "#FFFFFF"
_BAR = 0.4  # of the room of one length


def draw(statistics: ScheduleStatistics, path: Path) -> None:
    """Write the figure as a PNG, 900 pixels wide; equal statistics give equal bytes.

    Raises:
        CorpusError: the file cannot be written.
        TrainingError: matplotlib is not installed, or there is no schedule to draw.
    """
    save(make_figure(statistics), path)


def make_figure(statistics: ScheduleStatistics) -> "Figure":
    """Lay the figure out."""
    if not statistics.n_pairs:
        msg = "a picture needs a schedule and no pair has one: lower --min-agreement or use --ratio"
        raise TrainingError(msg)
    figure = new_figure(_WIDTH, _HEIGHT)
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
    y_label = "position of the last source word it waits for"
    dress(axes, "position of the target word", y_label, f"{statistics.n_pairs:,} schedules")
    axes.legend(loc="lower right", frameon=False, fontsize=9, labelcolor=INK)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")


def _draw_runs(axes: "Axes", statistics: ScheduleStatistics) -> None:
    for name, runs, colour, side in (
        ("read", statistics.read_runs, _READ, -1),
        ("written", statistics.write_runs, _WRITE, 1),
    ):
        heights = _shares(runs)
        centres = [length + side * _BAR / 2 for length in range(len(heights))]
        axes.bar(centres, heights, _BAR, color=colour, label=name)
    axes.set_xticks(range(_LONGEST + 1), [*map(str, range(_LONGEST)), f"{_LONGEST}+"])
    dress(axes, "words at a stretch", "share of runs", "minimal runs")
    axes.legend(loc="upper right", frameon=False, fontsize=9, labelcolor=INK)
    axes.yaxis.set_major_formatter(lambda value, _: f"{100 * value:.0f} %")


def _shares(runs: Counter[int]) -> Sequence[float]:
    """Return the shares of runs of 0, 1, ... words."""
    heights = [0.0] * (_LONGEST + 1)
    for n_words, n_runs in runs.items():
        heights[min(n_words, _LONGEST)] += n_runs / runs.total()
    return heights
