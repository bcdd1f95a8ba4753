"""Test that settings out of range are refused where they are made, in one sentence."""

from pathlib import Path

import pytest

from engine.settings import (
    LayoutSettings,
    ModelSettings,
    TranslationSettings,
    UtteranceLimits,
)

HERE = Path()


@pytest.mark.parametrize(
    ("make", "wrong"),
    [
        (lambda: LayoutSettings(slot_length=0), "the slot length must be at least 1, got 0"),
        (lambda: UtteranceLimits(soft_words=0), "soft_words must be at least 1, got 0"),
        (lambda: UtteranceLimits(max_words=31), "max_words must be at least 32, got 31"),
        (lambda: UtteranceLimits(max_bytes=7), "max_bytes must be at least 8, got 7"),
        (lambda: ModelSettings(directory=HERE, capacity=0), "the cache capacity must be at least"),
        (lambda: ModelSettings(directory=HERE, device="tpu"), "the device must be one of "),
        (lambda: ModelSettings(directory=HERE, quantise="4"), "quantisation must be one of "),
        (lambda: ModelSettings(directory=HERE, system="slot"), "the system must be one of "),
        (lambda: TranslationSettings(context_sentences=-1), "context_sentences must be at least 0"),
        (lambda: TranslationSettings(catch_up_words=0), "catch_up_words must be at least 1, got 0"),
    ],
)
def test_settings_out_of_range_are_refused_with_what_was_expected(make, wrong):
    with pytest.raises(ValueError, match="^" + wrong):
        make()


def test_settings_at_the_edge_of_their_range_are_taken():
    LayoutSettings(slot_length=1)
    UtteranceLimits(soft_words=1, max_words=1, max_bytes=8)
    ModelSettings(directory=HERE, capacity=1)
    assert TranslationSettings(context_sentences=0, catch_up_words=None).catch_up_words is None
    assert TranslationSettings(catch_up_words=1).catch_up_words == 1


def test_rules_made_for_english_are_for_an_english_source_alone():
    assert TranslationSettings(source_language="en").reads_english
    assert not TranslationSettings(source_language="de").reads_english
