"""The translator's rows equal the training builder's: guards positions, times and labels."""

import random

import pytest

from engine.policy import Offline, ReadN, WaitK
from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.commands import bare
from tests.support.fakes import HashingModel, random_word, teach, tiny_weights
from tests.support.rows import build_rows
from tests.support.teacher import Teacher, word_tokens
from training.research.methods import LAYOUTS
from training.trainer.samples import TokenizedPair

CASES = 40


@pytest.mark.parametrize("layout_name", sorted({"slots", *LAYOUTS} - {"simulmask"}))
def test_the_translators_rows_equal_the_builders_rows(layout_name):
    probes = 0
    for seed in range(CASES):
        rng = random.Random(seed)
        policy = rng.choice(
            [ReadN(rng.randint(1, 5)), WaitK(rng.randint(1, 5)), WaitK(1), Offline()]
        )
        layout = LayoutSettings(slot_length=rng.randint(3, 16), name=layout_name)
        settings = TranslationSettings(policy=str(policy), layout=layout)
        weights = tiny_weights()
        translator = Translator(weights, settings, capacity=64)
        translator.model = HashingModel()
        source = [f"b{random_word(rng)}" for _ in range(rng.randint(1, 9))]  # no "a", which waits
        target = [random_word(rng) for _ in range(rng.randint(1, 9))]
        needs = tuple(sorted(rng.randint(1, len(source)) for _ in target))
        pair = TokenizedPair(
            tuple(word_tokens(weights.tokenizer, word) for word in source),
            tuple(word_tokens(weights.tokenizer, word) for word in target),
            needs,
        )
        utterance = translator.open()
        teach(translator.model, Teacher(translator, pair, utterance))
        marker_alone = rng.random() < 0.5
        captions = ""
        for n_words in range(1, len(source) + 1):
            ended = n_words == len(source) and not marker_alone
            utterance.set_source(bare(source[:n_words], ended=ended))
            captions += "".join(change.text for change in changes(utterance))
        if marker_alone:
            utterance.set_source(bare(source, ended=True))
            captions += "".join(change.text for change in changes(utterance))
        built = build_rows(pair, policy, utterance.prompt, layout, marker_alone=marker_alone)
        assert list(utterance.planner.rows) == list(built)
        assert captions == utterance.caption == " ".join(target)
        probes += translator.counters.probes
    assert probes > CASES  # wait-k did look ahead and take back
