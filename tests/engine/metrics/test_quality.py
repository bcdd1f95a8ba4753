"""sacreBLEU on lines that are too short for its usual settings."""

from engine.metrics.quality import measure_quality

LONG = ["Der Bahnhof ist hinter der Kirche.", "Sie gingen gestern dorthin."]
SHORT = ["Guten Morgen.", "Danke!"]


def test_perfect_captions_have_100_however_short_the_lines_are():
    for lines in (LONG, SHORT, ["Ja"], LONG + SHORT):
        quality = measure_quality(lines, lines, "de")
        assert round(quality.bleu, 6) == round(quality.chrf, 6) == 100


def test_the_signature_says_so_where_runs_of_four_words_cannot_be_counted():
    assert "eff:yes" in measure_quality(SHORT, SHORT, "de").bleu_signature
    assert "eff:no" in measure_quality(LONG + SHORT, LONG + SHORT, "de").bleu_signature


def test_captions_that_are_too_short_have_none_where_the_references_are_not():
    quality = measure_quality(["Der Bahnhof"], LONG[:1], "de")
    assert quality.bleu == 0
    assert "eff:no" in quality.bleu_signature
