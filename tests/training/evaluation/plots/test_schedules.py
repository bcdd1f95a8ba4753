"""Test the picture by its artists, and by the file they become."""

import builtins

import numpy as np
import pytest
from matplotlib.image import imread

from training.data.schedule_statistics import BINS, ScheduleStatistics
from training.errors import CorpusError, TrainingError
from training.evaluation.plots.schedules import draw, make_figure


@pytest.fixture
def statistics():
    counts = ScheduleStatistics()
    for needs, n_source in (((1, 1, 3), 5), ((2,), 2), (tuple(range(1, 13)), 30)):
        counts.count(needs, n_source)
    return counts


def bars_of(figure):
    """Heights of the bars by their names, in the order of their places."""
    return {
        bars.get_label(): [bar.get_height() for bar in bars] for bars in figure.axes[1].containers
    }


def test_every_column_shows_how_one_part_of_the_target_is_spread_over_the_source(statistics):
    (image,) = make_figure(statistics).axes[0].images
    cells = np.asarray(image.get_array())
    assert cells.shape == (BINS, BINS)
    assert cells.sum(axis=0) == pytest.approx(np.ones(BINS))
    assert cells == pytest.approx(statistics.grid.T * BINS / 3)
    assert image.origin == "lower"
    assert (image.norm.vmin, image.norm.vmax) == (0, cells.max())


def test_a_full_line_is_the_mean_and_a_dashed_one_in_step():
    in_step = ScheduleStatistics()
    in_step.count(tuple(range(1, BINS + 1)), BINS)
    lines = {line.get_label(): line for line in make_figure(in_step).axes[0].get_lines()}
    assert lines["mean"].get_ydata() == pytest.approx(lines["mean"].get_xdata())
    assert lines["in step"].get_xydata().tolist() == [[0, 0], [1, 1]]
    assert lines["in step"].is_dashed()
    assert not lines["mean"].is_dashed()


def test_bars_are_the_shares_of_runs_and_long_runs_share_the_last(statistics):
    bars = bars_of(make_figure(statistics))
    n_runs = statistics.read_runs.total()
    assert statistics.read_runs[18] == 1
    assert bars["read"] == pytest.approx(
        [0, 12 / n_runs + 1 / n_runs, 3 / n_runs, *[0] * 7, 1 / n_runs]
    )
    assert bars["written"][0] == pytest.approx(2 / n_runs)
    assert sum(bars["read"]) == sum(bars["written"]) == pytest.approx(1)


def test_the_same_statistics_give_the_same_small_file(statistics, tmp_path):
    for name in ("one.png", "two.png"):
        draw(statistics, tmp_path / name)
    content = (tmp_path / "one.png").read_bytes()
    assert content == (tmp_path / "two.png").read_bytes()
    assert len(content) < 2**20
    assert imread(tmp_path / "one.png").shape[1] == 900


def test_without_matplotlib_one_sentence_says_what_to_install(statistics, tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *arguments, **keywords):
        if name.startswith("matplotlib"):
            raise ImportError(name)
        return real(name, *arguments, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(TrainingError, match=r"pip install 'surtitle\[evaluate\]'"):
        draw(statistics, tmp_path / "picture.png")
    assert list(tmp_path.iterdir()) == []


def test_without_schedules_there_is_nothing_to_draw(tmp_path):
    with pytest.raises(TrainingError, match="no pair has one"):
        draw(ScheduleStatistics(), tmp_path / "picture.png")


def test_a_place_that_cannot_be_written_is_told(statistics, tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(CorpusError, match="choose another place"):
        draw(statistics, tmp_path / "file" / "picture.png")
