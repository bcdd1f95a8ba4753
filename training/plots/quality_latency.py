"""Draw quality over lagging: one line for each family of policies of a system, offline dashed.

A system has a colour (Okabe and Ito's and a grey, which most people can tell apart) and a marker;
wait-k is filled, read-n is hollow, so a grey print can be read too. The number in a mark is k or n.
matplotlib is used without its global state: no window, backend or style of the caller is touched.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING

from training.data.corpus import replacing
from training.errors import TrainingError
from training.plots.legend import INK, add_legend, any_script

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

_DPI = 100
_WIDTH, _HEIGHT, _ROW = 8.0, 5.0, 0.22  # inches: the picture without legend, a row of the legend
_COLOURS = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000", "#8C8C8C",
)  # fmt: skip
_MARKERS = ("o", "s", "D", "h", "p", "8", "^", "v")  # all of them wide enough for a number
_MARK = 13.0  # points, 72 to an inch: the diameter of a mark
_NUMBER, _LONG_NUMBER = 7.5, 5.5  # points: letters in a mark, those of three letters or more
_SPINE, _GRID = "#BBBBBB", "#E6E6E6"
_FAMILIES = {"wait": "wait-k", "read": "read-n"}
_OFFLINE = "offline"
_DASH, _GAP = 7.0, 3.5  # of an offline line, in its widths
_NEAR = 0.03  # of the range of BLEU: offline lines nearer than this take turns


@dataclass(frozen=True, slots=True)
class Point:
    """How good and how late a policy was.

    Attributes:
        policy: as it is written, for example ``read:3``.
        laal: in source words; None leaves the point out.
        bleu: from 0 to 100.
    """

    policy: str
    laal: float | None
    bleu: float


@dataclass(frozen=True, slots=True)
class Curve:
    """A system and its points."""

    name: str
    points: tuple[Point, ...]

    def families(self) -> dict[str, list[tuple[str, float, float]]]:
        """Sort what is not offline: for each family policy, LAAL and BLEU, by rising LAAL."""
        found: dict[str, list[tuple[str, float, float]]] = {family: [] for family in _FAMILIES}
        for point in self.points:
            if point.policy != _OFFLINE and point.laal is not None:
                family = point.policy.split(":")[0]
                found.setdefault(family, []).append((point.policy, point.laal, point.bleu))
        return {name: sorted(points, key=itemgetter(1)) for name, points in found.items() if points}

    def offline(self) -> float | None:
        """Find the BLEU of the offline policy."""
        for point in self.points:
            if point.policy == _OFFLINE and point.laal is not None:
                return point.bleu
        return None


def draw(curves: Sequence[Curve], path: Path, *, title: str = "") -> None:
    """Write the picture as a PNG, 800 pixels wide; the same curves give the same bytes.

    Args:
        curves: the systems, in the order of their colours.
        path: the file.
        title: above the picture; none where it is empty.

    Raises:
        CorpusError: the file cannot be written.
        TrainingError: matplotlib is not installed.
    """
    figure = make_figure(curves, title=title)
    with replacing(path) as partial, any_script():
        figure.savefig(
            partial,
            format="png",
            dpi=_DPI,
            metadata={"Software": None},
            pil_kwargs={"optimize": True},
        )


def make_figure(curves: Sequence[Curve], *, title: str = "") -> "Figure":
    """Lay the picture out; arguments as for ``draw``.

    Raises:
        TrainingError: matplotlib is not installed.
    """
    try:
        from matplotlib.backends.backend_agg import FigureCanvasAgg  # noqa: PLC0415  an extra
        from matplotlib.figure import Figure  # noqa: PLC0415
        from matplotlib.layout_engine import ConstrainedLayoutEngine  # noqa: PLC0415
    except ImportError as error:
        msg = "a picture needs matplotlib: install it with pip install 'surtitle[evaluate]'"
        raise TrainingError(msg) from error
    layout = ConstrainedLayoutEngine(w_pad=0.12, h_pad=0.1)
    figure = Figure((_WIDTH, _HEIGHT + _ROW * len(curves)), dpi=_DPI, layout=layout)
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    _dress(axes, title)
    turns = _turns(curves)
    samples = list[dict[str, "Line2D"]]()
    for index, curve in enumerate(curves):
        look = _Look(index)
        samples.append(_draw_families(axes, curve, look))
        if index in turns:
            samples[-1][_OFFLINE] = _draw_offline(axes, curve, look, turns[index])
    if not any(curve.families() for curve in curves):  # nothing has a place along the axis
        axes.set_xticks([])
    add_legend(figure, [curve.name for curve in curves], samples)
    return figure


@dataclass(frozen=True, slots=True)
class _Look:
    """How a system looks, by its number."""

    index: int

    @property
    def colour(self) -> str:
        return _COLOURS[self.index % len(_COLOURS)]

    @property
    def marker(self) -> str:
        return _MARKERS[self.index % len(_MARKERS)]


def _turns(curves: Sequence[Curve]) -> dict[int, tuple[int, int]]:
    """Let offline lines that lie close take turns, so that none hides another.

    Returns:
        for each system with such a line, its turn and of how many.
    """
    values = [point.bleu for curve in curves for point in curve.points]
    near = _NEAR * (max(values, default=0) - min(values, default=0))
    found = [(curve.offline(), index) for index, curve in enumerate(curves)]
    crowds, last = list[list[int]](), -math.inf
    for bleu, index in sorted((bleu, index) for bleu, index in found if bleu is not None):
        if bleu - last > near:
            crowds.append([])
        crowds[-1].append(index)
        last = bleu
    return {index: (turn, len(crowd)) for crowd in crowds for turn, index in enumerate(crowd)}


def _draw_families(axes: "Axes", curve: Curve, look: _Look) -> "dict[str, Line2D]":
    """Draw a line for each family, with the k or n of each point in its mark."""
    drawn = dict[str, "Line2D"]()
    for family, points in curve.families().items():
        fill, ink = ("white", look.colour) if family == "read" else (look.colour, "white")
        (drawn[family],) = axes.plot(
            [laal for _, laal, _ in points],
            [bleu for _, _, bleu in points],
            color=look.colour,
            linewidth=1.6,
            marker=look.marker,
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


def _draw_offline(axes: "Axes", curve: Curve, look: _Look, turn: tuple[int, int]) -> "Line2D":
    """Draw a line that dashes where the others of its crowd pause; return a sample of it."""
    from matplotlib.lines import Line2D  # noqa: PLC0415  an extra

    bleu = curve.offline() or 0
    number, n_lines = turn
    gap = _GAP if n_lines == 1 else (n_lines - 1) * _DASH
    dashes = (_DASH + gap - number * _DASH, (_DASH, gap))
    line = axes.axhline(bleu, color=look.colour, linewidth=1.4, linestyle=dashes, zorder=2)
    sample = Line2D([], [], label=f"offline, {bleu:.1f} BLEU")
    sample.set(color=line.get_color(), linewidth=line.get_linewidth(), linestyle=(0, (5, 2.5)))
    return sample


def _dress(axes: "Axes", title: str) -> None:
    axes.set_xlabel("LAAL (source words)", color=INK, fontsize=10)
    axes.set_ylabel("BLEU", color=INK, fontsize=10)
    if title:
        axes.set_title(title, color=INK, fontsize=11, parse_math=False)
    axes.margins(x=0.07, y=0.1)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.tick_params(colors=INK, labelsize=9, length=0)
    for side, spine in axes.spines.items():
        spine.set_visible(side in {"left", "bottom"})
        spine.set_color(_SPINE)
