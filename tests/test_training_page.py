"""The commands that docs/training.md shows do what it says, in the order in which they stand."""

import itertools
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from engine.models.adapters.adapter import inspect_adapter

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "training.md"

THINGS = {
    "the house": "das Haus", "the car": "das Auto", "the book": "das Buch", "the bread": "das Brot",
    "the child": "das Kind", "the picture": "das Bild", "the money": "das Geld",
    "the boat": "das Boot",
}  # fmt: skip
CLAUSES = {
    "we see {} today": "wir sehen {} heute",
    "they bring {} tomorrow": "sie bringen {} morgen",
    "you sell {} again": "ihr verkauft {} wieder",
    "I can see {} from here": "ich kann {} von hier sehen",
    "we want to buy {} now": "wir wollen {} jetzt kaufen",
}


def commands(heading):
    """The lines of the first block of code under a heading, comments left out."""
    section = PAGE.read_text(encoding="utf-8").partition(f"## {heading}\n")[2]
    block = re.search(r"```\n(.*?)```", section, re.DOTALL)[1].replace("\\\n", " ")
    return [shlex.split(line, comments=True) for line in block.splitlines()]


@pytest.fixture
def folder(tmp_path):
    """What a person has: two text files, and two to measure with."""
    pairs = [
        (clause.format(thing), german.format(name))
        for (clause, german), (thing, name) in itertools.product(CLAUSES.items(), THINGS.items())
    ]
    for stem, lines in (("mine", pairs[:-4]), ("dev", pairs[-4:])):
        for column, language in enumerate(("en", "de")):
            text = "".join(f"{pair[column]}.\n" for pair in lines)
            (tmp_path / f"{stem}.{language}").write_text(text, encoding="utf-8")
    return tmp_path


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_text_files_become_an_adapter_that_translates(folder):
    pytest.importorskip("peft")
    pytest.importorskip("eflomal")
    run = {"surtitle": "app", "surtitle-train": "training"}
    for program, *arguments in commands("Train an adapter"):
        if program not in run:
            continue  # setting up; make test has done that
        done = subprocess.run(
            [sys.executable, "-m", run[program], *arguments],
            cwd=folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_DATA_HOME": str(folder)},
            input="We see the house today.\n",
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        assert done.returncode == 0, (program, arguments, done.stderr)
    assert done.stdout.strip()
    assert inspect_adapter(folder / "runs" / "mine" / "adapter").reason is None
    assert (folder / "results" / "mine" / "summary.json").exists()
