import random

from training.data.alignment import needed_words, ratio_needs


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
