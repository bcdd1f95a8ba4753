import random

import pytest

from training.data.alignment import (
    Run,
    needed_words,
    ratio_needs,
    read_n_delays,
    read_write_runs,
)


def random_case(rng):
    n_source, n_target = rng.randint(1, 9), rng.randint(1, 9)
    links = [
        (rng.randrange(n_source), rng.randrange(n_target)) for _ in range(rng.randrange(n_target))
    ]
    return links, n_source, n_target


def random_cases(n_cases):
    for seed in range(n_cases):
        yield random_case(random.Random(seed))


# --- needed words ---------------------------------------------------------------------------------


def test_a_word_needs_its_largest_aligned_source_word_and_needs_never_fall():
    assert needed_words([(0, 0), (4, 0), (1, 1), (5, 2)], 7, 3) == (5, 5, 6)


def test_the_needs_of_linked_words_are_the_running_maximum_of_the_links():
    checked = 0
    for links, n_source, n_target in random_cases(500):
        needs = needed_words(links, n_source, n_target)
        for target in {target for _, target in links}:
            own = max(source + 1 for source, other in links if other == target)
            before = needs[target - 1] if target else 0
            assert needs[target] == max(own, before)
            checked += 1
    assert checked > 500


def test_a_word_without_a_link_needs_what_the_next_linked_word_needs():
    assert needed_words([(2, 0), (4, 3)], 6, 4) == (3, 5, 5, 5)
    assert needed_words([(3, 1)], 6, 2) == (4, 4)
    for links, n_source, n_target in random_cases(500):
        needs = needed_words(links, n_source, n_target)
        linked = {target for _, target in links}
        for target in set(range(n_target - 1)) - linked:
            assert needs[target] == needs[target + 1]


def test_words_behind_the_last_link_need_the_whole_source():
    assert needed_words([(2, 0)], 6, 3) == (3, 6, 6)
    assert needed_words([], 6, 2) == (6, 6)
    assert needed_words([], 6, 0) == ()


def test_needs_lie_in_the_source_and_never_fall():
    for links, n_source, n_target in random_cases(500):
        needs = needed_words(links, n_source, n_target)
        assert len(needs) == n_target
        assert list(needs) == sorted(needs)
        assert needs[0] >= 1
        assert needs[-1] <= n_source


# --- without an aligner ---------------------------------------------------------------------------


def test_without_an_aligner_the_target_is_spread_over_the_source():
    assert ratio_needs(4, 4) == (1, 2, 3, 4)
    assert ratio_needs(6, 3) == (2, 4, 6)
    assert ratio_needs(2, 4) == (1, 1, 2, 2)
    for n_source in range(1, 9):
        for n_target in range(1, 9):
            needs = ratio_needs(n_source, n_target)
            assert len(needs) == n_target
            assert list(needs) == sorted(needs)
            assert needs[0] >= 1
            assert needs[-1] == n_source


# --- runs -----------------------------------------------------------------------------------------


def test_a_schedule_is_cut_into_its_minimal_runs():
    assert read_write_runs((2, 2, 3, 6), 6) == (Run(2, 2), Run(1, 1), Run(3, 1))


def test_source_words_that_no_target_word_needs_are_read_last_and_nothing_is_written():
    assert read_write_runs((1, 3), 5) == (Run(1, 1), Run(2, 1), Run(2, 0))


def test_playing_the_runs_gives_the_schedule_again():
    """No run could be shorter: each target word is written when it may be, not a word later."""
    for links, n_source, n_target in random_cases(500):
        needs = needed_words(links, n_source, n_target)
        played, n_read = [], 0
        for run in read_write_runs(needs, n_source):
            n_read += run.n_read
            played += [n_read] * run.n_written
        assert tuple(played) == needs


@pytest.mark.parametrize(
    ("n", "delays"), [(1, (1, 2, 4, 7)), (3, (3, 3, 6, 7)), (5, (5, 5, 5, 7)), (9, (7, 7, 7, 7))]
)
def test_reading_n_at_a_time_delays_a_word_to_the_end_of_its_chunk(n, delays):
    assert read_n_delays((1, 2, 4, 7), n, 7) == delays
