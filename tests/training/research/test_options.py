"""Scripts of people name these options."""

from pathlib import Path

from tests.support.training_runs import options_of
from training.research.__main__ import commands


def test_options_are_those_of_the_list():
    listed = Path(__file__).with_name("options.txt").read_text(encoding="utf-8").splitlines()
    assert options_of(commands()) == listed
