"""Draw quality over lagging: one line for each family of policies of a system, offline dashed.

Lagging is in seconds where all points have them, else in words. A system has a colour (Okabe and
Ito's and a grey, which most people can tell apart) and a marker; wait-k is filled, read-n is
hollow, so a grey print can be read too. The number in a mark is k or n.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from training.evaluation.plots.figures import add_legend, dress, new_figure, save

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_WIDTH, _HEIGHT, _ROW = 8.0, 5.0, 0.22  # inches: the figure without legend, a row of the legend
_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C8C8C",
)  # fmt: skip
_MARKERS = ("o", "s", "D", "h", "p", "8", "^", "v")  # all of them wide enough for a number
_MARK = 13.0  # points, 72 to an inch: the diameter of a mark
_NUMBER, _LONG_NUMBER = 7.5, 5.5  # points: letters in a mark, those of three letters or more
_GRID = "#E6E6E6"
_FAMILIES = {"wait": "wait-k", "read": "read-n", "adaptive": "adaptive"}
_OFFLINE = "offline"
_DASH, _GAP = 7.0, 3.5  # of an offline line, in its widths
_NEAR = 0.03  # of the range of BLEU: offline lines nearer than this are dashed in turns


@dataclass(frozen=True, slots=True)
class Point:
    """Quality and lagging of a policy.

    Attributes:
        policy: for example ``read:3``.
        laal: in source words; None leaves the point out.
        bleu: from 0 to 100.
        lag_s: seconds from a word to its caption; None where words have no times.
    """

    policy: str
    laal: float | None
    bleu: float
    lag_s: float | None = None


@dataclass(frozen=True, slots=True)
class Curve:
    """A system and its points."""

    name: str
    points: tuple[Point, ...]

    def families(self) -> dict[str, list[tuple[str, float, float]]]:
        """Return policy, LAAL and BLEU by family, offline left out, sorted by LAAL."""
        families: dict[str, list[tuple[str, float, float]]] = {name: [] for name in _FAMILIES}
        for point in self.points:
            if point.policy != _OFFLINE and point.laal is not None:
                family = point.policy.split(":")[0]
                families.setdefault(family, []).append((point.policy, point.laal, point.bleu))
        return {
            name: sorted(points, key=itemgetter(1)) for name, points in families.items() if points
        }

    def offline(self) -> float | None:
        """Return the BLEU of the offline policy, if it has a LAAL."""
        for point in self.points:
            if point.policy == _OFFLINE and point.laal is not None:
                return point.bleu
        return None


def draw(curves: Sequence[Curve], path: Path, *, title: str = "") -> None:
    """Write the figure as a PNG, 800 pixels wide; equal curves give equal bytes.

    Args:
        curves: the systems, in the order of their colours.
        path: the file.
        title: above the figure.

    Raises:
        CorpusError: the file cannot be written.
        TrainingError: matplotlib is not installed.
    """
    save(make_figure(curves, title=title), path)


def make_figure(curves: Sequence[Curve], *, title: str = "") -> "Figure":
    """Lay the figure out; arguments as for ``draw``."""
    figure = new_figure(_WIDTH, _HEIGHT + _ROW * len(curves))
    axes = figure.add_subplot()
    if all(point.lag_s is not None for curve in curves for point in curve.points):
        curves = [
            Curve(curve.name, tuple(replace(point, laal=point.lag_s) for point in curve.points))
            for curve in curves
        ]
        dress(axes, "seconds from a word to its caption, median", "BLEU", title)
    else:
        dress(axes, "LAAL (source words)", "BLEU", title)
    axes.margins(x=0.07, y=0.1)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    turns = _turns(curves)
    samples = list[dict[str, "Line2D"]]()
    for index, curve in enumerate(curves):
        look = (_COLOURS[index % len(_COLOURS)], _MARKERS[index % len(_MARKERS)])
        samples.append(_draw_families(axes, curve, look))
        if index in turns:
            samples[-1][_OFFLINE] = _draw_offline(axes, curve, look[0], turns[index])
    if not any(curve.families() for curve in curves):  # no point on the axis
        axes.set_xticks([])
    add_legend(figure, [curve.name for curve in curves], samples)
    return figure


def _turns(curves: Sequence[Curve]) -> dict[int, tuple[int, int]]:
    """Group offline lines that are close together; they are dashed in turns, so that all show.

    Returns:
        for each system with an offline line, its turn and the number of lines in its group.
    """
    values = [point.bleu for curve in curves for point in curve.points]
    near = _NEAR * (max(values, default=0) - min(values, default=0))
    lines = [(curve.offline(), index) for index, curve in enumerate(curves)]
    groups, last = list[list[int]](), -math.inf
    for bleu, index in sorted((bleu, index) for bleu, index in lines if bleu is not None):
        if bleu - last > near:
            groups.append([])
        groups[-1].append(index)
        last = bleu
    return {index: (turn, len(group)) for group in groups for turn, index in enumerate(group)}


def _draw_families(axes: "Axes", curve: Curve, look: tuple[str, str]) -> "dict[str, Line2D]":
    """Draw a line for each family, with the k or n of each point in its mark."""
    colour, marker = look
    drawn = dict[str, "Line2D"]()
    for family, points in curve.families().items():
        fill, ink = ("white", colour) if family == "read" else (colour, "white")
        (drawn[family],) = axes.plot(
            [laal for _, laal, _ in points],
            [bleu for _, _, bleu in points],
            color=colour,
            linewidth=1.6,
            marker=marker,
            markersize=_MARK,
            markerfacecolor=fill,
            markeredgewidth=1.2,
            label=_FAMILIES.get(family, family),
            zorder=3,
        )
        for policy, laal, bleu in points:
            number = policy.partition(":")[2] or policy
            axes.annotate(
                number,
                (laal, bleu),
                ha="center",
                va="center_baseline",
                fontsize=_NUMBER if len(number) < 3 else _LONG_NUMBER,
                fontweight="bold",
                color=ink,
                zorder=4,  # lines of other systems may cross the mark, not the number
                parse_math=False,
            )
    return drawn


def _draw_offline(axes: "Axes", curve: Curve, colour: str, turn: tuple[int, int]) -> "Line2D":
    """Draw a line whose dashes fill the gaps of its group; return a sample of it."""
    from matplotlib.lines import Line2D  # noqa: PLC0415  an extra

    bleu = curve.offline() or 0
    number, n_lines = turn
    gap = _GAP if n_lines == 1 else (n_lines - 1) * _DASH
    dashes = (_DASH + gap - number * _DASH, (_DASH, gap))
    line = axes.axhline(bleu, color=colour, linewidth=1.4, linestyle=dashes, zorder=2)
    sample = Line2D([], [], label=f"offline, {bleu:.1f} BLEU")
    sample.set(color=line.get_color(), linewidth=line.get_linewidth(), linestyle=(0, (5, 2.5)))
    return sample
