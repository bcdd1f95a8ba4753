import random

import numpy as np
import pytest

from engine.runtime.sound import BlockStream
from engine.settings import TranslationSettings
from engine.translation.feed import changes
from tests.support.direct.encoders import noise, tiny_encoder
from tests.support.fakes import tiny_weights
from training.research.adaptive import AdaptiveSpokenTranslator
from training.research.speech_measure import Direct

POLICIES = ["read:2", "offline", "adaptive:0.3:4"]


def pieces(rng, samples, most=9000):
    start = 0
    while start < len(samples):
        stop = start + rng.randint(1, most)
        yield samples[start:stop], stop >= len(samples)
        start = stop


def caption_of(system, samples, seed):
    texts = [system.hear(part, ended=e) for part, e in pieces(random.Random(seed), samples)]
    return "".join(texts)


def sounds():
    return [noise(np.random.default_rng(seed), 1.5 + seed) for seed in range(2)]


@pytest.mark.parametrize("policy", POLICIES)
def test_straight_from_the_sound_the_caption_is_that_of_its_blocks(policy):
    weights, encoder = tiny_weights(), tiny_encoder()
    settings = TranslationSettings(policy=policy)
    system = Direct(AdaptiveSpokenTranslator(weights, settings), encoder)
    for seed, samples in enumerate(sounds()):
        translator = AdaptiveSpokenTranslator(weights, settings)
        utterance, stream = translator.open(), BlockStream(encoder)
        blocks = [block.vectors for block in stream.feed(samples) + stream.flush()]
        for number, block in enumerate(blocks, start=1):
            utterance.hear([block], ended=number == len(blocks))
            list(changes(utterance))
        assert caption_of(system, samples, seed) == utterance.caption
