"""What people and their scripts start: these options, and processes of their own."""

import sys
from pathlib import Path

import pytest

from tests.support.programs.run import ran
from tests.support.run_folders import evaluate_arguments, summary_of, write_test_set
from tests.support.training_runs import options_of
from training.research.__main__ import commands


def test_options_are_those_of_the_list():
    listed = Path(__file__).with_name("options.txt").read_text(encoding="utf-8").splitlines()
    assert options_of(commands()) == listed


@pytest.mark.slow
def test_the_processes_that_translate_know_what_research_adds(tmp_path, tiny):
    files, policy = write_test_set(tmp_path), "adaptive:0.5"
    given = evaluate_arguments(
        files, tiny, tmp_path / "out", "--limit", "1", "--layout", "gpe", policies=policy
    )
    done = ran(sys.executable, "-m", "training.research", *given)
    assert done.returncode == 0, done.stderr
    assert [one["policy"] for one in summary_of(tmp_path / "out")] == [policy]
