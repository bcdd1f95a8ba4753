"""Draw box plots side by side, lying down so that their names can be read."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from training.evaluation.plots.figures import INK

_WIDTH, _ROW, _EDGES = 8.0, 0.32, 0.8
_FILL, _LINE = "#CFE3F1", "#0072B2"


def draw_boxes(boxes: Mapping[str, Sequence[float]], path: Path, label: str) -> None:
    """Write a PNG: quartiles as boxes, whiskers from the 5th to the 95th percentile.

    Args:
        boxes: values by their name, in order from the top.
        path: the file.
        label: what the values are, with the unit.
    """
    figure = Figure((_WIDTH, _EDGES + _ROW * len(boxes)), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    axes.boxplot(
        list(boxes.values()),
        orientation="horizontal",
        tick_labels=list(boxes),
        whis=(5, 95),
        showfliers=False,
        patch_artist=True,
        boxprops={"facecolor": _FILL, "edgecolor": _LINE},
        medianprops={"color": INK, "linewidth": 1.6},
        whiskerprops={"color": _LINE},
        capprops={"color": _LINE},
    )
    axes.invert_yaxis()
    axes.set_xlim(left=0)
    axes.set_xlabel(label, color=INK)
    axes.tick_params(colors=INK, labelsize=9, length=0)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    figure.savefig(path, format="png", metadata={"Software": None})
