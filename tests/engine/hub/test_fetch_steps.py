import random

from engine.hub.fetch_steps import in_steps


def test_a_million_pieces_are_told_in_order_at_most_as_often_as_a_bar_moves():
    rng = random.Random(4)
    told = []
    progress = in_steps(lambda done, total: told.append((done, total)))
    pieces = sorted(rng.randrange(10**9) for _ in range(50_000))
    for done in [0, *pieces, 10**9]:
        progress(done, 10**9)
    assert told[0] == (0, 10**9)
    assert told[-1] == (10**9, 10**9)
    assert told == sorted(told)
    assert 400 <= len(told) <= 501


def test_a_whole_of_unknown_length_is_told():
    told = []
    in_steps(lambda done, total: told.append((done, total)))(0, 0)
    assert told == [(0, 0)]
