"""Test the command that trains a model from nothing: its options and its recipes."""

import json

import pytest

from tests.support.training_runs import SMALL
from training.__main__ import main


def refusal(capsys, *arguments):
    """The one sentence of a wrong usage."""
    try:
        assert main(["pretrain", *arguments]) == 2
    except SystemExit as stop:  # argparse's own way
        assert stop.code == 2  # noqa: PT017
    message = capsys.readouterr().err.strip()
    assert message
    assert "Traceback" not in message
    return message


def test_a_recipe_holds_data_weights_size_and_schedule(words, tmp_path):
    recipe, by_recipe = tmp_path / "mine.toml", tmp_path / "by_recipe"
    recipe.write_text(
        'base = "new"\nname = "small"\nslot_lengths = [8]\ndevice = "cpu"\nprecision = "fp32"\n'
        f"[data]\nde = {json.dumps(str(words))}\n[weights]\nodd = 0.5\n"
        "[shape]\nvocabulary = 320\nhidden = 64\nlayers = 1\nheads = 2\nfeed_forward = 64\n"
        "[mixture]\nwaits = 0.0\n"
        '[optimisation]\noptimizer = "adamw"\nfall = "linear"\nbatch_tokens = 400\nepochs = 1\n',
        "utf-8",
    )
    arguments = ["pretrain", "--recipe", str(recipe), "--out", str(by_recipe)]
    assert main([*arguments, "--stop-after", "1"]) == 0
    assert main(arguments) == 0
    card = json.loads((by_recipe / "surtitle.json").read_text("utf-8"))
    assert (card["name"], card["slot_length"]) == ("small", 8)
    assert not any(policy.startswith("wait") for policy in card["policies"])
    steps = (by_recipe / "steps.jsonl").read_text("utf-8").splitlines()
    rates = [json.loads(line)["rate"] for line in steps]
    assert rates[-1] < max(rates)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        (["--hidden", "128"], "shape"),
        (["--seed", "7"], "step"),
        (["--slot", "8"], "slot length"),
        (["--weight", "odd=2"], "weighting"),
    ],
    ids=str,
)
def test_a_run_cannot_be_resumed_with_other_settings(words, trained, capsys, changed, name):
    arguments = ["--data", f"de={words}", "--out", str(trained), *SMALL, *changed]
    assert f"was made with another {name}:" in refusal(capsys, *arguments)
