import random
from collections import Counter

from engine.metrics.latency import length_adaptive_average_lagging
from training.data.align_report import (
    LinkStatistics,
    ScheduleStatistics,
    is_monotone,
    share,
)

AHEAD = {(0, 0), (1, 1)}
BACK = {(0, 0), (2, 1)}


def counted(schedules):
    statistics = ScheduleStatistics()
    for needs, n_source in schedules:
        statistics.count(needs, n_source)
    return statistics


# --- links ----------------------------------------------------------------------------------------


def test_links_are_counted_in_shares():
    statistics = LinkStatistics()
    statistics.count((AHEAD, BACK), AHEAD | BACK, (4, 3))
    statistics.count((AHEAD, AHEAD), AHEAD, (2, 2))
    assert statistics.as_json() == {
        "links": 5,
        "links_in_both_directions": share(3, 5),
        "linked_source_words": share(5, 6),
        "linked_target_words": share(4, 5),
        "monotone_pairs": 1.0,
        "mean_agreement": share(4 / 3, 2),
        "agreement": {f"0.{tenth}": int(tenth == 3) for tenth in range(10)} | {"1.0": 1},
    }


def test_a_pair_is_monotone_when_no_two_links_cross():
    for seed in range(500):
        rng = random.Random(seed)
        links = {(rng.randrange(4), rng.randrange(4)) for _ in range(rng.randrange(5))}
        crossing = any(a[0] < b[0] and a[1] > b[1] for a in links for b in links)
        assert is_monotone(links) is not crossing


# --- schedules ------------------------------------------------------------------------------------


def test_the_words_before_the_first_write_are_counted():
    statistics = counted([((2, 3), 3), ((2, 2), 2), ((5,), 5)])
    assert statistics.first_reads == Counter({2: 2, 5: 1})
    assert statistics.as_json()["mean_first_read"] == 3


def test_runs_are_counted_by_their_words():
    statistics = counted([((1, 1, 3), 5), ((2,), 2)])
    assert statistics.read_runs == Counter({1: 1, 2: 3})
    assert statistics.write_runs == Counter({2: 1, 1: 2, 0: 1})
    assert statistics.as_json()["runs_per_pair"] == 2


def test_lagging_is_that_of_a_model_that_writes_all_it_may():
    statistics = counted([((1, 2, 4), 4)])
    assert statistics.mean_laal(1) == share(length_adaptive_average_lagging((1, 2, 4), 4, 3), 1)
    assert statistics.mean_laal(3) == share(length_adaptive_average_lagging((3, 3, 4), 4, 3), 1)
    assert statistics.mean_laal(5) == 4
