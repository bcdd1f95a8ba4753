"""One masked pass equals feeding row by row: guards model step, cache and times of rows."""

import random

import pytest
import torch

from engine.runtime.torch.attention import Attention
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.commands import bare
from tests.support.fakes import play, random_word, tiny_weights
from training.trainer.stream import Example, pad

CASES = 25


def recorded(translator):
    """Keep the logits that each fed row gave, under the row's place in the cache."""
    logits = {}
    store = translator.model._store
    compute = store.compute

    def record(ask):
        computed = compute(ask)
        logits[translator.model.n_rows - 1] = computed.logits.clone()
        return computed

    store.compute = record
    return logits


def one_masked_pass(network, rows):
    """What training computes for these rows."""
    batch = pad([Example(rows, ends_writes=False)])
    with torch.inference_mode():
        return network(
            input_ids=batch.ids,
            position_ids=batch.places.encoded,
            attention_mask=batch.bias(Attention.of(network)),
            use_cache=False,
        ).logits[0]


def random_case(seed):
    """A translator, its recorded logits and an utterance, fed, edited and translated at random."""
    rng = random.Random(seed)
    policy = rng.choice(["read:1", "read:2", "read:3", "read:5", "wait:1", "wait:2", "wait:4"])
    settings = TranslationSettings(
        policy=policy, layout=LayoutSettings(slot_length=rng.randint(3, 16))
    )
    translator = Translator(tiny_weights(), settings)
    logits = recorded(translator)
    utterance = play(translator, rng, rng.randint(1, 4), edits=0.5)
    return translator, logits, utterance


def test_one_masked_pass_equals_feeding_row_by_row():
    compared = 0
    for seed in range(CASES):
        translator, logits, utterance = random_case(seed)
        rows = utterance.fed_rows()
        at_once = one_masked_pass(tiny_weights().network, rows)
        assert translator.model.n_rows == len(rows)
        for index, row in enumerate(rows):
            if row.label < 0:
                continue
            may_follow = logits[index].isfinite()
            one_by_one, together = logits[index][may_follow], at_once[index][may_follow]
            torch.testing.assert_close(one_by_one, together, rtol=0, atol=1e-9)
            compared += 1
    assert compared > 180


@pytest.mark.parametrize("policy", ["read:2", "read:5:7", "wait:2", "offline"])
def test_nothing_is_computed_twice_however_words_come_when_nothing_is_edited(policy):
    """A pass for each token that is chosen; wait-k alone makes probes, and says so."""
    translator = Translator(tiny_weights(), TranslationSettings(policy=policy))
    counters, model = translator.counters, translator.model
    for seed in range(4):  # one by one, at once, in bursts
        rng = random.Random(seed)
        words = [random_word(rng) for _ in range(11)]
        n_fed, n_passes, n_probes = model.tokens_fed, model.forwards, counters.probes
        n_system, utterance, n_words = len(translator.cached_system), translator.open(), 0
        while n_words < len(words):
            n_words = min(len(words), n_words + ([1, 11][seed] if seed < 2 else rng.randint(3, 6)))
            utterance.set_source(bare(words[:n_words], ended=n_words == len(words)))
            list(changes(utterance))
        n_rows = len(utterance.fed_rows())
        assert model.n_rows == n_rows
        assert model.tokens_fed - n_fed - (counters.probes - n_probes) == n_rows - n_system
        assert counters.tokens_recomputed == 0
        if policy != "wait:2":
            assert counters.probes == 0
            assert model.forwards - n_passes == utterance.n_chosen


def test_the_row_that_is_asked_has_the_largest_position_of_all():
    for seed in range(20):
        _, _, utterance = random_case(seed)
        largest = -1
        for row in utterance.fed_rows():
            largest = max(largest, row.position)
            if row.label >= 0:
                assert row.position == largest
        positions = [row.position for row in utterance.fed_rows()]
        assert len(set(positions)) == len(positions)
