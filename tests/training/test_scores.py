"""Test scores of translations: against sacreBLEU's own function, and on lagging done by hand."""

import dataclasses

import pytest
import sacrebleu

from training.scores import (
    Translation,
    is_spaced,
    measure_quality,
    n_reference_units,
    percentile,
    score,
)

REFERENCES = ["Guten Morgen, wie geht es Ihnen?", "Das Haus ist alt.", "Ja."]
HYPOTHESES = ["Guten Morgen, wie geht es dir?", "Das Haus ist sehr alt.", ""]


def translation(hypothesis, delays, **changes):
    made = Translation(
        index=0,
        source=("one", "two", "three", "four", "five", "six"),
        hypothesis=hypothesis,
        delays=tuple(delays),
        ms=(1.0, 2.0, 3.0),
        tokens_fed=10,
        tokens_recomputed=0,
        forwards=4,
        probes=1,
    )
    return dataclasses.replace(made, **changes)


def test_quality_is_what_sacrebleu_says_with_its_signature():
    quality = measure_quality(HYPOTHESES, REFERENCES, "de")
    assert quality.bleu == pytest.approx(sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score)
    assert quality.chrf == pytest.approx(sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score)
    assert quality.bleu_signature.startswith(
        "nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:"
    )
    assert "nc:6|nw:0" in quality.chrf_signature


def test_chinese_is_tokenized_as_chinese():
    quality = measure_quality(["早上好。"], ["早上好。"], "zh")
    assert "|tok:zh|" in quality.bleu_signature
    assert quality.bleu == pytest.approx(100)


def test_laggings_are_averaged_over_the_sentences_that_have_output():
    translations = [
        translation("a b c d e f", [3, 4, 5, 6, 6, 6]),  # AL 3, LAAL 3
        translation("", []),
        translation("a b c d e f g h i", [3, 4, 5, 6, 6, 6, 6, 6, 6]),  # AL 3, LAAL 3.5
    ]
    scores = score("wait:3", translations, ["r r r r r r"] * 3, "de")
    assert (scores.al, scores.laal) == pytest.approx((3, 3.25), abs=1e-6)
    assert (scores.n_sentences, scores.n_empty) == (3, 1)


def test_costs_are_summed_and_times_taken_over_words():
    translations = [translation("a", [6]), translation("a", [6], ms=(100.0,))]
    scores = score("offline", translations, ["a", "a"], "de")
    assert (scores.tokens_fed, scores.forwards, scores.probes) == (20, 8, 2)
    assert scores.ms_per_word_p50 == 2.5


def test_where_nothing_was_written_there_is_no_lagging():
    scores = score("read:3", [translation("", [])], ["a"], "de")
    assert (scores.al, scores.laal, scores.n_empty, scores.bleu) == (None, None, 1, 0)


@pytest.mark.parametrize(
    ("reference", "language", "n_units"),
    [
        ("eins zwei", "de", 2),
        ("eins  zwei", "de", 3),
        ("", "de", 1),
        (" 早上 ", "zh", 2),
        ("", "zh", 1),
    ],
)
def test_a_reference_is_as_long_as_simuleval_takes_it(reference, language, n_units):
    assert n_reference_units(reference, language) == n_units


def test_an_unknown_language_is_taken_to_have_blanks():
    assert is_spaced("xx")
    assert not is_spaced("ja")


def test_percentiles_lie_between_the_nearest_ranks():
    assert percentile([1.0, 2.0], 50) == 1.5
    assert percentile([], 50) == 0
