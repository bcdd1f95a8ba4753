"""Test scores of translations: against sacreBLEU's own function, and on lagging done by hand."""

import dataclasses

import pytest
import sacrebleu

from engine.metrics.event_log import Translation, n_reference_units
from engine.metrics.quality import measure_quality
from training.evaluation.scores import percentile, score

REFERENCES = ["Guten Morgen, wie geht es Ihnen?", "Das Haus ist alt.", "Ja."]
HYPOTHESES = ["Guten Morgen, wie geht es dir?", "Das Haus ist sehr alt.", ""]


def translation(hypothesis, delays, **changes):
    made = Translation(
        index=0,
        source=("one", "two", "three", "four", "five", "six"),
        hypothesis=hypothesis,
        delays=tuple(delays),
        emitted_ms=(0.5,) * len(delays),
        ms=(1.0, 2.0, 3.0, 1.0, 2.0, 3.0),
        token_ms=(0.5, 1.5),
        tokens_fed=10,
        tokens_recomputed=3,
        forwards=4,
        probes=1,
        flops=2_000_000_000,
        n_erased=0,
        n_cut=0,
        peak_memory_bytes=2**20,
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


def test_laggings_are_averaged_over_the_sentences_that_have_output():
    translations = [
        translation("a b c d e f", [3, 4, 5, 6, 6, 6]),  # AL 3, LAAL 3
        translation("", []),
        translation("a b c d e f g h i", [3, 4, 5, 6, 6, 6, 6, 6, 6]),  # AL 3, LAAL 3.5
    ]
    scores = score("wait:3", "slots", translations, ["r r r r r r"] * 3, "de")
    found = scores.laggings
    assert (found.al, found.laal) == pytest.approx((3, 3.25), abs=1e-6)
    assert found.dal == pytest.approx((3 + 3.777778) / 2, abs=1e-6)
    assert found.ap == pytest.approx((0.833333 + 1.333333) / 2, abs=1e-6)
    assert found.atd == pytest.approx((3 + 3.666667) / 2, abs=1e-6)
    assert (found.start_offset, found.end_offset) == (3, 0)
    assert (scores.n_sentences, scores.n_empty) == (3, 1)


def test_costs_are_summed_and_times_taken_over_words():
    translations = [
        translation("a", [6]),
        translation("a", [6], ms=(100.0,) * 6, flops=0, peak_memory_bytes=3 * 2**20),
    ]
    scores = score("offline", "slots", translations, ["a", "a"], "de")
    cost = scores.cost
    assert (cost.tokens_fed, cost.tokens_recomputed) == (20, 6)
    assert (cost.forwards, cost.probes) == (8, 2)
    assert (cost.ms_per_word_p50, cost.ms_per_word_mean) == (51.5, 51)
    assert cost.ms_per_token_p50 == 1
    assert (cost.gflops_per_sentence, cost.peak_memory_mib) == (1, 3)


def test_loops_and_what_was_taken_away_are_counted():
    translations = [
        translation("ja " * 30, [6] * 30),
        translation("a b", [1, 6], n_erased=1),
        translation("", []),
    ]
    scores = score("read:3", "slots", translations, ["a b"] * 3, "de")
    assert (scores.n_degenerate, scores.n_empty, scores.n_sentences) == (1, 1, 3)
    assert scores.normalised_erasure == 1 / 32


def test_computing_is_added_to_what_a_person_sees():
    slow = translation("a b", [3, 6], ms=(400.0,) * 6, emitted_ms=(200.0, 200.0))
    found = score("read:3", "slots", [slow], ["a b"], "de").laggings
    assert found.laal == 3
    assert found.laal_ca == 3.5  # nothing waits: 400 ms is just what a word takes
    assert found.laal_ca_simuleval > 6


def test_every_score_stands_in_the_row_under_its_name():
    row = score("read:3", "slots", [translation("a", [6])], ["a"], "de").row()
    assert (row["policy"], row["system"], row["laal"], row["n_sentences"]) == (
        "read:3",
        "slots",
        6,
        1,
    )
    empty = score("read:3", "slots", [translation("", [])], ["a"], "de").row()
    assert list(empty) == list(row)
    assert empty["laal_ca"] is None


def test_where_nothing_was_written_there_is_no_lagging():
    scores = score("read:3", "slots", [translation("", [])], ["a"], "de")
    assert (scores.laggings, scores.n_empty, scores.quality.bleu) == (None, 1, 0)


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


def test_percentiles_lie_between_the_nearest_ranks():
    assert percentile([1.0, 2.0], 50) == 1.5
    assert percentile([], 50) == 0
