"""What each method trains on: the paper's figures of the samples, as equalities."""

import random

import pytest
import torch

from engine.layout.rows import IGNORE, visible
from engine.policy import Offline, ReadN, WaitK
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, numbered_pair
from training.research.methods import METHODS
from training.trainer.samples import Method, build_samples

N_SYSTEM, N_USER, N_ASSISTANT = 3, 2, 2
ALL = {"exposst": Method(), **METHODS}
EOW, EOT = 931, 932


def samples(name, seed, *, policy=None):
    """The samples of a random pair, the pair and its policy."""
    rng = random.Random(seed)
    method = ALL[name]
    pair = numbered_pair(rng)
    drawn = rng.choice([ReadN(rng.randint(1, 4)), WaitK(rng.randint(1, 4)), Offline()])
    policy = Offline() if name == "causal" else policy or drawn
    prompt = bare_prompt(n_system=N_SYSTEM, n_user=N_USER, n_assistant=N_ASSISTANT)
    layout = LayoutSettings(slot_length=rng.randint(3, 16), name=method.layout)
    alone = rng.random() < 0.5
    built = build_samples(pair, policy, prompt, layout, marker_alone=alone)
    return [method.finish(rows, policy, prompt) for rows in built], pair, policy


def sight(rows):
    position = torch.tensor([row.position for row in rows])
    time = torch.tensor([row.time for row in rows])
    return visible(position, time, position, time)


def encoded(rows):
    return [row.position + row.shift for row in rows]


def is_source(row):
    return 1000 <= row.id < 2000 or row.id == 930


def flat(words):
    return [id_ for word in words for id_ in word]


def labels(rows):
    return [row.label for row in rows if row.label != IGNORE]


SEEDS = range(60)


@pytest.mark.parametrize("name", ALL)
def test_every_method_is_asked_for_the_whole_target_once(name):
    for seed in SEEDS:
        parts, pair, policy = samples(name, seed)
        asked = [label for rows in parts for label in labels(rows)]
        if ALL[name].labels_all:
            asked = [label for label in asked if not (1000 <= label < 2000 or label in (920, 930))]
        end = EOW if policy.ends_writes else EOT
        assert [id_ for id_ in asked if id_ != EOW] == flat(pair.target) + [EOT] * (end == EOT)
        assert asked[-1] == end


@pytest.mark.parametrize("name", ALL)
def test_no_method_but_the_one_without_mask_sees_source_that_is_not_read(name):
    """A row asked under wait-k sees just g(j) source words: by sub-words, headers included."""
    early = 0
    for seed in SEEDS:
        if name == "causal":
            continue
        k = seed % 4 + 1
        parts, pair, _ = samples(name, seed, policy=WaitK(k))
        for rows in parts:
            seen = sight(rows)
            for row, sees in zip(rows, seen, strict=True):
                if row.label == IGNORE:
                    continue
                ends = row.label == EOT
                word = next(
                    (n for n, ids in enumerate(pair.target) if row.label in ids), len(pair.target)
                )
                wanted = flat(pair.source[: len(pair.source) if ends else k + word])
                source = [
                    one.id for one, ok in zip(rows, sees, strict=True) if ok and is_source(one)
                ]
                source = [id_ for id_ in source if id_ != 930]
                if name == "without-mask":
                    early += sorted(source) != wanted
                else:
                    assert sorted(source) == wanted
    assert (early > 100) == (name == "without-mask")


@pytest.mark.parametrize("name", ["without-slots", "prefix", "causal"])
def test_these_methods_train_on_positions_without_gap(name):
    for seed in SEEDS:
        for rows in samples(name, seed)[0]:
            assert sorted(encoded(rows)) == list(range(len(rows)))


@pytest.mark.parametrize("name", ["prefix", "causal"])
def test_prefix_and_causal_samples_are_ordinary_text(name):
    for seed in SEEDS:
        for rows in samples(name, seed)[0]:
            assert torch.equal(sight(rows), torch.ones(len(rows), len(rows)).tril().bool())


def test_interleaved_rows_have_one_token_after_each_piece_and_no_header_between_them():
    for seed in SEEDS:
        ((rows,), pair, _) = samples("easist", seed, policy=ReadN(seed % 4 + 1))
        assert encoded(rows) == list(range(len(rows)))
        assert torch.equal(sight(rows), torch.ones(len(rows), len(rows)).tril().bool())
        ids = [row.id for row in rows]
        assert ids[: N_SYSTEM + N_USER] == [900, 901, 902, 910, 911]
        source, target, reads = [], [], True
        for id_ in ids[N_SYSTEM + N_USER :]:
            if id_ == (920 if reads else EOW):
                reads = not reads
            else:
                (source if reads else target).append(id_)
        assert [id_ for id_ in source if id_ != 930] == flat(pair.source)
        assert target == flat(pair.target)


def test_every_token_after_the_prompt_is_a_label_where_the_source_is_labelled():
    for seed in SEEDS:
        ((rows,), _, _) = samples("easist", seed, policy=ReadN(seed % 4 + 1))
        start = N_SYSTEM + N_USER
        assert [row.label for row in rows[: start - 1]] == [IGNORE] * (start - 1)
        assert [row.label for row in rows[start - 1 :]] == [*(row.id for row in rows[start:]), EOW]
