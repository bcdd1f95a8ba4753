"""The planner forgets old phases; tests/contract has what cache and translator make of it."""

import random

import pytest

from tests.support.rows import new_planner, play


def test_what_is_planned_after_an_eviction_has_only_moved():
    evicted = 0
    for seed in range(100):
        plan, twin = new_planner(random.Random(seed)), new_planner(random.Random(seed))
        one, other = random.Random(seed + 1), random.Random(seed + 1)
        for _ in zip(play(plan, one, 6), play(twin, other, 6), strict=True):
            pass
        gone = plan.evict()
        if gone is None:
            continue
        evicted += 1
        n_rows = gone.stop - gone.start
        for rows, expected in zip(play(plan, one, 4), play(twin, other, 4), strict=True):
            assert rows == [row._replace(position=row.position - gone.distance) for row in expected]
        assert plan.n_words == twin.n_words
        assert plan.n_fed == twin.n_fed - n_rows
        word = plan.n_words - 1
        assert plan.rewind(word) == twin.rewind(word) - n_rows
        assert [row.id for row in plan.rows[gone.start :]] == [
            row.id for row in twin.rows[gone.stop :]
        ]
    assert evicted > 50


def test_the_system_prompt_and_the_open_phase_always_stay():
    for seed in range(50):
        rng = random.Random(seed)
        plan = new_planner(rng)
        for _ in play(plan, rng, 8):
            pass
        system = [row for row in plan.rows if 900 <= row.id < 910]
        while plan.evict() is not None:
            pass
        assert [row for row in plan.rows if 900 <= row.id < 910] == system
        assert sum(row.id == 910 for row in plan.rows) == 1
        positions = [row.position for row in plan.rows]
        assert len(set(positions)) == len(positions)


def test_a_word_that_was_evicted_cannot_be_rewound_to():
    rng = random.Random(0)
    plan = new_planner(rng)
    for _ in play(plan, rng, 8):
        pass
    assert plan.evict() is not None
    assert plan.n_evicted_words > 0
    with pytest.raises(ValueError, match="evicted"):
        plan.rewind(0)
