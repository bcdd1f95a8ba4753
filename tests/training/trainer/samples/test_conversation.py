"""Samples of several pairs as turns of one conversation."""

import random
from itertools import islice

import pytest
import torch

from engine.layout.rows import IGNORE
from engine.policy import Offline
from engine.settings import LayoutSettings
from tests.support.fakes import bare_prompt, numbered_pair, random_pair
from tests.support.networks import ALIBI, N_IDS, masked_pass, tiny_network
from tests.support.rows import build_rows
from training.settings import Mixture
from training.trainer.samples.conversation import Turns, build_conversation
from training.trainer.samples.methods import METHODS
from training.trainer.samples.pairs import CorpusPair
from training.trainer.samples.stream import Padded, Stream

N_SYSTEM, N_USER, N_ASSISTANT = 3, 2, 2
EOT = 932


def prompt():
    return bare_prompt(n_system=N_SYSTEM, n_user=N_USER, n_assistant=N_ASSISTANT)


def conversation(seed, *, n_skipped=0, n_pairs=None):
    rng = random.Random(seed)
    pairs = [numbered_pair(rng) for _ in range(n_pairs or rng.randint(1, 5))]
    return build_conversation(pairs, prompt(), n_skipped=n_skipped, rng=rng), pairs


def encoded(rows):
    return [row.position + row.shift for row in rows]


def test_one_pair_is_the_offline_sample_of_a_conversation():
    for seed in range(30):
        rows, (pair,) = conversation(seed, n_pairs=1)
        layout = LayoutSettings(name="conversational")
        assert list(rows) == list(build_rows(pair, Offline(), prompt(), layout, marker_alone=False))


def test_every_answer_is_asked_whole_and_with_its_end():
    for seed in range(30):
        rows, pairs = conversation(seed)
        wanted = []
        for pair in pairs:
            wanted += [id_ for word in pair.target for id_ in word] + [EOT]
        assert [row.label for row in rows if row.label != IGNORE] == wanted
        assert sum(row.id == 910 for row in rows) == len(pairs)
        assert encoded(rows) == list(range(len(rows)))


def test_positions_are_skipped_before_headers_only_and_so_many_in_all():
    n_borders = 0
    for seed in range(30):
        rows, _ = conversation(seed, n_skipped=200)
        where = encoded(rows)
        gaps = [
            (row.id, after - before - 1)
            for row, before, after in zip(rows[1:], where, where[1:], strict=False)
        ]
        assert sum(gap for _, gap in gaps) == 200
        assert {id_ for id_, gap in gaps if gap} <= {910, 920}
        n_borders += sum(gap > 0 for _, gap in gaps)
        assert [row._replace(shift=0) for row in rows] == list(conversation(seed)[0])
    assert n_borders > 60


@pytest.mark.parametrize("architecture", ["llama", ALIBI[0]])
def test_a_shift_of_all_rows_changes_nothing_but_rounding_and_skipped_positions_do(architecture):
    network = tiny_network(architecture)

    def logits(rows):
        return masked_pass(network, rows, ranked=False)

    for seed in range(3):
        rng = random.Random(seed)
        pairs = [random_pair(rng, n_ids=370) for _ in range(2)]
        plain, skipping = (
            [
                row._replace(id=row.id % N_IDS)
                for row in build_conversation(pairs, prompt(), n_skipped=n_skipped, rng=rng)
            ]
            for n_skipped in (0, 50)
        )
        shifted = [row._replace(shift=row.shift + 300) for row in plain]
        torch.testing.assert_close(logits(shifted), logits(plain), rtol=0, atol=2e-3)
        assert (logits(skipping) - logits(plain)).abs().max() > 1


def stream(**changes):
    rng = random.Random(0)
    pairs = [CorpusPair(numbered_pair(rng), rng.choice(["de", "fr"]), "letters") for _ in range(70)]
    none = Mixture(fixed_reads=0, aligned_reads=0, waits=0)
    return Stream(
        pairs=pairs,
        prompts={"de": prompt(), "fr": prompt()},
        weights={},
        method=METHODS["exposst"],
        mixture=none,
        slot_lengths=(1,),
        arrangement=Padded(400, block=35),
        seed=1,
        turns=Turns(**changes),
    )


def test_an_epoch_holds_every_pair_once_in_conversations_of_the_wanted_length():
    for low, high in ((1, 1), (2, 4), (3, 3)):
        every, n_pairs = [], 0.0
        for lines in stream(number=(low, high), offset=(0, 9)).steps():
            every += lines.examples
            n_pairs += lines.n_pairs
            if n_pairs >= 70:
                break
        assert n_pairs == 70
        n_short = sum(one.share < low for one in every)
        assert n_short <= 4  # the last of each language in both blocks
        assert max(one.share for one in every) == high


def test_a_conversation_ends_when_it_has_its_tokens():
    short = stream(number=(6, 6), max_tokens=40)
    for lines in islice(short.steps(), 12):
        for one in lines.examples:
            assert len(one.rows) < 40 + 27 + 27 + 8 * one.share


def test_a_run_that_goes_on_sees_the_steps_that_are_left():
    turns = {"number": (1, 4), "offset": (0, 30)}
    whole = list(islice(stream(**turns).steps(), 8))
    skipped = sum(round(lines.n_pairs) for lines in whole[:3])
    for left, lines in zip(whole[3:], stream(**turns).steps(skip_pairs=skipped), strict=False):
        assert [one.rows for one in left.examples] == [one.rows for one in lines.examples]


@pytest.mark.parametrize("wrong", [{"number": (0, 2)}, {"number": (3, 2)}, {"offset": (-1, 2)}])
def test_ranges_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match="should be LEAST-MOST"):
        Turns(**wrong)
