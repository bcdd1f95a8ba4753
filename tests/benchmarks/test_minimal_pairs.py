import re

import pytest

from benchmarks.minimal_pairs.__main__ import (
    FLIP,
    KEPT,
    UNCLEAR,
    Pair,
    Result,
    judge,
    marked_share,
    read_pairs,
    table,
)

GREW = Pair("up or down", ("It grew.", "It fell."), ("wuchs|gestiegen", "fiel|gesunken"))
NOT = Pair("negation", ("I know.", "I do not know."), ("!", "nicht|kein"))
WHO = Pair("who and whom", ("A loves B.", "B loves A."), ("anna .*peter", "peter .*anna"))


def test_the_set_has_four_hundred_pairs_whose_sentences_differ_and_each_comes_once():
    pairs = read_pairs()
    sources = [source for pair in pairs for source in pair.sources]
    assert len(pairs) >= 400
    assert len(set(sources)) == len(sources)
    for pair in pairs:
        assert pair.marks[0] != pair.marks[1]
        assert all(re.compile(mark) for mark in pair.marks)
        shared = set(pair.sources[0].lower().split()) & set(pair.sources[1].lower().split())
        assert shared, pair


@pytest.mark.parametrize(
    ("pair", "side", "caption", "judged"),
    [
        (GREW, 0, "Er ist gestiegen.", KEPT),
        (GREW, 0, "Er ist gesunken.", FLIP),
        (GREW, 1, "Er fiel.", KEPT),
        (GREW, 1, "Er ist da.", UNCLEAR),
        (GREW, 1, "Er ist gestiegen und gesunken.", UNCLEAR),
        (NOT, 0, "Ich weiß es.", KEPT),
        (NOT, 0, "Ich weiß es nicht.", FLIP),
        (NOT, 1, "Ich weiß es nicht.", KEPT),
        (NOT, 1, "Ich weiß es.", FLIP),
        (WHO, 0, "Anna liebt Peter.", KEPT),
        (WHO, 0, "Peter liebt Anna.", FLIP),
        (Pair("", ("", ""), ("an", "aus")), 0, "Danach ist es aus.", FLIP),  # a word, not letters
    ],
)
def test_a_caption_is_judged_by_what_it_has_of_either_side(pair, side, caption, judged):
    assert judge(pair, side, caption) == judged


def test_a_pair_is_right_if_both_captions_are_and_marks_are_counted_by_verdict():
    results = [
        Result(GREW, 0, "", KEPT, marked=False),
        Result(GREW, 1, "", KEPT, marked=True),
        Result(NOT, 0, "", KEPT, marked=False),
        Result(NOT, 1, "", FLIP, marked=True),
    ]
    assert "| negation | 0.0 | 2 | 1 | 1 | 0 |" in table(results)
    assert "| all | 50.0 | 4 | 3 | 1 | 0 |" in table(results)
    assert marked_share(results, FLIP) == 100
    assert marked_share(results, KEPT) == pytest.approx(100 / 3)
