"""Emoji and words of other scripts stand in the caption as they stand in the source."""

import random

import pytest

from engine.settings import TranslationSettings
from engine.translation.feed import changes
from engine.translation.retranslator import Retranslator
from tests.support.commands import bare
from tests.support.fakes import hashing_translator, tiny_weights

POLICIES = ["read:1", "read:3", "wait:2", "offline"]


def feed(translator, *sources, ended=True):
    """Feed texts one after another as one utterance; return its caption."""
    utterance = translator.open()
    shown = ""
    for n, source in enumerate(sources):
        utterance.set_source(bare(source.split(), ended=ended and n == len(sources) - 1))
        shown = utterance.caption
        for change in changes(utterance):
            shown = shown[: change.kept] + change.text
        assert shown == utterance.caption
    return utterance


def growing(text):
    words = text.split()
    return [" ".join(words[:n]) for n in range(1, len(words) + 1)]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "text", ["one two 😀", "😀 one two", "one 東京 two three four", "one 😀 👍🏽"]
)
def test_they_are_in_the_caption_once_and_in_their_order(policy, text):
    caption = feed(hashing_translator(policy), *growing(text)).caption
    foreign = [word for word in text.split() if not word.isascii()]
    assert [word for word in caption.split() if word in foreign] == foreign


@pytest.mark.parametrize("policy", POLICIES)
def test_the_model_does_not_see_them(policy):
    with_, without = hashing_translator(policy), hashing_translator(policy)
    caption = feed(with_, *growing("so 😀 we then 東京 came")).caption
    plain = feed(without, *growing("so we then came")).caption
    assert [w for w in caption.split() if w not in ("😀", "東京")] == plain.split()
    assert with_.model.tokens_fed == without.model.tokens_fed


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("text", ["😀", "Привет, мир!"])
def test_a_sentence_of_nothing_else_is_its_own_caption_and_costs_nothing(policy, text):
    translator = hashing_translator(policy)
    utterance = feed(translator, *growing(text))
    assert utterance.caption == text
    assert utterance.finished
    assert translator.model.tokens_fed == 0


def test_it_may_become_another_sentence_afterwards():
    translator = hashing_translator("read:2")
    utterance = feed(translator, "😀")
    utterance.set_source(bare(["one", "two", "👍"], ended=True))
    list(changes(utterance))
    assert "😀" not in utterance.caption
    assert utterance.caption.endswith(" 👍")


@pytest.mark.parametrize("policy", POLICIES)
def test_edits_leave_what_a_fresh_start_would_give(policy):
    rng = random.Random(5)
    words = ["one", "two", "three", "😀", "東京", "four", "👍"]
    for _ in range(20):
        drafts = [" ".join(rng.choices(words, k=rng.randint(1, 7))) for _ in range(3)]
        edited = feed(hashing_translator(policy), *drafts)
        foreign = [word for word in drafts[-1].split() if not word.isascii()]
        assert edited.finished
        assert [word for word in edited.caption.split() if not word.isascii()] == foreign
    once = feed(hashing_translator("offline"), drafts[-1]).caption
    assert feed(hashing_translator("offline"), *drafts).caption == once


def test_retranslation_puts_them_at_the_end():
    system = Retranslator(tiny_weights(), TranslationSettings(policy="read:3"))
    utterance = feed(system, *growing("one 😀 two"))
    assert utterance.caption.endswith("😀")
    assert feed(system, "😀").caption == "😀"
