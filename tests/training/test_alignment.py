import random
import sys

import pytest

from training.alignment import (
    agreement,
    align,
    aligner_form,
    needed_words,
    parse_links,
    ratio_needs,
    symmetrise,
)
from training.corpus import SentencePair
from training.errors import AlignerMissingError


def drawn(picture, marks):
    """Links from a drawing: a line per source word, a column per target word."""
    lines = [line.split() for line in picture.strip().splitlines()]
    return {
        (source, target)
        for source, line in enumerate(lines)
        for target, mark in enumerate(line)
        if mark in marks
    }


def random_links(rng, n_source=8, n_target=8):
    return {(rng.randrange(n_source), rng.randrange(n_target)) for _ in range(rng.randrange(12))}


def test_grow_diag_final_and_joins_the_directions_of_a_hand_worked_example():
    """b: both, f: forward only, r: reverse only; the second drawing has what is kept.

    (2,1) and (1,2) grow from (1,1), then both words of (2,2) are taken. (4,0) is nobody's
    neighbour and its target is taken. Both words of (5,5) are free at the end.
    """
    picture = """
        b . . . . .
        . b r . . .
        . f r . . .
        . . . b . .
        f . . . . .
        . . . . . r
    """
    forward, reverse = drawn(picture, "bf"), drawn(picture, "br")
    assert symmetrise(forward, reverse) == drawn(
        """
        x . . . . .
        . x x . . .
        . x . . . .
        . . . x . .
        . . . . . .
        . . . . . x
        """,
        "x",
    )


def test_growing_goes_on_from_what_has_grown():
    forward, reverse = {(0, 0), (1, 1), (2, 2)}, {(0, 0)}
    assert symmetrise(forward, reverse) == {(0, 0), (1, 1), (2, 2)}


def test_final_and_takes_only_links_between_words_that_are_both_free():
    assert symmetrise({(0, 0), (5, 5)}, {(0, 0), (5, 7)}) == {(0, 0), (5, 5)}


def test_joined_links_lie_between_what_both_say_and_what_either_says():
    rng = random.Random(0)
    for _ in range(300):
        forward, reverse = random_links(rng), random_links(rng)
        before = set(forward), set(reverse)
        joined = symmetrise(forward, reverse)
        assert forward & reverse <= joined <= forward | reverse
        assert (forward, reverse) == before
        assert symmetrise(forward, forward) == forward


def test_no_word_of_a_link_that_was_left_out_is_free():
    rng = random.Random(0)
    for _ in range(300):
        forward, reverse = random_links(rng), random_links(rng)
        joined = symmetrise(forward, reverse)
        sources, targets = {s for s, _ in joined}, {t for _, t in joined}
        assert all(s in sources or t in targets for s, t in (forward | reverse) - joined)


def test_agreement_is_links_in_both_over_links_in_either():
    assert agreement({(0, 0)}, {(0, 0)}) == 1
    assert agreement({(0, 0)}, {(1, 1)}) == 0
    assert agreement({(0, 0), (1, 1)}, {(1, 1), (2, 2)}) == 1 / 3
    assert agreement(set(), set()) == 0


def test_links_are_read_in_pharaohs_form():
    assert parse_links("0-0 1-2 10-11\n") == {(0, 0), (1, 2), (10, 11)}
    assert parse_links("\n") == set()


# --- needed words ---------------------------------------------------------------------------------


def test_the_first_word_needs_its_largest_aligned_source_not_its_smallest():
    assert needed_words([(0, 0), (4, 0)], 1) == (5,)
    assert needed_words([(4, 0), (0, 0)], 1) == (5,)


def test_a_word_without_a_link_needs_what_the_word_before_it_needs():
    assert needed_words([(2, 0), (4, 3)], 5) == (3, 3, 3, 5, 5)


def test_a_first_word_without_a_link_needs_one_source_word():
    assert needed_words([(3, 1)], 2) == (1, 4)
    assert needed_words([], 3) == (1, 1, 1)
    assert needed_words([], 0) == ()


def test_needs_never_fall():
    assert needed_words([(4, 0), (0, 1)], 2) == (5, 5)


def test_needs_are_the_running_maximum_of_the_links():
    rng = random.Random(0)
    for _ in range(300):
        links, n_target = random_links(rng), rng.randint(8, 10)
        needs = needed_words(links, n_target)
        assert list(needs) == [
            max([1, *(s + 1 for s, t in links if t <= target)]) for target in range(n_target)
        ]


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


# --- the aligner ----------------------------------------------------------------------------------


def test_the_aligner_reads_as_many_words_as_the_policies_count():
    rng = random.Random(0)
    for _ in range(200):
        text = " ".join(
            "".join(rng.choice('aB.,!?"„“()-é漢') for _ in range(rng.randint(1, 9)))
            for _ in range(5)
        )
        assert len(aligner_form(text).split()) == len(text.split()) == 5


def test_the_aligner_reads_words_without_case_and_punctuation():
    assert aligner_form("„Hallo,  Welt!“ – Freundschaften") == "hallo welt – freund"


def test_without_an_aligner_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "eflomal", None)
    with pytest.raises(AlignerMissingError, match=r"pip install 'surtitle\[align\]'"):
        list(align([SentencePair("a", "b", "c")]))


def test_words_that_go_together_are_linked():
    pytest.importorskip("eflomal")
    words = {
        "red": "rot",
        "green": "grün",
        "blue": "blau",
        "one": "eins",
        "two": "zwei",
        "six": "sechs",
    }
    rng = random.Random(0)
    pairs = []
    for _ in range(120):
        source = rng.sample(sorted(words), 3)
        pairs.append(SentencePair(" ".join(source), " ".join(map(words.get, source)), "test"))
    links = list(align(pairs))
    assert len(links) == len(pairs)
    diagonal = {(0, 0), (1, 1), (2, 2)}
    right = sum(forward == reverse == diagonal for forward, reverse in links)
    assert right > 100
