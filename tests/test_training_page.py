"""The commands that docs/training.md shows do what it says, in the order in which they stand."""

import itertools
import re
import shlex
import sys
from pathlib import Path

import pytest

from app.__main__ import main as surtitle
from engine.models.adapters.adapter import inspect_adapter
from training.__main__ import main as train

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
def test_two_text_files_become_an_adapter_that_translates(folder, monkeypatch, capsys):
    pytest.importorskip("peft")
    pytest.importorskip("eflomal")
    (folder / "input").write_text("We see the house today.\n")
    monkeypatch.chdir(folder)
    for name in ("DATA", "CACHE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(folder))
    run = {"surtitle": surtitle, "surtitle-train": train}
    for program, *arguments in commands("Train an adapter"):
        if program not in run:
            continue  # setting up; make test has done that
        capsys.readouterr()
        with (folder / "input").open() as typed:
            monkeypatch.setattr(sys, "stdin", typed)
            assert run[program](arguments) == 0, (program, arguments, capsys.readouterr().err)
    assert capsys.readouterr().out.strip()
    assert inspect_adapter(folder / "runs" / "mine" / "adapter").reason is None
    assert (folder / "results" / "mine" / "summary.json").exists()
