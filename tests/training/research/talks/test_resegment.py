"""Test that a talk's translation is cut to its reference, and that nothing is lost by it."""

import random

import pytest

from training.research.talks import resegment

mweralign = pytest.importorskip("mweralign")

WORDS = ["der", "Die", "das", "Öl", "öl", "ß", "x,", "y.", "-", "!", '"', "A", "a", "12", "__"]
ODD_WORDS = [*WORDS, "###", "#", "\ufeff", "🙂", "a\u00adb", "|||", "\x00", "\\n"]
CHARACTERS = "早上好我们一起去公园。，Amy a12Ö é"


def parts_of(translation, references, language="de"):
    return [part.text for part in resegment(translation, references, language)]


@pytest.mark.parametrize("language", ["de", "zh"])
def test_nothing_is_lost_and_the_order_stays(language):
    rng = random.Random(0)

    def text(n_most):
        if language == "zh":
            return "".join(rng.choice(CHARACTERS) for _ in range(rng.randint(0, n_most)))
        words = [rng.choice(ODD_WORDS) for _ in range(rng.randint(0, n_most))]
        return "".join(word + rng.choice([" ", "  ", "\u00a0", "\t", "\n"]) for word in words)

    for _ in range(1000):
        references = [text(6) for _ in range(rng.randint(1, 6))]
        translation = text(25)
        parts = resegment(translation, references, language)
        assert len(parts) == len(references)
        units = translation.split() if language == "de" else list("".join(translation.split()))
        ends = [0, *(part.stop for part in parts)]
        assert [part.start for part in parts] == ends[:-1]
        assert ends[-1] == len(units)
        for part in parts:
            assert part.text == part.text.strip()
            own = part.text.split() if language == "de" else list("".join(part.text.split()))
            assert own == units[part.start : part.stop]


def test_the_cuts_are_those_that_the_library_makes_of_the_words_themselves(capfd):
    rng = random.Random(1)
    for _ in range(500):
        n_known = rng.randint(2, len(WORDS))
        references = [
            " ".join(rng.choice(WORDS[:n_known]) for _ in range(rng.randint(1, 6)))
            for _ in range(rng.randint(1, 6))
        ]
        translation = " ".join(rng.choice(WORDS) for _ in range(rng.randint(1, 25)))
        lines = mweralign.align_texts("\n".join(references), translation).split("\n")
        assert parts_of(translation, references) == [line.strip() for line in lines]
    capfd.readouterr()
