"""Test that talks are cut by likeness of words, and that nothing is lost by it."""

import random

import pytest

from training.research.talks import soft_resegment

WORDS = [
    "der",
    "Die",
    "das",
    "Öl",
    "öl",
    "ß",
    "x,",
    "y.",
    "-",
    "!",
    "(",
    "a",
    "ﬁn",
    "…",
    "🙂",
    "###",
]


@pytest.mark.parametrize("language", ["de", "zh"])
def test_the_parts_are_all_units_in_their_order(language):
    rng = random.Random(0)
    for _ in range(200):
        text = " ".join(rng.choices(WORDS, k=rng.randint(0, 20)))
        references = [" ".join(rng.choices(WORDS, k=rng.randint(0, 6))) for _ in range(4)]
        parts = soft_resegment(text, references, language)
        assert [part.start for part in parts] == [0, *(part.stop for part in parts[:-1])]
        assert "".join("".join(part.text.split()) for part in parts) == "".join(text.split())
