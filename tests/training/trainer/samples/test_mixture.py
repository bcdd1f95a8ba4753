import random
from collections import Counter

import pytest

from engine.policy import Offline, ReadN, WaitK
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, random_pair
from tests.support.rows import build_rows
from training.settings import Mixture
from training.trainer.samples.mixture import AlignedReads, draw_policy, merged_boundaries

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


def test_every_n_and_every_k_is_drawn():
    rng, mixture = random.Random(0), Mixture()
    pair = random_pair(rng)
    policies = {str(draw_policy(pair, mixture, rng)) for _ in range(DRAWS)}
    assert {f"read:{n}" for n in mixture.n} | {f"wait:{k}" for k in mixture.k} <= policies


@pytest.mark.parametrize("mixture", [{"fixed_reads": -0.1}, {"waits": 0.9}, {"aligned_reads": 2}])
def test_shares_are_shares(mixture):
    with pytest.raises(ValueError, match="shares of policies"):
        Mixture(**mixture)


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
