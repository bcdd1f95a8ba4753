import random

from app.dialogs.latency.collector import EDGES_S, histogram


def test_every_time_stands_in_one_bar():
    rng = random.Random(1)
    seconds = [rng.random() * 12 for _ in range(500)]
    counts = histogram(seconds)
    assert sum(counts) == 500
    assert counts[-1] == sum(one > EDGES_S[-1] for one in seconds)
    assert histogram([0.1, 0.10001]) == [1, 1, *[0] * (len(EDGES_S) - 1)]
