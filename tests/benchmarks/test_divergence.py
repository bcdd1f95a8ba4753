import math
import random

import numpy as np
import pytest

from benchmarks.when_to_write import DivergenceTranslator, distribution, divergence
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.slot_translator import Translator
from tests.support.fakes import hashing_translator, random_word, tiny_weights


def settings(policy):
    layout = LayoutSettings(slot_length=8)
    return TranslationSettings(target_language="de", policy=policy, layout=layout)


def captions(translator, sentences):
    """The caption of each sentence, and how many words had come when each part of it did."""
    said = []
    for words in sentences:
        utterance, parts = translator.open(), []
        for n_words in range(1, len(words) + 1):
            ended = n_words == len(words)
            translator.set_source(utterance, words[:n_words], ended=ended)
            while change := translator.advance(utterance):
                parts.append((n_words, change.text))
        said.append(parts)
    return said


@pytest.fixture
def sentences():
    rng = random.Random(1)
    return [[random_word(rng) for _ in range(rng.randint(3, 14))] for _ in range(5)]


@pytest.mark.parametrize(
    ("delta", "fixed"),
    [
        pytest.param(-1.0, "read:1", id="any answer is news"),
        pytest.param(0.0, "read:2", id="one word more changes the answer"),
        pytest.param(math.inf, "read:9", id="nothing is news"),
    ],
)
def test_without_sure_words_a_write_comes_after_the_word_that_changed_the_answer(
    sentences, delta, fixed
):
    weights = tiny_weights()
    asking = DivergenceTranslator(weights, settings("adaptive:0.5"), delta=delta, sure=1.0)
    assert captions(asking, sentences) == captions(Translator(weights, settings(fixed)), sentences)


def test_a_sure_word_is_written_at_once_and_a_sure_end_of_write_is_not():
    translator = DivergenceTranslator(
        tiny_weights(), settings("adaptive:0.5"), delta=math.inf, sure=0.6
    )
    translator.conversation.model = hashing_translator().model
    utterance = translator.open()
    end_of_write = utterance.prompt.end_of_write
    for chosen, gap, likely in (
        (300, 2.0, 1.0),  # p = 0.88
        (300, 0.2, 0.0),  # p = 0.55
        (end_of_write, 2.0, 0.0),
    ):
        model = translator.model
        model._chosen, model._second, model._gap = chosen, 270, gap
        assert translator._write_probability(utterance) == likely


def test_divergence_by_hand():
    even, skewed = np.array([0.5, 0.5, 0.0]), np.array([0.75, 0.25, 0.0])
    assert divergence(even, even) == 0
    assert divergence(skewed, even) == pytest.approx(0.75 * math.log(1.5) + 0.25 * math.log(0.5))
    assert divergence(even, skewed) == pytest.approx(0.5 * math.log(0.5 / 0.75 * 0.5 / 0.25))
    assert divergence(even, np.array([1.0, 0.0, 0.0])) > 300  # new words, unheard of before
    logits = np.array([1.0, 0.0, -np.inf], dtype=np.float32)
    assert distribution(logits) == pytest.approx([math.e / (math.e + 1), 1 / (math.e + 1), 0])
