"""Old phases of a long utterance are forgotten, and what stays is what it would be computed to be.

Guards planner, cache, rotation and translator together.
"""

import random

import pytest
import torch

from engine.errors import CacheFullError
from engine.layout.rows import UNFED
from engine.runtime.causal_model import CausalModel
from engine.runtime.torch.attention import turn_keys
from engine.runtime.torch.torch_store import TorchStore
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.commands import bare
from tests.support.fakes import random_word, tiny_weights
from tests.support.networks import ARCHITECTURES, N_IDS, tiny_network
from tests.support.rows import new_planner, play


def small(rows):
    return [row._replace(id=row.id % N_IDS) for row in rows]


@pytest.mark.parametrize("architecture", ARCHITECTURES)
def test_keys_that_were_turned_equal_keys_computed_at_their_new_positions(architecture):
    network = tiny_network(architecture)
    rng = random.Random(7)
    planner = new_planner(rng)
    passes = [small(rows) for rows in play(planner, rng, 5)]
    one, other = TorchStore(network, 1, 200), TorchStore(network, 1, 200)
    model, moved = CausalModel(one), CausalModel(other)
    for rows in passes:
        model.feed(rows)
    gone = planner.evict()
    for rows in passes:  # all of it is shifted, so all distances are the same
        moved.feed([row._replace(shift=row.shift - gone.distance) for row in rows])
    model.evict(gone)
    n_rows = model.n_rows
    assert n_rows == moved.n_rows - (gone.stop - gone.start) == planner.n_fed
    for layer, expected in zip(one.cache.layers, other.cache.layers, strict=True):
        for mine, its in ((layer.keys, expected.keys), (layer.values, expected.values)):
            kept, wanted = mine[:, :, gone.start : n_rows], its[:, :, gone.stop : moved.n_rows]
            torch.testing.assert_close(kept, wanted, rtol=0, atol=2e-5)
    places = [(row.position, row.time) for row in planner.rows[: planner.n_fed]]
    position, time, _ = one.book.places[:, 0, :n_rows].tolist()
    assert list(zip(position, time, strict=True)) == places


@pytest.mark.parametrize(("dtype", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 2e-2)])
def test_turning_often_adds_up_to_turning_once(dtype, tolerance):
    network = tiny_network("llama")
    keys = torch.randn(1, 2, 9, 16, generator=torch.Generator().manual_seed(0)).to(dtype)
    once, often = turn_keys(network, 0, keys, 600), keys
    for _ in range(6):
        often = turn_keys(network, 0, often, 100)
    torch.testing.assert_close(often, once, rtol=0, atol=tolerance * 3)


def long_talk(capacity, *, policy="read:2", n_words=75, seed=0):
    rng = random.Random(seed)
    settings = TranslationSettings(policy=policy, layout=LayoutSettings(slot_length=8))
    translator = Translator(tiny_weights(), settings, capacity=capacity)
    utterance = translator.open()
    words = []
    for _ in range(n_words):
        words.append(random_word(rng))
        utterance.set_source(bare(words, ended=False))
        list(changes(utterance))
        assert translator.model.n_rows == utterance.planner.n_fed <= capacity
    return translator, utterance, words


@pytest.mark.parametrize("policy", ["read:2", "wait:2"])
def test_an_utterance_may_be_longer_than_the_cache(policy):
    translator, utterance, words = long_talk(100, policy=policy)
    assert translator.model.tokens_fed > 400
    assert utterance.planner.n_evicted_words > 20
    assert utterance.n_read == len(words)
    assert UNFED not in {row.time for row in utterance.fed_rows()}


def test_changing_a_word_that_is_still_cached_takes_back_no_more_than_needed():
    translator, utterance, words = long_talk(100)
    assert utterance.planner.n_evicted_words > 20
    caption = utterance.caption
    words[-1] = "aha"
    fed = translator.model.tokens_fed
    utterance.set_source(bare(words, ended=True))
    list(changes(utterance))
    assert utterance.finished
    assert translator.model.tokens_fed - fed < 60
    n_same = next(
        (n for n, (a, b) in enumerate(zip(caption, utterance.caption, strict=False)) if a != b),
        len(caption),
    )
    assert n_same > 0.8 * len(caption)


def test_changing_a_word_that_was_forgotten_begins_the_utterance_anew():
    translator, utterance, words = long_talk(150)
    assert utterance.planner.n_evicted_words > 20
    words[0] = "aha"
    assert utterance.set_source(bare(words, ended=True))
    assert utterance.caption == ""
    list(changes(utterance))
    fresh = Translator(tiny_weights(), translator.settings, capacity=150)
    other = fresh.open()
    other.set_source(bare(words, ended=True))
    list(changes(other))
    assert utterance.caption == other.caption


def test_one_write_that_fills_the_cache_is_refused_as_before():
    with pytest.raises(CacheFullError):
        long_talk(20)
