import random

import pytest

from engine.session.catch_up import MOST, CatchUp


@pytest.mark.parametrize(
    ("backlog", "factor"), [(0, 1), (10, 1), (11, 2), (20, 2), (21, 4), (40, 4), (41, 8), (999, 8)]
)
def test_the_more_words_wait_the_larger_the_steps(backlog, factor):
    pace = CatchUp()
    assert pace.update(backlog, 10) == (factor > 1)
    assert pace.factor == factor


def test_steps_stay_large_until_nothing_waits():
    rng = random.Random(0)
    for _ in range(200):
        pace, limit = CatchUp(), rng.randint(1, 20)
        for _ in range(20):
            before, backlog = pace.factor, rng.choice([0, rng.randrange(200)])
            changed = pace.update(backlog, limit)
            assert changed == (pace.factor != before)
            if backlog == 0:
                assert pace.factor == 1
            else:
                assert pace.factor >= before
                assert pace.factor == MOST or backlog <= limit * pace.factor


def test_where_no_limit_is_set_steps_are_as_the_policy_says():
    pace = CatchUp()
    assert not pace.update(10_000, None)
    assert pace.factor == 1
