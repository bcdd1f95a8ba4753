"""How pairs of a file become ids."""

import random
from collections import Counter

import pytest

from engine.layout.rows import IGNORE
from engine.policy import Offline, ReadN, WaitK
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, numbered_pair, random_pair, tiny_tokenizer
from tests.support.rows import build_rows
from training.settings import Mixture
from training.trainer.samples import (
    AlignedReads,
    TokenizedPair,
    by_characters,
    draw_policy,
    merged_boundaries,
    source_words,
    tokenize,
)

EOS, EOW, EOT = 930, 931, 932
SYS, USER, ASST = 900, 910, 920


def one_token_words(n_source, n_target, needs=None):
    source = tuple((index,) for index in range(1, n_source + 1))
    target = tuple((100 + index,) for index in range(1, n_target + 1))
    return TokenizedPair(source, target, needs)


def build(pair, policy, *, slot_length=16, marker_alone=False):
    layout = LayoutSettings(slot_length=slot_length)
    return build_rows(pair, policy, bare_prompt(), layout, marker_alone=marker_alone)


def asked(rows):
    """What each row is asked for, where it is asked for anything."""
    return [(row.id, row.label) for row in rows if row.label != IGNORE]


def labels(rows):
    return [row.label for row in rows if row.label != IGNORE]


def random_policy(rng, pair):
    return rng.choice(
        [
            ReadN(rng.randint(1, 5)),
            AlignedReads(merged_boundaries(pair.needs, rng)),
            WaitK(rng.randint(1, 5)),
            Offline(),
        ]
    )


def random_cases(n_cases):
    for seed in range(n_cases):
        rng = random.Random(seed)
        pair = numbered_pair(rng)
        policy = random_policy(rng, pair)
        arguments = {"slot_length": rng.randint(3, 16), "marker_alone": rng.random() < 0.5}
        yield pair, policy, build(pair, policy, **arguments)


# --- labels ---------------------------------------------------------------------------------------


def test_labels_of_read_3_with_a_closed_phase():
    """The trace of the design, with the marker behind the seventh word."""
    rows = build(one_token_words(7, 6, (1, 2, 4, 5, 7, 7)), ReadN(3), slot_length=4)
    assert [(row.id, row.position, row.time, row.label) for row in rows] == [
        (SYS, 0, 0, IGNORE), (USER, 1, 0, IGNORE),
        (1, 2, 0, IGNORE), (2, 3, 0, IGNORE), (3, 4, 0, IGNORE),
        (ASST, 6, 0, 101), (101, 7, 1, 102), (102, 8, 2, EOW),
        (4, 5, 3, IGNORE),
        (EOW, 9, 3, IGNORE),  # the phase is closed: the next header is asked instead
        (USER, 10, 3, IGNORE), (5, 11, 3, IGNORE), (6, 12, 3, IGNORE),
        (ASST, 15, 3, 103), (103, 16, 4, 104), (104, 17, 5, EOW),
        (7, 13, 6, IGNORE), (EOS, 14, 6, IGNORE),
        (EOW, 18, 6, 105), (105, 19, 7, 106), (106, 20, 8, EOW),
    ]  # fmt: skip


def test_read_n_begins_no_word_before_the_source_it_needs_is_read():
    checked = 0
    for pair, policy, rows in random_cases(300):
        if not policy.ends_writes:
            continue
        fed_at = {row.id: row.time for row in rows}
        asked_at = {row.label: row.time for row in rows}
        for word, need in zip(pair.target, pair.needs, strict=True):
            n_read = sum(fed_at[ids[-1]] <= asked_at[word[0]] for ids in pair.source)
            assert n_read >= need
            checked += 1
    assert checked > 300


def test_a_word_that_needs_more_source_is_held_back_by_an_end_of_write():
    rows = build(one_token_words(3, 3, (2, 2, 3)), ReadN(1))
    assert labels(rows) == [EOW, 101, 102, EOW, 103, EOW]


# --- the end of the source ------------------------------------------------------------------------


def test_the_marker_comes_with_the_last_word_or_alone():
    words = ((1,), (2, 3))
    assert source_words(words, bare_prompt(), marker_alone=False) == [(1,), (2, 3, EOS)]
    assert source_words(words, bare_prompt(), marker_alone=True) == [(1,), (2, 3), (EOS,)]
    assert source_words((), bare_prompt(), marker_alone=False) == [(EOS,)]


# --- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize("policy", [ReadN(3), AlignedReads((1, 2))], ids=["fixed", "aligned"])
def test_a_pair_without_an_alignment_cannot_train_read_n(policy):
    with pytest.raises(ValueError, match="without an alignment"):
        build(one_token_words(2, 2), policy)


DRAWS = 4000


def shares(mixture, *, aligned=True):
    rng = random.Random(0)
    pair = random_pair(rng, aligned=aligned)
    kinds = Counter(type(draw_policy(pair, mixture, rng)) for _ in range(DRAWS))
    return {kind: n / DRAWS for kind, n in kinds.items()}


def test_policies_are_drawn_in_their_shares():
    mixture = Mixture(fixed_reads=0.4, aligned_reads=0.1, waits=0.3)
    drawn = shares(mixture)
    expected = {ReadN: 0.4, AlignedReads: 0.1, WaitK: 0.3, Offline: 0.2}
    assert set(drawn) == set(expected)
    for kind, share in expected.items():
        assert abs(drawn[kind] - share) < 0.03


def test_a_pair_without_an_alignment_is_never_read_in_parts_that_must_end():
    drawn = shares(Mixture(), aligned=False)
    assert set(drawn) == {WaitK, Offline}
    assert abs(drawn[WaitK] - Mixture().waits) < 0.03


def random_needs(rng):
    return tuple(sorted(rng.randint(1, 30) for _ in range(rng.randint(1, 40))))


def test_merged_boundaries_cut_at_runs_and_cover_the_end():
    for seed in range(300):
        rng = random.Random(seed)
        needs = random_needs(rng)
        boundaries = merged_boundaries(needs, rng)
        assert list(boundaries) == sorted(set(boundaries))
        assert set(boundaries) <= set(needs)
        assert boundaries[-1] == needs[-1]


def test_two_to_ten_runs_are_merged_at_a_time():
    merged = Counter()
    for seed in range(300):
        boundaries = merged_boundaries(tuple(range(1, 101)), random.Random(seed))
        cuts = (0, *boundaries)
        sizes = [after - before for before, after in zip(cuts, boundaries, strict=False)]
        assert all(2 <= size <= 10 for size in sizes[:-1])
        assert sizes[-1] <= 10
        merged.update(sizes[:-1])
    assert set(merged) == set(range(2, 11))


def test_aligned_reads_read_to_each_boundary_and_then_to_the_end():
    for seed in range(200):
        rng = random.Random(seed)
        pair = random_pair(rng)
        policy = AlignedReads(merged_boundaries(pair.needs, rng))
        prompt = bare_prompt()
        rows = build_rows(pair, policy, prompt, LayoutSettings(), marker_alone=rng.random() < 0.5)
        n_writes = sum(row.label == prompt.end_of_write for row in rows)
        behind_last = policy.boundaries[-1] < len(pair.source)
        assert n_writes in (len(policy.boundaries), len(policy.boundaries) + 1)
        assert n_writes == len(policy.boundaries) + 1 or not behind_last
        assert prompt.end_of_source in [row.id for row in rows]


@pytest.mark.parametrize("needs", [(2, 5), None])
def test_a_character_needs_what_its_word_needs_and_further_ones_of_a_token_have_no_ids(needs):
    begun = [1, 0, 2, 1]  # id 0 begins a character, 1 goes on, 2 begins two
    pair = by_characters(TokenizedPair(((7,), (8,)), ((1, 0, 1, 2), (3, 3)), needs), begun)
    assert pair.source == ((7,), (8,))
    assert pair.target == ((1, 0, 1), (2,), (), (3,), (3,))
    assert pair.needs == (None if needs is None else (2, 2, 2, 5, 5))


def test_pairs_are_encoded_word_by_word_and_the_long_ones_left_out(tmp_path):
    path = tmp_path / "pairs.tsv"
    path.write_text("ab cd\tef gh\tone\t1 2\nab\tcd\ttwo\t\n", encoding="utf-8")
    tokenizer = tiny_tokenizer()
    long, short = tokenize({"de": path}, tokenizer, 99)
    assert [tokenizer.decode(word) for word in long.pair.source] == [" ab", " cd"]
    assert [tokenizer.decode(word) for word in long.pair.target] == [" ef", " gh"]
    assert (long.pair.needs, long.language, long.corpus) == ((1, 2), "de", "one")
    assert (short.pair.source, short.pair.needs) == (long.pair.source[:1], None)
    n_tokens = sum(map(len, long.pair.source + long.pair.target))
    assert len(list(tokenize({"de": path}, tokenizer, n_tokens))) == 2
    assert [one.corpus for one in tokenize({"de": path}, tokenizer, n_tokens - 1)] == ["two"]
    (apart, _) = tokenize({"zh": path}, tokenizer, 99)
    assert len(apart.pair.target) == len("efgh")
