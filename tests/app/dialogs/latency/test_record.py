import random

from app.dialogs.latency.record import EDGES_S, Curve, LatencyRecord, histogram
from engine.events import Statistics


def test_a_curve_keeps_its_whole_length_in_few_points():
    curve = Curve(most=100)
    for number in range(10_000):
        curve.add(number, number)
    assert 50 <= len(curve.points) <= 101
    assert curve.points[0] == (0, 0)
    assert curve.points[-1][0] > 9_700
    gaps = {b[0] - a[0] for a, b in zip(curve.points, curve.points[1:], strict=False)}
    assert len(gaps) <= 3


def test_counters_become_curves():
    figures = {"forwards": 1, "probes": 0, "cached_rows": 1, "ms_per_word": 3}
    record = LatencyRecord()
    record.count(Statistics(tokens_fed=5, tokens_recomputed=1, **figures), 2)
    assert record.tokens_fed.points == [(2, 5)]
    assert record.tokens_recomputed.points == [(2, 1)]


def test_every_time_stands_in_one_bar():
    rng = random.Random(1)
    seconds = [rng.random() * 12 for _ in range(500)]
    counts = histogram(seconds)
    assert sum(counts) == 500
    assert counts[-1] == sum(one > EDGES_S[-1] for one in seconds)
    assert histogram([0.1, 0.10001]) == [1, 1, *[0] * (len(EDGES_S) - 1)]
