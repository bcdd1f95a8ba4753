"""In languages without blanks a character is a word: in training pairs, live, and in the scores."""

import functools
import random
from dataclasses import replace

import pytest

from engine.metrics.event_log import unit_ends
from engine.policy import WaitK
from engine.settings import LayoutSettings, TranslationSettings
from engine.text.prompt import word_ids, words_begun
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.commands import bare
from tests.support.fakes import HashingModel, random_word, teach, tiny_weights
from tests.support.rows import build_rows
from tests.support.teacher import Teacher, word_tokens
from training.trainer.samples import TokenizedPair, by_characters
from training.trainer.tokenizer import make_card, train_tokenizer

CHARACTERS = "今天氣很好我們去看電影吧,。a1"
RARE = "貓鯨雲"  # never trained on: each is several tokens, of some of its bytes each


@functools.cache
def chinese_weights(vocabulary):
    """A small vocabulary cuts more characters into bytes, a large one joins more in a token."""
    rng = random.Random(0)
    lines = [random_sentence(rng, rare="") for _ in range(300)]
    tokenizer = train_tokenizer(lines, vocabulary=vocabulary, languages=["zh"])
    card = make_card(name="tiny", languages=["zh"], slot_length=16, policies=["wait:3"])
    return replace(tiny_weights(), tokenizer=tokenizer, card=card)


def random_sentence(rng, rare=RARE):
    parts = ["今天", "天氣", "很好", "我們", *CHARACTERS, *rare]
    return "".join(rng.choice(parts) for _ in range(rng.randint(1, 9)))


@pytest.mark.parametrize("vocabulary", [300, 384])
def test_tokens_begin_as_many_words_as_the_text_has_characters(vocabulary):
    tokenizer = chinese_weights(vocabulary).tokenizer
    begun = words_begun(tokenizer, "zh")
    n_pieces, n_joined = 0, 0
    for seed in range(200):
        text = random_sentence(random.Random(seed))
        counts = [begun[id_] for id_ in word_ids(tokenizer, text)]
        assert sum(counts) == len(unit_ends(text, spaced=False)) == len(text)
        n_pieces += counts.count(0)
        n_joined += sum(count > 1 for count in counts)
    assert n_pieces > 100
    assert n_joined > 100 or vocabulary == 300


def test_tokens_of_metaspaces_and_single_bytes_are_counted_too():
    class Tokens:
        tokens = ("▁", "▁今天", "好", "<0xE4>", "<0xBB>", "▁é", "¿")

        def __len__(self):
            return len(self.tokens)

        def convert_ids_to_tokens(self, ids):
            return [self.tokens[id_] for id_ in ids]

    assert words_begun(Tokens(), "zh") == [0, 2, 1, 1, 0, 1, 1]
    assert words_begun(Tokens(), "de") == [1, 1, 0, 0, 0, 1, 0]


@pytest.mark.parametrize("vocabulary", [300, 384])
def test_the_translators_rows_equal_the_builders_rows(vocabulary):
    weights = chinese_weights(vocabulary)
    begun = words_begun(weights.tokenizer, "zh")
    for seed in range(60):
        rng = random.Random(seed)
        policy, layout = WaitK(rng.randint(1, 5)), LayoutSettings(slot_length=rng.randint(3, 16))
        settings = TranslationSettings(
            target_language="zh", policy=str(policy), layout=layout, constrained=False
        )
        translator = Translator(weights, settings, capacity=64)
        translator.model = HashingModel()
        source = [f"b{random_word(rng)}" for _ in range(rng.randint(1, 9))]  # no "a", which waits
        target = random_sentence(rng)
        whole = tuple(word_tokens(weights.tokenizer, word) for word in [target])
        spoken = tuple(word_tokens(weights.tokenizer, word) for word in source)
        pair = by_characters(TokenizedPair(spoken, whole, (len(source),)), begun)
        assert len(pair.target) == len(target)
        utterance = translator.open()
        teach(translator.model, Teacher(translator, pair, utterance))
        for n_words in range(1, len(source) + 1):
            utterance.set_source(bare(source[:n_words], ended=n_words == len(source)))
            written = "".join(change.text for change in changes(utterance))
            if n_words < min(policy.k, len(source)):
                assert not written
            elif n_words < len(source):  # a token of several characters may be ahead of wait-k
                n_due = min(n_words - policy.k + 1, len(target))
                n_begun = sum(begun[id_] for id_ in utterance.state.chosen)
                assert n_due <= n_begun < n_due + max(begun)
        built = build_rows(pair, policy, utterance.prompt, layout, marker_alone=False)
        assert list(utterance.planner.rows) == list(built)
        assert utterance.caption == target
