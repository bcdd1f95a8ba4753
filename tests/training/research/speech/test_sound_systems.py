import functools
import random

import numpy as np
import pytest

from engine.runtime.sound import Block, BlockStream
from engine.settings import TranslationSettings
from engine.translation.feed import changes, translate_lines
from tests.support.direct.encoders import noise, tiny_encoder
from tests.support.fakes import tiny_tokenizer, tiny_weights
from training.research.adaptive import AdaptiveSpokenTranslator, AdaptiveTranslator
from training.research.speech_measure import Cascade, Direct, GreedyWords

POLICIES = ["read:2", "offline", "adaptive:0.3:4"]


@functools.cache
def writing_encoder():
    """A tiny encoder that writes some words, and often none."""
    tokenizer = tiny_tokenizer()
    encoder = tiny_encoder(vocabulary=len(tokenizer) + 1)
    words = [tokenizer.encode(f" {letter}", add_special_tokens=False)[0] for letter in "abcdef"]
    encoder.words.bias[:] -= 50
    encoder.words.bias[[*words, len(tokenizer)]] += 50
    return encoder


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


@pytest.mark.parametrize("policy", POLICIES)
def test_a_cascade_translates_the_words_that_the_encoder_writes(policy):
    weights, encoder = tiny_weights(), writing_encoder()
    settings = TranslationSettings(policy=policy)
    system = Cascade(AdaptiveTranslator(weights, settings), encoder, weights.decoder)
    for seed, samples in enumerate(sounds()):
        stream, words = BlockStream(encoder), GreedyWords(weights.decoder)
        blocks = stream.feed(samples) + stream.flush()
        said = [word for block in blocks for word in words.feed(block)] + words.flush()
        assert len(said) > 3
        (expected,) = translate_lines(
            lambda log: AdaptiveTranslator(weights, settings, log=log), [(0, " ".join(said))]
        )
        assert " ".join(caption_of(system, samples, seed).split()) == expected.hypothesis


def block_of(ids, vocabulary):
    logits = np.zeros((len(ids), vocabulary), np.float32)
    logits[range(len(ids)), ids] = 1
    return Block(np.zeros((1, 1), np.float32), logits)


def test_words_are_whole_once_the_next_one_begins_whatever_the_blocks():
    tokenizer = tiny_tokenizer()
    blank, rng = len(tokenizer), random.Random(0)
    for _ in range(50):
        text = " ".join("".join(rng.choice("abcdefgh") for _ in range(rng.randint(1, 5)))
                        for _ in range(rng.randint(1, 6)))  # fmt: skip
        frames, before = [], blank
        for id_ in tokenizer.encode(" " + text, add_special_tokens=False):
            frames += [blank] * (rng.randint(0, 2) + (id_ == before)) + [id_] * rng.randint(1, 3)
            before = id_
        words, told, start = GreedyWords(tokenizer.backend_tokenizer), [], 0
        while start < len(frames):
            stop = start + rng.randint(1, 4)
            told += words.feed(block_of(frames[start:stop], blank + 1))
            assert told == text.split()[: len(told)]
            start = stop
        assert len(told) == len(text.split()) - 1
        assert told + words.flush() == text.split()
