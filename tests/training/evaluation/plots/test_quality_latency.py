"""Test the picture by its artists, and by the file they become."""

import builtins
import warnings

import pytest
from matplotlib.colors import same_color
from matplotlib.image import imread
from matplotlib.text import Annotation, Text

from training.errors import CorpusError, TrainingError
from training.evaluation.plots.quality_latency import Curve, Point, draw, make_figure


def curve(name, waits, reads, offline):
    points = [Point(f"wait:{k}", *place) for k, place in waits.items()]
    points += [Point(f"read:{n}", *place) for n, place in reads.items()]
    return Curve(name, (*points, Point("offline", 9.8, offline)))


SLOTS = curve(
    "slots",
    {5: (4.6, 24.4), 1: (1.6, 18.2), 7: (5.7, 25.1), 3: (3.1, 22.9)},  # in any order
    {3: (2.9, 23.6), 5: (4.1, 24.6), 7: (5.2, 25.2), 9: (6.0, 25.4)},
    25.9,
)
AGAIN = curve(
    "retranslate",
    {1: (2.9, 20.9), 3: (4.2, 24.1), 5: (5.4, 25.0), 7: (6.3, 25.4)},
    {3: (4.4, 24.3), 5: (5.5, 25.2), 7: (6.4, 25.5), 9: (7.0, 25.7)},
    25.95,
)
LORA = curve(
    "slots-lora",
    {1: (1.5, 19.0), 3: (3.0, 23.7), 5: (4.5, 25.0), 7: (5.6, 25.6)},
    {3: (2.8, 24.2), 5: (4.05, 25.1), 7: (5.1, 25.7), 9: (5.9, 25.9)},
    27.5,
)


def lines_of(figure):
    """Split what is drawn: lines with marks, dashed lines."""
    lines = figure.axes[0].get_lines()
    return (
        [line for line in lines if line.get_marker() != "None"],
        [line for line in lines if line.get_marker() == "None"],
    )


def labels_of(figure):
    return [one for one in figure.axes[0].get_children() if isinstance(one, Annotation)]


def legend_of(figure):
    (legend,) = figure.legends
    return [text.get_text() for text in legend.get_texts()]


def test_lagging_is_in_seconds_only_where_every_point_has_them():
    timed = [Point("read:3", 2.4, 33.0, 1.9), Point("read:5", 3.6, 35.0, 2.5)]
    for points, found in ((timed, [1.9, 2.5]), ([*timed, Point("offline", 7.0, 37.0)], [2.4, 3.6])):
        figure = make_figure([Curve("slots", tuple(points))])
        (line,), _ = lines_of(figure)
        assert list(line.get_xdata()) == found
        assert ("seconds" in figure.axes[0].get_xlabel()) is (found == [1.9, 2.5])


def test_each_family_is_a_line_in_the_order_of_lagging():
    marked, _ = lines_of(make_figure([SLOTS]))
    assert [list(line.get_xdata()) for line in marked] == [
        [1.6, 3.1, 4.6, 5.7],
        [2.9, 4.1, 5.2, 6.0],
    ]
    assert list(marked[0].get_ydata()) == [18.2, 22.9, 24.4, 25.1]


def test_wait_k_is_filled_and_read_n_hollow_and_systems_differ_in_colour_and_mark():
    marked, _ = lines_of(make_figure([SLOTS, AGAIN]))
    fills = [same_color(line.get_markerfacecolor(), "white") for line in marked]
    assert fills == [False, True, False, True]
    looks = [(line.get_color(), line.get_marker()) for line in marked]
    assert looks[0] == looks[1]
    assert looks[2] == looks[3]
    assert looks[0][0] != looks[2][0]
    assert looks[0][1] != looks[2][1]


def test_offline_is_a_dashed_line_across_in_the_colour_of_its_system():
    marked, (dashed,) = lines_of(make_figure([SLOTS]))
    assert list(dashed.get_ydata()) == [25.9, 25.9]
    assert dashed.is_dashed()
    assert dashed.get_color() == marked[0].get_color()
    assert dashed.get_transform().transform([(0, 25.9), (1, 25.9)])[:, 0] == pytest.approx(
        figure_ends(dashed)
    )


def figure_ends(line):
    box = line.axes.get_window_extent()
    return [box.x0, box.x1]


def dashed_at(line):
    """List the stretches that a line paints, in its widths from its start, up to 300."""
    offset, (dash, gap) = line._unscaled_dash_pattern
    starts = (number * (dash + gap) - offset for number in range(-3, 60))
    return {width for start in starts for width in range(round(start), round(start + dash))}


def test_offline_lines_that_lie_close_dash_in_turn_and_others_do_not_care():
    _, (slots, again, lora) = lines_of(make_figure([SLOTS, AGAIN, LORA]))
    window = set(range(200))
    assert not dashed_at(slots) & dashed_at(again) & window
    assert (dashed_at(slots) | dashed_at(again)) >= window
    assert (
        lora._unscaled_dash_pattern == lines_of(make_figure([SLOTS]))[1][0]._unscaled_dash_pattern
    )


def test_the_legend_names_system_and_family():
    texts = legend_of(make_figure([SLOTS, AGAIN]))
    assert texts == [
        *("slots", "retranslate"),
        *("wait-k", "wait-k"),
        *("read-n", "read-n"),
        *("offline, 25.9 BLEU", "offline, 25.9 BLEU"),
    ]


@pytest.mark.parametrize("curves", [[SLOTS], [SLOTS, AGAIN], [SLOTS, AGAIN, LORA]], ids=len)
def test_each_label_is_within_the_mark_of_its_point_and_the_axes(curves):
    figure = make_figure(curves)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    area = axes.get_window_extent()
    marked, _ = lines_of(figure)
    radius = marked[0].get_markersize() * figure.dpi / 72 / 2
    for label in labels_of(figure):
        box = Text.get_window_extent(label)
        x, y = axes.transData.transform(label.xy)
        assert x - radius < box.x0 < x < box.x1 < x + radius
        assert y - radius < box.y0 < y < box.y1 < y + radius
        assert area.x0 <= box.x0 < box.x1 <= area.x1
        assert area.y0 <= box.y0 < box.y1 <= area.y1


def test_axes_have_names_and_units():
    axes = make_figure([SLOTS], title="a test set").axes[0]
    assert axes.get_xlabel() == "LAAL (source words)"
    assert axes.get_ylabel() == "BLEU"
    assert axes.get_title() == "a test set"
    assert make_figure([SLOTS]).axes[0].get_title() == ""


def test_policies_without_lagging_are_left_out():
    nothing = Point("read:3", None, 0.0)
    figure = make_figure([Curve("a", (nothing, Point("offline", None, 0.0), *SLOTS.points[:2]))])
    marked, dashed = lines_of(figure)
    assert [list(line.get_xdata()) for line in marked] == [[1.6, 4.6]]
    assert dashed == []


@pytest.mark.parametrize(
    "curves",
    [
        [],
        [Curve("silent", (Point("read:3", None, 0.0),))],
        [Curve("offline only", (Point("offline", 9.0, 20.0),))],
        [Curve("one point", (Point("wait:3", 3.0, 20.0),))],
        [Curve("a price of $5 to $6, 字, _", SLOTS.points), Curve("_hidden", AGAIN.points)],
        [Curve("another", (Point("agree:2", 3.0, 20.0), Point("greedy", 4.0, 21.0)))],
        [Curve(f"{'long' * 30} {number}", SLOTS.points[:2]) for number in range(9)],
    ],
    ids=["none", "silent", "offline", "point", "odd names", "other policies", "many"],
)
def test_whatever_there_is_to_draw_is_drawn_without_a_warning(tmp_path, curves):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(curves, tmp_path / "a.png", title="of $odd names, 字")
    assert imread(tmp_path / "a.png").shape[1] == 800


@pytest.mark.slow
def test_the_file_is_small_and_the_same_curves_give_the_same_bytes(tmp_path):
    for name in ("a.png", "b.png"):
        draw([SLOTS, AGAIN, LORA], tmp_path / "deep" / name)
    first, second = ((tmp_path / "deep" / name).read_bytes() for name in ("a.png", "b.png"))
    assert first == second
    assert len(first) < 100_000
    height, width, _ = imread(tmp_path / "deep" / "a.png").shape
    assert width == 800
    assert 480 < height < 640


def test_a_place_that_cannot_be_written_is_one_sentence(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(CorpusError, match="expected to write"):
        draw([SLOTS], tmp_path / "file" / "a.png")


def test_without_matplotlib_the_extra_is_named(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **more):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **more)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TrainingError, match=r"pip install 'surtitle\[evaluate\]'"):
        draw([SLOTS], tmp_path / "a.png")
