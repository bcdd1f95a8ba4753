import itertools
import random

import pytest

from engine.speech import speed
from engine.speech.speed import CLASS_GFLOPS, computer_gflops, matrix_gflops, physical_cores


def ticking(seconds):
    """A clock of which a batch of products takes these seconds in turn."""
    now_s = 0.0

    def clock():
        nonlocal now_s
        now_s += next(seconds)
        return now_s

    return clock


def test_measures_lie_apart_and_count_where_two_of_them_had_a_free_processor():
    pauses = []
    # each measure reads the clock twice: as it begins, and after its products
    took = itertools.chain(*((0.0, s) for s in (0.3, 9.0, 0.2, 9.0, 0.1, 0.06, 0.2)))
    found = matrix_gflops(ticking(took), pauses.append)
    assert found == pytest.approx(speed._LARGER * 2e-9 * 64**3 * 50 / 0.1)
    assert len(pauses) == 6


def test_who_waits_for_no_more_measures_gets_the_first():
    pauses = []
    matrix_gflops(ticking(itertools.repeat(0.1)), lambda seconds: pauses.append(seconds) or True)
    assert len(pauses) == 1


def test_no_computer_is_thought_slower_than_its_class():
    rng = random.Random(0)
    for _ in range(100):
        measured, cores = rng.uniform(0.1, 100), rng.randint(1, 4)
        for kind, least in CLASS_GFLOPS.items():
            found = computer_gflops(measure=lambda _pause, m=measured: m, kind=kind, n_cores=cores)
            assert found == pytest.approx(max(measured, least) * cores)


def test_no_more_cores_count_than_a_model_takes():
    assert computer_gflops(measure=lambda _pause: 50.0, kind="avx2", n_cores=64) == 200.0


def test_two_threads_of_a_core_are_one_core(tmp_path, monkeypatch):
    monkeypatch.setattr(speed.os, "sched_getaffinity", lambda _pid: {0, 1, 2, 3}, raising=False)
    assert physical_cores(tmp_path) == 2, "of four threads, where nothing is known"
    for number, siblings in enumerate(("0,2", "1,3", "0,2", "1,3")):
        (tmp_path / f"cpu{number}/topology").mkdir(parents=True)
        (tmp_path / f"cpu{number}/topology/thread_siblings_list").write_text(siblings)
    assert physical_cores(tmp_path) == 2
