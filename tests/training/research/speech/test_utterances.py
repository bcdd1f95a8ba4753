import random
from dataclasses import replace

import numpy as np
import pytest

from engine.layout.rows import IGNORE
from engine.policy import Offline, ReadN
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.spoken import SpokenTranslator
from tests.support.fakes import HashingModel, bare_prompt, random_pair, teach, tiny_weights
from tests.support.teacher import Teacher, word_tokens
from training.research.methods import nested_boundaries
from training.research.speech import (
    NOT_ASKED,
    Spoken,
    live_rows,
    needed_blocks,
    offline_rows,
    spoken,
)
from training.research.speech_corpus import Line
from training.trainer.samples import AlignedReads

BLOCK = 5120  # samples, 320 ms


def line(n_samples, **changes):
    whole = {
        "shard": "s", "first": 0, "source": "a b c", "target": "x y", "corpus": "", "voice": "",
        "needs": (1, 3), "ends_ms": (100, 320, 700),
    }  # fmt: skip
    return Line(n_samples=n_samples, **whole | changes)


def spoken_pair(rng, positions=2):
    """A pair whose source words are blocks, with a random schedule."""
    pair = random_pair(rng, first_id=100, n_ids=380)
    n_blocks = len(pair.source)
    blocks = tuple(
        tuple(-1 - positions * block - n for n in range(positions)) for block in range(n_blocks)
    )
    return Spoken(line=line(1), n_blocks=n_blocks, pair=replace(pair, source=blocks), words=())


def test_a_word_is_known_when_its_block_has_ended():
    assert needed_blocks(line(3 * BLOCK), 3, BLOCK) == (1, 3)
    assert needed_blocks(line(3 * BLOCK, needs=(2, 2)), 3, BLOCK) == (1, 1)
    assert needed_blocks(line(3 * BLOCK, ends_ms=(0, 321, 322)), 3, BLOCK) == (1, 2)


def test_every_block_has_ids_of_its_own_and_the_last_one_is_filled_up():
    tokenizer = tiny_weights().tokenizer
    one = spoken(line(2 * BLOCK + 1), tokenizer, BLOCK, 2)
    assert one.n_blocks == 3
    assert one.pair.source == ((-1, -2), (-3, -4), (-5, -6))
    assert one.words == sum((word_tokens(tokenizer, word) for word in "abc"), ())


@pytest.mark.parametrize("layout_name", ["slots", "interleaved"])
def test_the_rows_are_those_of_live_sound(layout_name):
    for seed in range(60):
        rng = random.Random(seed)
        weights = tiny_weights()
        policy = rng.choice([ReadN(rng.randint(1, 4)), Offline()])
        layout = LayoutSettings(slot_length=rng.randint(3, 16), name=layout_name)
        settings = TranslationSettings(policy=str(policy), layout=layout)
        translator = SpokenTranslator(weights, settings, capacity=64)
        translator.model = HashingModel()
        one = spoken_pair(rng)
        utterance = translator.open()
        teach(translator.model, Teacher(translator, one.pair, utterance))
        blocks = [vectors_of(block) for block in one.pair.source]
        for number, block in enumerate(blocks, start=1):
            utterance.hear([block], ended=number == len(blocks))
            list(changes(utterance))
        if isinstance(policy, Offline):
            built = offline_rows(one, utterance.prompt, layout)
        else:
            built, _ = live_rows(one, policy, utterance.prompt, layout)
        assert list(utterance.planner.rows) == list(built)


def vectors_of(block):
    return np.zeros((len(block), 64), np.float32)


@pytest.mark.parametrize("layout_name", ["slots", "interleaved"])
def test_a_write_is_right_at_the_last_block_of_a_part_and_at_each_token_of_its_translation(
    layout_name,
):
    prompt, n_mixed = bare_prompt(), 0
    for seed in range(200):
        rng = random.Random(seed)
        one, layout = spoken_pair(rng), LayoutSettings(slot_length=8, name=layout_name)
        apart = rng.choice([1, 2, 3])
        boundaries = nested_boundaries(one.pair.needs, apart)
        rows, decided = live_rows(one, AlignedReads(boundaries), prompt, layout)
        at_blocks = {
            -row.id // 2: label for row, label in zip(rows, decided, strict=True)
            if row.id < 0 and label != NOT_ASKED
        }  # fmt: skip
        ends = {*boundaries, one.n_blocks}
        assert at_blocks == {n: int(n in ends) for n in range(1, one.n_blocks + 1)}
        tokens = [
            label for row, label in zip(rows, decided, strict=True)
            if row.id >= 0 and row.label not in (IGNORE, prompt.end_of_write)
        ]  # fmt: skip
        assert tokens == [1] * sum(map(len, one.pair.target))
        others = [
            label for row, label in zip(rows, decided, strict=True)
            if row.id >= 0 and row.label in (IGNORE, prompt.end_of_write)
        ]  # fmt: skip
        assert set(others) <= {NOT_ASKED}
        n_mixed += len(set(at_blocks.values())) == 2
    assert n_mixed > 50
