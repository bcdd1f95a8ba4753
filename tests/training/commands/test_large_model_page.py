"""The commands of docs/large_model_adapter.md are those that the program has."""

import argparse
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.cli import adapters, translate
from training import __main__ as commands
from training.commands import train
from training.commands.recipe import settings_of
from training.settings import TrainSettings

ROOT = Path(__file__).parents[3]
PAGE = (ROOT / "docs/large_model_adapter.md").read_text("utf-8")
RECIPES = re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|", PAGE, re.MULTILINE)
RECORDER = """#!{python}
import json, os, sys
with open(os.environ["RECORD"], "a") as record:
    record.write(json.dumps(sys.argv[1:]) + "\\n")
if "--out" in sys.argv and sys.argv[1] != "finetune":
    open(sys.argv[sys.argv.index("--out") + 1], "w").close()
"""


def block(number):
    return re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL)[number]


def typed(folder, text):
    """Type the commands into a shell in which each program writes down how it was called."""
    programs, record = folder / ".venv/bin", folder / "record"
    programs.mkdir(parents=True)
    (folder / "training").symlink_to(ROOT / "training")
    for name in ("surtitle-train", "surtitle"):
        (programs / name).write_text(RECORDER.format(python=sys.executable))
        (programs / name).chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "RECORD": str(record)}
    subprocess.run(["bash", "-euc", text], cwd=folder, env=environment, check=True, timeout=300)
    return [json.loads(line) for line in record.read_text().splitlines()]


def parser_of(*modules):
    parser = argparse.ArgumentParser()
    subparsers = parser.add_subparsers(dest="command", required=True)
    for module in modules:
        module.add_parser(subparsers)
    return parser


def test_the_page_names_three_families():
    assert [name.partition("/")[0] for name, _ in RECIPES] == ["Qwen", "meta-llama", "google"]


@pytest.mark.parametrize(("base", "recipe"), RECIPES)
def test_the_commands_make_a_run_in_4_bits_on_own_data(tmp_path, monkeypatch, base, recipe):
    usual, text = RECIPES[0], block(0)
    for old, new in zip(usual, (base, recipe), strict=True):
        text = text.replace(f"={old}", f"={new}")
    calls = typed(tmp_path, text)
    assert [call[0] for call in calls] == ["prepare", "align", "finetune"]
    parser = parser_of(*commands._COMMANDS)
    *_, arguments = [parser.parse_args(call) for call in calls]
    monkeypatch.chdir(tmp_path)
    settings = settings_of("surtitle-train", arguments, train.ADAPTERS, TrainSettings)
    assert settings.base == base
    assert (settings.quantise, settings.device) == ("nf4", "cuda")
    assert settings.prompt.end_of_source
    assert {*settings.data} == {"de"}


def test_the_commands_at_home_are_understood(tmp_path):
    calls = typed(tmp_path, block(1))
    parser = parser_of(adapters, translate)
    assert [parser.parse_args(call).command for call in calls] == [
        "adapters", "adapters", "translate",
    ]  # fmt: skip
