import random

import pytest

from engine.metrics.word_errors import word_error_rate


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
