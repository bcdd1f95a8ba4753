"""The bundled models and their adapters: ONNX Runtime computes what torch computes, pass by pass.

Half of the words are English and half of them are drawn, so that a long source overflows its slot.
"""

import random

import pytest

from engine.hub.catalogue import bundled_adapters, bundled_models
from engine.models.adapters.adapter import Status, inspect_adapter
from engine.models.fingerprint import read_fingerprint
from engine.models.model_card import read_card
from engine.settings import LayoutSettings
from tests.support.fakes import play, random_word
from tests.support.twins import both, twin

FITTING = [
    (model, adapter)
    for model in bundled_models()
    for adapter in bundled_adapters()
    if inspect_adapter(adapter, read_fingerprint(model)).status is Status.OK
]
UTTERANCES = 5  # of each case; some hundreds were compared when the model was bundled
LOGITS_WITHIN = 1e-4
MAY_BE_FURTHER = 1 / 1000  # of the answers: rounding that a layer amplifies; Twins bounds them all
WORDS = """the a I you we they it is was will not and but or to of in on at for with from by about
good morning evening today tomorrow yesterday meeting train station hotel doctor school friend
money house please could would should want need think know see come go give take make bring call
where when why how much many two twelve 350 3.5 Berlin Anna late early open closed new old, first.
second? really! people's don't we'll""".split()


def word(rng):
    return rng.choice(WORDS) if rng.random() < 0.5 else random_word(rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "adapter"),
    [*((model, None) for model in bundled_models()), *FITTING],
    ids=lambda one: one and one.name,
)
def test_random_utterances_are_computed_alike(model, adapter):
    """With edits, overflow and evictions; each bare model and each adapter."""
    weights = both(model, adapter=adapter)
    policies = read_card(adapter or model).policies
    (language,) = read_card(model).languages
    truncated = evicted = 0
    distances: list[float] = []
    for seed in range(UTTERANCES):
        rng = random.Random(seed)
        long = seed == 0
        layout = LayoutSettings(slot_length=rng.randint(6, 16))
        system = twin(
            weights,
            policy=rng.choice(policies),
            layout=layout,
            target_language=language,
            capacity=90 if long else 400,
        )
        play(system, rng, 10 if long else rng.randint(1, 2), word)
        distances += system.model.distances
        truncated += system.model.truncated
        evicted += system.model.evicted
    assert len(distances) > 3 * UTTERANCES
    assert sum(far >= LOGITS_WITHIN for far in distances) <= MAY_BE_FURTHER * len(distances)
    assert truncated > 5
    assert evicted > 0
