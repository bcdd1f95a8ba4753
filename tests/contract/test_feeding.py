"""One masked pass equals feeding row by row: guards model step, cache and times of rows."""

import random

import torch

from engine.policy import parse_policy
from engine.runtime.torch.attention import Attention
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.fakes import play, tiny_weights
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


def test_every_token_is_fed_exactly_once_when_nothing_is_edited():
    for policy in ("read:2", "wait:2", "offline"):
        translator = Translator(tiny_weights(), TranslationSettings(policy=policy))
        utterance = translator.open()
        utterance.set_source(["abc", "de", "fgh", "a"], ended=True)
        list(changes(utterance))
        counters, model = translator.counters, translator.model
        assert model.tokens_fed - counters.probes == model.n_rows == len(utterance.fed_rows())
        assert counters.tokens_recomputed == 0
        assert parse_policy(policy).ends_writes <= (counters.probes == 0)


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
