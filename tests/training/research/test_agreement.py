import random
from itertools import pairwise

import pytest

from engine.settings import LayoutSettings, TranslationSettings
from engine.translation.feed import changes
from engine.translation.slot_translator import Translator
from tests.support.fakes import HashingModel, random_word, tiny_weights
from training.research import methods
from training.research.methods import AgreementTranslator, agreed_words

END = 9
BEGUN = [0, 1, 1, 1, 1, 0, 0, 0, 0, 0]  # 1 to 4 begin a word, 5 to 8 go on


@pytest.mark.parametrize(
    ("hypotheses", "agreed"),
    [
        ([[1, 2, 3], [1, 2, 4], [1, 2, END], [2], [3]], [1, 2]),  # three of five
        ([[1, 2], [1, 2], [1, 3], [2], [3]], [1]),  # after 1 only two of five go on alike
        ([[1, 2, 3], [1, 2, 4], [1, 3, 4], [2], [3]], [1]),  # likewise, with 2 and 3 whole
        ([[1, 5, 2], [1, 5, 2], [1, 6, 2], [1, 7], [1, 8]], []),  # the first word is not whole
        ([[1, 2, 5], [1, 2, 6], [1, 2, 7], [1, 2, 8], [2]], [1]),  # nor is the second here
        ([[1, END], [1, END], [1, END], [1, 2], [1, 5]], [1, END]),
        ([[END], [END], [END], [1], [2]], [END]),
        ([[1, 2], [1, 2], [1, 2], [1, 2], [1, 2]], [1]),  # nobody knows whether 2 goes on
    ],
)
def test_a_write_is_the_whole_words_that_half_of_all_hypotheses_begin_with(hypotheses, agreed):
    assert agreed_words(hypotheses, 0.5, BEGUN, END) == agreed


def make(kind, policy, layout, *, exact=False):
    """A translator by the tiny network, or by a fast model that has one token to propose."""
    settings = TranslationSettings(policy=policy, layout=layout, constrained=False, cut_loops=False)
    translator = kind(tiny_weights(), settings, capacity=1024)
    if exact:
        translator.model = HashingModel()
    return translator


def translate(translator, words):
    """Translate the words one by one; return the utterance and the captions after each."""
    utterance, captions = translator.open(), []
    for n_words in range(1, len(words) + 1):
        utterance.set_source(words[:n_words], ended=n_words == len(words))
        for _ in changes(utterance):
            pass
        captions.append(utterance.caption)
    return utterance, captions


def cases(n_cases):
    for seed in range(n_cases):
        rng = random.Random(seed)
        layout = ("slots", "recomputed", "gpe", "conversational")[seed % 4]
        words = [random_word(rng) for _ in range(rng.randint(2, 5))]
        yield f"read:{rng.randint(1, 3)}", LayoutSettings(slot_length=6, name=layout), words


def test_a_beam_of_one_is_greedy(monkeypatch):
    monkeypatch.setattr(methods, "BEAM", 1)
    monkeypatch.setattr(methods, "SHARE", 1.0)
    n_words = 0
    for policy, layout, words in cases(8):
        greedy, expected = translate(make(Translator, policy, layout, exact=True), words)
        utterance, captions = translate(
            make(AgreementTranslator, policy, layout, exact=True), words
        )
        assert captions == expected
        assert list(utterance.planner.rows) == list(greedy.planner.rows)
        n_words += len(utterance.caption.split())
    assert n_words > 8


def test_after_each_write_the_cache_holds_just_the_rows_that_were_written():
    for policy, layout, words in cases(1):
        translator = make(AgreementTranslator, policy, layout)
        utterance, captions = translate(translator, words)
        assert utterance.finished
        assert translator.model.n_rows == utterance.planner.n_fed
        assert all(after.startswith(before) for before, after in pairwise(captions))


def test_a_corrected_word_gives_what_a_fresh_run_gives():
    for policy, layout, words in cases(4):
        translator = make(AgreementTranslator, policy, layout, exact=True)
        utterance, _ = translate(translator, [*words[:-1], "hello"])
        utterance.set_source(words, ended=True)
        for _ in changes(utterance):
            pass
        fresh, _ = translate(make(AgreementTranslator, policy, layout, exact=True), words)
        assert utterance.caption == fresh.caption


def test_policies_that_do_not_end_writes_are_decoded_as_ever():
    _, layout, words = next(cases(1))
    expected = translate(make(Translator, "wait:2", layout, exact=True), words)[1]
    assert translate(make(AgreementTranslator, "wait:2", layout, exact=True), words)[1] == expected
