"""Writes that are cut short: what is carried over, and what carries no loss."""

import itertools
import random
from bisect import bisect_right

import pytest

from engine.layout.rows import IGNORE
from engine.policy import Offline, ReadN, WaitK
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt
from tests.support.rows import build_rows
from training.settings import Mixture
from training.trainer.samples import (
    AlignedReads,
    TokenizedPair,
    cut_writes,
    merged_boundaries,
)

EOS, EOW = 930, 931
USER, ASST = 910, 920


def build(pair, policy, *, slot_length=16, marker_alone=False):
    layout = LayoutSettings(slot_length=slot_length)
    return build_rows(pair, policy, bare_prompt(), layout, marker_alone=marker_alone)


def labels(rows):
    return [row.label for row in rows if row.label != IGNORE]


def long_pair(rng):
    """Enough words on both sides for several writes; no id stands twice."""
    n_source, n_target = rng.randint(1, 20), rng.randint(1, 20)
    return TokenizedPair(
        tuple((1000 + index,) for index in range(n_source)),
        tuple((2000 + 2 * index, 2001 + 2 * index) for index in range(n_target)),
        tuple(sorted(rng.randint(1, n_source) for _ in range(n_target))),
    )


def random_cases(n_cases, share=0.5):
    for seed in range(n_cases):
        rng = random.Random(seed)
        pair = long_pair(rng)
        runs = sorted(set(pair.needs))
        boundaries = rng.choice([tuple(runs), merged_boundaries(pair.needs, rng)])
        policy = AlignedReads(boundaries)
        yield pair, policy, cut_writes(pair, policy, Mixture(cut_writes=share), rng)


def writes(needs, boundaries):
    """Words of each write, as they are written when nothing is cut further."""
    ends = [bisect_right(needs, boundary) for boundary in boundaries]
    return [end - start for start, end in itertools.pairwise((0, *ends))]


def n_cuts(pair, cut, policy):
    return sum(
        bisect_right(cut.delayed, boundary) < bisect_right(pair.needs, boundary)
        for boundary in policy.boundaries
    )


# --- what is carried over -------------------------------------------------------------------------


def test_a_cut_write_keeps_a_word_and_carries_the_rest_to_the_next_write():
    pair = TokenizedPair(((1,), (2,), (3,)), ((11,), (12,), (13,), (14,)), (1, 1, 1, 3))
    found = {
        cut_writes(pair, AlignedReads((1, 3)), Mixture(cut_writes=1), random.Random(seed)).delayed
        for seed in range(50)
    }
    assert found == {(1, 3, 3, 3), (1, 1, 3, 3)}


def test_words_are_carried_no_further_than_to_the_next_write_each_time():
    carried = 0
    for pair, policy, cut in random_cases(500):
        for need, delayed in zip(pair.needs, cut.delayed, strict=True):
            assert delayed == need or delayed in policy.boundaries
            assert delayed >= need
            carried += delayed > need
        assert list(cut.delayed) == sorted(cut.delayed)
        assert cut.needs == pair.needs
    assert carried > 200


def test_every_write_goes_on_writing_and_the_last_one_writes_all_that_is_left():
    for pair, policy, cut in random_cases(500, share=1):
        sizes = writes(cut.delayed, policy.boundaries)
        assert all(sizes)
        assert sum(sizes) == len(pair.target)


def test_a_write_of_two_words_or_more_is_cut_with_the_probability_that_is_named():
    n_long = n_cut = 0
    for pair, policy, cut in random_cases(1500):
        first = 0
        for boundary in policy.boundaries[:-1]:
            stop, end = bisect_right(pair.needs, boundary), bisect_right(cut.delayed, boundary)
            assert end == stop or stop - first > 1
            n_long += stop - first > 1
            n_cut += end < stop
            first = end
    assert n_long > 1000
    assert abs(n_cut / n_long - 0.5) < 0.03


# --- rows and labels ------------------------------------------------------------------------------


def test_labels_of_a_write_that_was_cut_in_a_closed_phase_and_in_an_open_one():
    """Slots of two: the first write is cut behind one of its two words, and its phase is closed."""
    pair = TokenizedPair(
        ((1,), (2,), (3,)), ((11,), (12,), (13,), (14,)), (1, 1, 2, 3), (1, 2, 3, 3)
    )
    rows = build(pair, AlignedReads((1, 2, 3)), slot_length=2)
    assert [(row.id, row.label) for row in rows[1:]] == [
        (USER, IGNORE), (1, IGNORE), (ASST, 11),
        (11, IGNORE),  # asked for the end of the write, which is too early: 12 needs no more source
        (2, IGNORE), (EOW, 12),
        (12, IGNORE),  # likewise: 13 needs two source words
        (EOW, IGNORE), (USER, IGNORE), (3, IGNORE), (EOS, IGNORE), (ASST, 13),
        (13, 14), (14, EOW),
    ]  # fmt: skip


def test_no_word_is_lost_and_each_has_its_label():
    for pair, policy, cut in random_cases(300):
        words = [id_ for word in pair.target for id_ in word]
        rows = build(cut, policy)
        assert [label for label in labels(rows) if label != EOW] == words
        assert labels(rows)[-1] == EOW


def test_ends_of_writes_that_were_cut_have_no_label_and_all_else_is_as_if_they_were_right():
    n_unlabelled = 0
    for pair, policy, cut in random_cases(300):
        right = TokenizedPair(pair.source, pair.target, cut.delayed)
        rows, right_rows = (build(one, policy, slot_length=5) for one in (cut, right))
        changed = [
            (row, other) for row, other in zip(rows, right_rows, strict=True) if row != other
        ]
        assert all(row == other._replace(label=IGNORE) for row, other in changed)
        assert all(other.label == EOW for _, other in changed)
        assert len(changed) == n_cuts(pair, cut, policy)
        n_unlabelled += len(changed)
    assert n_unlabelled > 150


# --- who cuts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [ReadN(2), WaitK(2), Offline()], ids=str)
def test_other_policies_are_never_cut(policy):
    pair = long_pair(random.Random(1))
    assert cut_writes(pair, policy, Mixture(cut_writes=1), random.Random(0)) is pair


# --- what was made before -------------------------------------------------------------------------
