import random
import sys
import types
from pathlib import Path
from subprocess import CalledProcessError

import pytest

from training.data.alignment import (
    agreement,
    align,
    aligner_form,
    symmetrise,
)
from training.data.corpus import SentencePair
from training.errors import TrainingError


def drawn(picture, marks):
    """Links from a drawing: a line per source word, a column per target word."""
    lines = [line.split() for line in picture.strip().splitlines()]
    return {
        (source, target)
        for source, line in enumerate(lines)
        for target, mark in enumerate(line)
        if mark in marks
    }


def random_links(rng, n_source=8, n_target=8):
    return {(rng.randrange(n_source), rng.randrange(n_target)) for _ in range(rng.randrange(12))}


def test_grow_diag_final_and_joins_the_directions_of_a_hand_worked_example():
    """b: both, f: forward only, r: reverse only; the second drawing has what is kept.

    (2,1) and (1,2) grow from (1,1), then both words of (2,2) are taken. (4,0) is nobody's
    neighbour and its target is taken. Both words of (5,5) are free at the end.
    """
    picture = """
        b . . . . .
        . b r . . .
        . f r . . .
        . . . b . .
        f . . . . .
        . . . . . r
    """
    forward, reverse = drawn(picture, "bf"), drawn(picture, "br")
    assert symmetrise(forward, reverse) == drawn(
        """
        x . . . . .
        . x x . . .
        . x . . . .
        . . . x . .
        . . . . . .
        . . . . . x
        """,
        "x",
    )


def test_joined_links_lie_between_what_both_say_and_what_either_says():
    rng = random.Random(0)
    for _ in range(300):
        forward, reverse = random_links(rng), random_links(rng)
        before = set(forward), set(reverse)
        joined = symmetrise(forward, reverse)
        assert forward & reverse <= joined <= forward | reverse
        assert (forward, reverse) == before
        assert symmetrise(forward, forward) == forward


def test_agreement_is_links_in_both_over_links_in_either():
    assert agreement({(0, 0)}, {(0, 0)}) == 1
    assert agreement({(0, 0)}, {(1, 1)}) == 0
    assert agreement({(0, 0), (1, 1)}, {(1, 1), (2, 2)}) == 1 / 3
    assert agreement(set(), set()) == 0


# --- the aligner ----------------------------------------------------------------------------------


def test_the_aligner_reads_as_many_words_as_the_policies_count():
    rng = random.Random(0)
    for _ in range(200):
        text = " ".join(
            "".join(rng.choice('aB.,!?"„“()-é漢') for _ in range(rng.randint(1, 9)))
            for _ in range(5)
        )
        assert len(aligner_form(text).split()) == len(text.split()) == 5


def test_without_an_aligner_one_sentence_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "eflomal", None)
    with pytest.raises(TrainingError, match=r"pip install 'surtitle\[align\]'"):
        list(align([SentencePair("a", "b", "c")]))


class FakeAligner:
    """In the place of eflomal's: writes what it is told, or fails."""

    def __init__(self, forward, reverse):
        self.lines = forward, reverse

    def __call__(self):
        return self

    def align(self, _sources, _targets, *, links_filename_fwd, links_filename_rev):
        for path, lines in zip((links_filename_fwd, links_filename_rev), self.lines, strict=True):
            if isinstance(lines, Exception):
                raise lines
            if lines is not None:
                Path(path).write_text(lines)


def use(monkeypatch, forward, reverse):
    fake = types.ModuleType("eflomal")
    fake.Aligner = FakeAligner(forward, reverse)
    monkeypatch.setitem(sys.modules, "eflomal", fake)


TWO = [SentencePair("a b", "x y", "c"), SentencePair("d", "z", "c")]


def test_both_directions_of_the_aligner_are_read(monkeypatch):
    use(monkeypatch, "0-0 1-1\n\n", "0-0\n0-0\n")
    assert list(align(TWO)) == [({(0, 0), (1, 1)}, {(0, 0)}), (set(), {(0, 0)})]


@pytest.mark.parametrize(
    ("forward", "reverse"),
    [
        ("0-0\n", "0-0\n0-0\n"),
        ("0-0\n0-0\n", "0-0\n"),
        ("0-0\n0-0\n", None),
        ("0-0\n0-0\n", CalledProcessError(1, ["eflomal"])),
        (OSError("disk full"), None),
    ],
    ids=["too few forward", "too few reverse", "no file", "died", "disk full"],
)
def test_an_aligner_that_fails_is_told_in_one_sentence(monkeypatch, forward, reverse):
    use(monkeypatch, forward, reverse)
    with pytest.raises(TrainingError, match="use --ratio") as caught:
        list(align(TWO))
    assert "\n" not in str(caught.value)


def test_pairs_that_the_aligner_cannot_take_have_no_links():
    pytest.importorskip("eflomal")
    plain = [SentencePair("a b c", "x y z", "test")] * 20
    for source, target in (("", "x"), ("a", ""), ("a " * 1024, "x"), ("a", "x " * 1024)):
        links = list(align([*plain, SentencePair(source, target, "test"), *plain]))
        assert len(links) == 41
        assert links[20] == (set(), set())
