import random

import pytest

from app.cli.scoring import ScoredLine, score_lines, unit_delays, word_error_rate
from app.system.text_io import TextError


def line(hypothesis, reference, delays, n_words):
    return ScoredLine(
        n_words=n_words, hypothesis=hypothesis, reference=reference, delays=delays, seconds=0.1
    )


def test_a_word_is_complete_when_its_last_character_came():
    text, delays = unit_delays([(1, "Gu"), (2, "ten Mor"), (4, "gen ")], "de")
    assert (text, delays) == ("Guten Morgen", (2, 4))


def test_a_language_without_blanks_is_counted_by_characters():
    assert unit_delays([(1, "早"), (2, "上好")], "zh") == ("早上好", (1, 2, 2))


def test_however_a_caption_is_cut_into_pieces_its_units_and_text_are_the_same():
    rng = random.Random(0)
    for _ in range(200):
        whole = "".join(rng.choice("ab ") for _ in range(rng.randrange(20)))
        pieces, at = [], 0
        while at < len(whole):
            end = rng.randint(at, len(whole))
            pieces.append((end, whole[at:end]))
            at = end
        text, delays = unit_delays(pieces, "de")
        assert text == " ".join(whole.split())
        assert len(delays) == len(whole.split())
        assert list(delays) == sorted(delays)


def test_a_perfect_translation_that_waits_for_all_has_bleu_100_and_lags_by_the_line():
    words = "eins zwei drei vier fünf"
    found = score_lines([line(words, words, (5,) * 5, 5)], "de")
    assert (round(found.bleu), found.laal, found.al) == (100, 5, 5)
    assert found.ms_per_word == pytest.approx(20)
    assert "nrefs:1" in found.signature


def test_lines_without_a_caption_are_counted_and_left_out_of_the_lagging():
    found = score_lines([line("a", "a", (1,), 1), line("", "b", (), 3)], "de")
    assert (found.n_lines, found.n_empty, found.laal) == (2, 1, 1)


def test_nothing_cannot_be_scored():
    with pytest.raises(TextError, match="nothing to score"):
        score_lines([], "de")


@pytest.mark.parametrize(
    ("heard", "said", "rate"),
    [
        ("The cat sat.", "the cat sat", 0),
        ("the cat", "the cat sat down", 0.5),
        ("the big cat sat", "the cat sat", 1 / 3),
        ("", "one two", 1),
        ("don’t go", "don't go", 0),
    ],
)
def test_wrong_words_are_counted_for_each_that_was_said(heard, said, rate):
    assert word_error_rate(heard, said) == pytest.approx(rate)


def test_the_error_rate_is_symmetric_in_its_errors_and_never_below_the_difference_in_length():
    rng = random.Random(0)
    for _ in range(200):
        one = [rng.choice("abc") for _ in range(rng.randrange(1, 8))]
        other = [rng.choice("abc") for _ in range(rng.randrange(1, 8))]
        errors = word_error_rate(" ".join(one), " ".join(other)) * len(other)
        back = word_error_rate(" ".join(other), " ".join(one)) * len(one)
        assert errors == pytest.approx(back)
        assert abs(len(one) - len(other)) - 1e-9 <= errors <= max(len(one), len(other)) + 1e-9
    with pytest.raises(ValueError, match="reference"):
        word_error_rate("word", "?!")
